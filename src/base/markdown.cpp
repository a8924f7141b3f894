#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include <bench/base/markdown.hpp>

namespace bench {
namespace {

bool is_alphanumeric(std::string_view text, std::size_t k) {
  return k < text.size() && std::isalnum(static_cast<unsigned char>(text[k])) != 0;
}

/// CommonMark sees no emphasis where letters or digits are on both sides of all underscores in a
/// row. Letters beyond ASCII are not recognised: escaping more than necessary does no harm.
bool is_within_word(std::string_view text, std::size_t underscore) {
  const std::size_t last_before = text.find_last_not_of('_', underscore);
  const std::size_t first_behind = text.find_first_not_of('_', underscore);
  return is_alphanumeric(text, last_before) && is_alphanumeric(text, first_behind);
}

/// Where the last `[text](target)` or `[text][label]` goes on behind its text: a bracket behind it
/// begins no link.
std::size_t last_link(std::string_view text) {
  const auto last = [&](std::string_view end) {
    const std::size_t found = text.rfind(end);
    return found == std::string_view::npos ? 0 : found;
  };
  return std::max(last("]("), last("]["));
}

}  // namespace

std::string markdown_text(std::string_view text) {
  constexpr std::string_view markup = "\\|&*`~";
  const std::size_t link = last_link(text);
  std::string markdown;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '<') {
      markdown += "&lt;";
    } else if (c == '\n') {
      markdown += "<br>";
    } else {
      if (markup.find(c) != std::string_view::npos || (c == '[' && k < link) ||
          (c == '_' && !is_within_word(text, k)))
        markdown += '\\';
      markdown += c;
    }
  }
  return markdown;
}

}  // namespace bench
