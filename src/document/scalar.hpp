#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace bench::document
