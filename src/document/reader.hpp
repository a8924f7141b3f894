#pragma once

#include "include_path.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read_options.hpp>

namespace bench::document {

/// One file with its includes resolved.
struct Loaded {
  Node root;
  std::filesystem::path file;
  IncludePath path;  ///< Where this file looks for others.
};

/// Reads an input file and the files that its sets come from, in either notation.
class Reader {
 public:
  Reader(const ReadOptions& options, Diagnostics& diagnostics);

  /// The input file; its tags are not applied yet, but those of its `selection` become active.
  Loaded input(const std::filesystem::path& file);
  Loaded input_text(const std::string& text, const std::filesystem::path& name, bool is_xml);
  /// Another file by its name in `from`, its tags applied. Valid as long as the reader is.
  const Loaded& other(const std::string& name, const Loaded& from, const Place& place);

  const std::set<std::string>& active_tags() const { return active_; }
  /// In the `tag` attributes of all files so far.
  const std::set<std::string>& tag_names() const { return tag_names_; }

 private:
  Node read(const std::string& text, const std::string& name, bool is_xml, IncludePath& path);
  Node read_yaml(const std::string& text, const std::string& name, IncludePath& path);
  Node read_xml(const std::string& text, const std::string& name, IncludePath& path);
  void take_head(const Node& head, const std::string& file, IncludePath& path);
  void take_selected_tags(const Node& root);

  const ReadOptions& options_;
  Diagnostics& diagnostics_;
  std::set<std::string> active_;
  std::set<std::string> tag_names_;
  std::map<std::filesystem::path, Loaded> others_;
  bool is_input_ = true;  ///< The tags that another file selects are its own affair.
};

}  // namespace bench::document
