#pragma once

#include "include_path.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/document/value.hpp>

namespace bench::document {

/// Puts what is included in place of each `!include FILE[:SELECT]`. SELECT is a chain of
/// `["key"]`, `['key']` and `[number]`. Only what is selected of a file is looked at further, so a
/// file may include a part of itself.
class YamlIncludes {
 public:
  /// @param path must outlive this object; later additions to it count
  explicit YamlIncludes(const IncludePath& path) : path_(path) {}

  /// The value with all its includes resolved; itself where it has none.
  /// @throws Error with the place: a file that is absent or no YAML, a key or item that it lacks,
  ///         an include that contains itself, more than the bounds on size and depth
  ValuePtr resolve(const ValuePtr& value);

 private:
  struct Request;

  ValuePtr resolve_include(const Value& include);
  ValuePtr rebuild(const Value& value);
  ValuePtr load(const std::filesystem::path& file);
  ValuePtr select(ValuePtr value, const Request& request);
  static Request parse(const Value& include);

  const IncludePath& path_;
  std::map<std::filesystem::path, ValuePtr> files_;
  std::unordered_map<const Value*, ValuePtr> resolved_;
  std::vector<ValuePtr> kept_;  ///< The keys of `resolved_` stay alive.
  std::vector<std::pair<std::filesystem::path, std::string>> open_;  ///< What is being included.
};

}  // namespace bench::document
