#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bench::document {

/// The text of a plain (unquoted) YAML scalar as JUBE sees it: YAML 1.1 types as PyYAML's full
/// loader resolves them, written as Python's `str` does. Nothing for a null.
///
/// Where PyYAML would crash (`2024-13-45`, `0b_`, `=`) the text stays as it is.
std::optional<std::string> plain_scalar(std::string_view text);

/// A quoted text with the characters that `\N` (U+0085) and `\_` (U+00A0) stand for: yaml-cpp 0.7
/// makes single bytes of them.
std::string with_whole_characters(const std::string& text);

}  // namespace bench::document
