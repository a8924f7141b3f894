#pragma once

#include "reader.hpp"

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>

namespace bench::document {

/// Brings the sets of other files into an input file: what `init_with` and `use from` name.
class Sets {
 public:
  Sets(Reader& reader, Diagnostics& diagnostics) : reader_(reader), diagnostics_(diagnostics) {}

  /// @throws Error with the place: a file or set that does not exist, a set that is there twice or
  ///         is initialised with itself, `duplicate`s that differ
  void resolve(Loaded& input);

 private:
  /// A file that `from` names, with the sets that it lists.
  struct Source;
  /// A set of another file, and that file.
  struct Found {
    const Node* set;
    const Loaded* file;
  };

  void resolve_benchmark(Node& benchmark, const Loaded& input);
  void warn_of_result(const Node& result);
  void complete_all(Node& parent, const Loaded& input);
  Node complete(const Node& set, const Loaded& file);
  void resolve_uses(Node& benchmark, Node& user, const Loaded& input);
  void resolve_use(Node& benchmark, Node& use, const Loaded& input);
  std::vector<Source> sources(const Attribute& from, const Loaded& input);
  void bring(Node& benchmark, const Found& found, const std::string& private_name);

  Reader& reader_;
  Diagnostics& diagnostics_;
  /// File, kind and name of the sets that are being completed.
  std::vector<std::tuple<std::filesystem::path, std::string, std::string>> open_;
};

}  // namespace bench::document
