#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>

namespace bench::document {

/// The type that a plain scalar has by its own form.
enum class ScalarType { text, integer, real };

/// A plain (unquoted) YAML scalar as JUBE sees it.
struct PlainScalar {
  std::string text;  ///< What Python's `str` makes of the value.
  ScalarType type = ScalarType::text;
  /// YAML 1.1 makes of it what few expect: `on`, `010`, `12:30:00`, `1.10`.
  bool is_surprising = false;
};

/// Resolves a plain YAML scalar to its YAML 1.1 type, as PyYAML's full loader does. Nothing for a
/// null. Where PyYAML would crash (`2024-13-45`, `0b_`, `=`) the text stays as it is.
///
/// `1e-3` keeps its text, as in YAML 1.1, and counts as a real number.
std::optional<PlainScalar> plain_scalar(std::string_view text);

/// A quoted text with the characters that `\N` (U+0085) and `\_` (U+00A0) stand for: yaml-cpp 0.7
/// makes single bytes of them.
std::string with_whole_characters(const std::string& text);

/// A position in a file, from 1. Values of several files stand in one tree where one includes
/// another.
struct Mark {
  int line = 0;
  int column = 0;
  std::shared_ptr<const std::string> file = nullptr;

  Place place() const { return Place{file ? *file : "", line, column}; }
};

struct Value;
using ValuePtr = std::shared_ptr<const Value>;

/// One key of a mapping with its value.
struct Entry {
  std::string key;  ///< As written.
  Mark mark;
  ValuePtr value;
};

/// One YAML value: what the parser hands to the conversion. Aliases share the value they name, so
/// that a file stays small in memory however often it repeats itself.
struct Value {
  /// `include` is an `!include` that is not resolved yet; its text says what to include.
  enum class Kind { null, text, list, mapping, include };

  Kind kind = Kind::null;
  std::string text = {};  ///< Of a text, by the rules of `plain_scalar`.
  ScalarType type = ScalarType::text;
  std::string written = {};          ///< Of a plain scalar that YAML 1.1 makes a surprise of.
  std::string comment = {};          ///< That follows a plain scalar in its line, with the `#`.
  std::vector<ValuePtr> items = {};  ///< Of a list.
  std::vector<Entry> entries = {};   ///< Of a mapping, merge keys (`<<`) resolved; each key once.
  Mark mark = {};
  Mark comment_mark = {};
  /// This value and all below, aliases counted as often as they are used, and each 1024 bytes of
  /// text once more: a bound on the memory that the expanded document takes.
  std::size_t nodes = 1;
  int depth = 1;  ///< Levels, this one included.

  /// The value of `key`, or null.
  const Entry* entry(std::string_view key) const {
    for (const Entry& candidate : entries)
      if (candidate.key == key)
        return &candidate;
    return nullptr;
  }
  const Value* find(std::string_view key) const {
    const Entry* found = entry(key);
    return found ? found->value.get() : nullptr;
  }
};

inline std::size_t weight(std::string_view text) {
  return 1 + text.size() / 1024;
}

/// The most values a document may have once its aliases are expanded, and the deepest nesting.
constexpr std::size_t max_nodes = 1'000'000;
constexpr int max_depth = 500;
/// Of one file that people write.
constexpr std::uintmax_t max_file_bytes = 64 << 20;

/// Parses one YAML document strictly; `file` is named in the places of errors. Its `!include`s are
/// left as they are.
/// @throws Error with the place: see `read_file`
ValuePtr parse_yaml(const std::string& text, const std::string& file);

/// The element tree of a parsed YAML file whose includes are resolved.
/// @throws Error with the place for what the language or this version of bench does not have
/// @param is_own the file is known to be written for bench, whatever it uses
Node convert(const Value& root, Diagnostics& diagnostics, bool is_own = false);

}  // namespace bench::document
