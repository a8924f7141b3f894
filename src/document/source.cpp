#include "source.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>

namespace bench::document {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

/// Behind `&anchor` and `!tag`, where the scalar itself begins.
std::size_t skip_properties(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
    at = std::min(text.find_first_of(" \t\r\n", at), text.size());
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  }
  return at;
}

/// The offset of the quote that closes the one at `at`; npos if there is none.
std::size_t closing_quote(std::string_view text, std::size_t at) {
  if (text[at] == '"') {
    for (auto k = text.find_first_of("\"\\", at + 1); k != std::string_view::npos;
         k = text.find_first_of("\"\\", k + 2))
      if (text[k] == '"')
        return k;
    return std::string_view::npos;
  }
  auto k = text.find('\'', at + 1);
  while (k != std::string_view::npos && text.substr(k + 1, 1) == "'")  // '' is one quote
    k = text.find('\'', k + 2);
  return k;
}

}  // namespace

Source::Source(const std::string& text, const std::string& file)
    : text_(text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text),
      file_(std::make_shared<const std::string>(file)),
      lines_{0} {
  for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n', end + 1))
    lines_.push_back(end + 1);
  // yaml-cpp takes the byte 4 for the end of the file and NUL for UTF-16.
  const auto control = std::ranges::find_if(text_, is_control);
  if (control != text_.end())
    throw Error(
        Id::syntax, fmt::format("a control character (0x{:02x})", static_cast<unsigned>(*control)),
        "input files are UTF-8 text", place(static_cast<std::size_t>(control - text_.begin())));
  const std::string valid = to_valid_utf8(text_);
  if (valid != text_) {
    const auto differs = std::ranges::mismatch(text_, valid).in1 - text_.begin();
    throw Error(Id::syntax, "bytes that are not UTF-8", "input files are UTF-8 text",
                place(static_cast<std::size_t>(differs)));
  }
}

Place Source::place(std::size_t offset) const {
  const auto next = std::ranges::upper_bound(lines_, offset);
  const auto line = next - lines_.begin();
  const std::size_t begin = lines_[static_cast<std::size_t>(line - 1)];
  return Place{*file_, static_cast<int>(line), static_cast<int>(offset - begin) + 1};
}

void Source::check_indentation(std::size_t offset) const {
  auto begin = std::min(offset, text_.size());
  std::size_t tab = std::string::npos;
  for (; begin > 0 && (text_[begin - 1] == ' ' || text_[begin - 1] == '\t'); --begin)
    if (text_[begin - 1] == '\t')
      tab = begin - 1;
  if (tab != std::string::npos && (begin == 0 || text_[begin - 1] == '\n'))
    throw Error(Id::syntax, "a tab in the indentation", "YAML indents with blanks only",
                place(tab));
}

void Source::check_quote(std::size_t offset) const {
  const std::size_t begin = skip_properties(text_, offset);
  if (begin >= text_.size() || (text_[begin] != '"' && text_[begin] != '\''))
    return;  // a block scalar
  if (closing_quote(text_, begin) == std::string::npos)
    throw Error(Id::syntax, "the quote that opens here is never closed", "", place(begin));
}

void Source::check_quotes_from(std::size_t offset) const {
  constexpr std::string_view before = "{[,:";
  for (std::size_t at = offset; at < text_.size(); ++at) {
    if (text_[at] != '\'' && text_[at] != '"')
      continue;
    const auto front = text_.find_last_not_of(" \t\r\n", at - 1);
    if (at == 0 || front == std::string::npos ||
        before.find(text_[front]) == std::string_view::npos)
      continue;
    check_quote(at);
    const std::size_t close = closing_quote(text_, at);
    const auto behind = text_.find_first_not_of(" \t", close + 1);
    if (behind != std::string::npos &&
        std::string_view(",:}]#\r\n").find(text_[behind]) == std::string_view::npos)
      throw Error(Id::syntax, "text follows where the quote that opens here is closed",
                  text_[at] == '\'' ? "close it, or write '' for a quote inside of it"
                                    : R"(close it, or write \" for a quote inside of it)",
                  place(at));
    at = close;
  }
}

std::size_t Source::comment_behind(std::size_t offset, std::string_view scalar) const {
  const std::string_view text = text_;
  offset = skip_properties(text, offset);
  if (scalar.empty() || !text.substr(std::min(offset, text.size())).starts_with(scalar))
    return std::string::npos;
  const auto behind = text.find_first_not_of(" \t", offset + scalar.size());
  return behind != std::string_view::npos && behind > offset + scalar.size() && text[behind] == '#'
             ? behind
             : std::string::npos;
}

std::string Source::word(std::size_t offset) const {
  const auto end = text_.find_first_of(" \t\r\n,]}", offset);
  return text_.substr(offset, end - offset);
}

std::string Source::line_from(std::size_t offset) const {
  return std::string(
      strip(std::string_view(text_).substr(offset, text_.find('\n', offset) - offset)));
}

std::size_t Source::line_begin(int line) const {
  const auto index = static_cast<std::size_t>(line - 1);
  return index < lines_.size() ? lines_[index] : text_.size();
}

}  // namespace bench::document
