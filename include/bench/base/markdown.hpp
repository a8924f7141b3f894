#pragma once

#include <string>
#include <string_view>

namespace bench {

/// `text` so that Markdown, GitHub's too, shows it as it is: in a paragraph, a heading or the cell
/// of a table. What cannot be markup stays readable: `_` within a word, `[` without a target behind
/// it. A line break becomes `<br>`.
std::string markdown_text(std::string_view text);

}  // namespace bench
