#pragma once

#include <string>

namespace bench::cli {

enum class Colour { none, red, green, yellow, blue };

/// Whether text for this descriptor has colours: on a terminal that knows them (TERM is neither
/// empty nor `dumb`). NO_COLOR, set to anything, forbids them, then CLICOLOR_FORCE, set to anything
/// but 0, asks for them everywhere, then CLICOLOR=0 forbids them.
/// Sources: https://no-color.org, https://bixense.com/clicolors
bool has_colours(int fd);

/// The text, whose control characters are shown and do nothing, in a colour if the descriptor has
/// them.
std::string coloured(const std::string& text, Colour colour, int fd);

/// Text for people, with the words `error:`, `warning:`, `note:` and `hint:` at the beginnings of
/// lines, or behind a place, in their colours if the descriptor has them.
std::string with_coloured_severities(const std::string& text, int fd);

}  // namespace bench::cli
