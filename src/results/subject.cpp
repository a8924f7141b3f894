#include "subject.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>

namespace bench::results {
namespace {

constexpr bool beyond_ascii(char c) {
  return (c & 0x80) != 0;
}

/// `\r\n` and `\r` become `\n`, in place.
void unify_line_ends(std::string& text) {
  std::size_t to = text.find('\r');
  if (to == std::string::npos)
    return;
  for (std::size_t from = to; from < text.size(); ++from) {
    if (text[from] == '\r' && from + 1 < text.size() && text[from + 1] == '\n')
      continue;
    text[to++] = text[from] == '\r' ? '\n' : text[from];
  }
  text.resize(to);
}

}  // namespace

Subject to_subject(std::string text) {
  unify_line_ends(text);
  if (std::ranges::none_of(text, beyond_ascii))
    return {std::move(text), true, false};
  std::string valid = to_valid_utf8(text);
  const bool repaired = valid != text;
  return {std::move(valid), false, repaired};
}

std::optional<Subject> read_subject(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return std::nullopt;
  return to_subject(read_file(file));
}

}  // namespace bench::results
