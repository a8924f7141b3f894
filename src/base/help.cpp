// Needs no other file of this module: the step programs have it, too.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/help.hpp>

namespace bench {
namespace {

constexpr std::size_t line_columns = 80;
constexpr std::size_t text_column = 28;

/// Characters of UTF-8.
std::size_t length_of(std::string_view word) {
  return static_cast<std::size_t>(
      std::ranges::count_if(word, [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; }));
}

std::string text_of(const Help::Row& row) {
  std::string line = "  " + row.left;
  if (row.text.empty())
    return line + "\n";
  const std::size_t used = length_of(line);
  if (used + 2 > text_column)
    line += "\n" + std::string(text_column, ' ');
  else
    line.append(text_column - used, ' ');
  return line + wrapped(row.text, text_column, line_columns, text_column) + "\n";
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width,
                    std::size_t used) {
  std::string lines;
  bool at_start = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty())
      continue;
    const std::size_t length = length_of(word);
    if (!at_start && used + 1 + length > width) {
      lines += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!at_start) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += length;
    at_start = false;
  }
  return lines;
}

std::string text_of(const Help& help) {
  std::string text;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = help.description.find('\n', begin);
    text += wrapped(help.description.substr(begin, end - begin), 0, line_columns) + "\n";
  }
  text += fmt::format("\nUsage: {}\n", help.usage);
  for (const Help::Section& section : help.sections) {
    text += section.heading.empty() ? "\n" : "\n" + section.heading + ":\n";
    for (const Help::Row& row : section.rows)
      text += text_of(row);
    if (!section.lines.empty())
      text += section.lines + "\n";
  }
  return text;
}

}  // namespace bench
