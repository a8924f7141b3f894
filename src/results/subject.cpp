#include "subject.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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

/// The end of the run of ASCII bytes from `at`, eight at a time.
std::size_t ascii_end(const std::string& text, std::size_t at) {
  constexpr std::uint64_t high_bits = 0x8080808080808080;
  std::uint64_t eight = 0;
  for (; at + sizeof eight <= text.size(); at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if (eight & high_bits)
      break;
  }
  while (at < text.size() && !beyond_ascii(text[at]))
    ++at;
  return at;
}

std::size_t beyond_ascii_end(const std::string& text, std::size_t at) {
  while (at < text.size() && beyond_ascii(text[at]))
    ++at;
  return at;
}

}  // namespace

Subject to_subject(std::string text) {
  unify_line_ends(text);
  std::size_t end = ascii_end(text, 0);
  if (end == text.size())
    return {std::move(text), true, false};
  // Only the runs beyond ASCII need a look at their bytes; in most files they are few.
  std::string valid;
  bool repaired = false;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); end = ascii_end(text, at)) {
    valid.append(text, at, end - at);
    at = beyond_ascii_end(text, end);
    const std::string_view run = std::string_view(text).substr(end, at - end);
    const std::string repaired_run = to_valid_utf8(run);
    repaired = repaired || repaired_run != run;
    valid += repaired_run;
  }
  return {std::move(valid), false, repaired};
}

std::optional<Subject> read_subject(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return std::nullopt;
  return to_subject(read_file(file));
}

}  // namespace bench::results
