#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/cli/output/colour.hpp>
#include <bench/cli/output/console.hpp>

namespace bench::cli {
namespace {

constexpr std::string_view end_of_colour = "\x1b[0m";

std::string_view begin_of(Colour colour) {
  switch (colour) {
    case Colour::red:
      return "\x1b[31m";
    case Colour::green:
      return "\x1b[32m";
    case Colour::yellow:
      return "\x1b[33m";
    case Colour::blue:
      return "\x1b[34m";
    case Colour::none:
      break;
  }
  return "";
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

constexpr std::array<std::pair<std::string_view, Colour>, 4> severities{
    {{"error:", Colour::red},
     {"warning:", Colour::yellow},
     {"note:", Colour::blue},
     {"hint:", Colour::blue}}};

/// Where the word of a severity begins in a line: at its start, or behind `file:line:column: `.
std::size_t place_of(std::string_view word, const std::string& line) {
  const std::size_t at = line.find(word);
  if (at == 0 || at == std::string::npos)
    return at;
  const bool behind_place =
      at >= 3 && line.compare(at - 2, 2, ": ") == 0 && line[at - 3] >= '0' && line[at - 3] <= '9';
  return behind_place ? at : std::string::npos;
}

}  // namespace

bool has_colours(int fd) {
  if (!variable("NO_COLOR").empty())
    return false;
  const std::string_view force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0")
    return true;
  return variable("CLICOLOR") != "0" && can_draw_over(fd);
}

std::string coloured(const std::string& text, Colour colour, int fd) {
  std::string visible = with_visible_controls(text);
  if (colour == Colour::none || !has_colours(fd))
    return visible;
  return std::string(begin_of(colour)) + visible + std::string(end_of_colour);
}

std::string with_coloured_severities(const std::string& text, int fd) {
  if (!has_colours(fd))
    return text;
  std::vector<std::string> lines = split(text, "\n");
  for (std::string& line : lines)
    for (const auto& [word, colour] : severities)
      if (const std::size_t at = place_of(word, line); at != std::string::npos) {
        line.insert(at + word.size(), end_of_colour);
        line.insert(at, begin_of(colour));
        break;
      }
  return join(lines, "\n");
}

}  // namespace bench::cli
