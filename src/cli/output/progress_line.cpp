#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/progress_line.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {
namespace {

/// As much of the front of a text as fits.
std::string cut_to(std::size_t columns, const std::string& text) {
  return text.substr(0, bytes_of_front(text, columns));
}

/// A name whose end tells as much as its beginning.
std::string shortened(const std::string& name, std::size_t columns) {
  constexpr std::size_t ends = 3;
  if (display_width(name) <= columns)
    return name;
  if (columns < 2 * ends + 2)
    return cut_to(columns, name);
  std::string end = name;
  while (display_width(end) > ends)
    end.erase(0, bytes_of_front(end, 1) > 0 ? bytes_of_front(end, 1) : bytes_of_front(end, 2));
  return cut_to(columns - ends - 2, name) + ".." + end;
}

/// A part of a line.
struct Part {
  std::string text;
  Colour colour = Colour::none;
};

Colour colour_of(const workspace::StepCounts& sum) {
  return sum.failed == 0 && sum.ended() == sum.all() ? Colour::green : Colour::none;
}

}  // namespace

std::string progress_line(const std::string& name, const workspace::StepCounts& counts,
                          const std::string& left, std::size_t columns) {
  using workspace::State;
  std::vector<State> named;
  for (const State state : workspace::all_states)
    if (state != State::done && counts.of(state) > 0)
      named.push_back(state);
  const auto text_of_named = [&] {
    std::string text = fmt::format(": {} of {} done", counts.done, counts.all());
    for (const State state : named)
      text += fmt::format(", {} {}", counts.of(state), name_of(state));
    return left.empty() ? text : text + fmt::format(", about {} left", left);
  };
  std::string text = text_of_named();
  while (display_width(name) + text.size() > columns && !named.empty() &&
         named.back() != State::failed && named.back() != State::skipped) {
    named.pop_back();
    text = text_of_named();
  }
  constexpr std::size_t least = 8;
  const std::size_t room = columns - std::min(columns, text.size());
  return cut_to(columns, shortened(name, std::max(room, least)) + text);
}

std::string overall_line(const workspace::StepCounts& sum, const std::string& elapsed,
                         const std::string& left, std::size_t columns, int fd) {
  std::vector<Part> parts;
  using workspace::State;
  for (const State state : {State::ready, State::waiting, State::submitted, State::running})
    if (sum.of(state) > 0)
      parts.push_back({fmt::format("{} {}", sum.of(state), name_of(state))});
  if (!elapsed.empty())
    parts.push_back({"elapsed " + elapsed});
  parts.push_back({fmt::format("{} of {} done", sum.done, sum.all()), colour_of(sum)});
  if (sum.failed > 0)
    parts.push_back({fmt::format("{} failed", sum.failed), Colour::red});
  if (!left.empty())
    parts.push_back({left + " left"});
  const std::string name = "total: ";
  std::size_t width = 0;
  std::size_t first = parts.size();
  while (first > 0) {
    const std::size_t wider = width + parts[first - 1].text.size() + (width > 0 ? 2 : 0);
    if (wider > columns)
      break;
    width = wider;
    --first;
  }
  if (first == parts.size())
    return cut_to(columns, parts.back().text);
  std::string line = first == 0 && name.size() + width <= columns ? name : "";
  for (std::size_t k = first; k < parts.size(); ++k)
    line += (k > first ? ", " : "") + coloured(parts[k].text, parts[k].colour, fd);
  return line;
}

std::string run_summary(const workspace::StepCounts& sum, double elapsed_s, const std::string& why,
                        int fd) {
  using workspace::State;
  std::string text =
      coloured(fmt::format("{} of {} done", sum.done, sum.all()), colour_of(sum), fd);
  if (sum.failed > 0)
    text += ", " + coloured(fmt::format("{} failed", sum.failed), Colour::red, fd);
  if (sum.skipped > 0)
    text += fmt::format(", {} skipped", sum.skipped);
  for (const State state : {State::running, State::submitted, State::waiting, State::ready})
    if (sum.of(state) > 0)
      text += fmt::format(", {} {}", sum.of(state), name_of(state));
  text += " in " + human_duration(elapsed_s);
  return why.empty() ? text : text + "; why: " + with_visible_controls(why);
}

}  // namespace bench::cli
