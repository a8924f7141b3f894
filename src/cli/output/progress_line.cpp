#include <algorithm>
#include <cstddef>
#include <string>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/progress_line.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {
namespace {

/// As many bytes of the front as make at most `columns`; whole characters.
std::size_t bytes_of_front(const std::string& text, std::size_t columns) {
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool ends = at + 1 == text.size() || (text[at + 1] & 0xC0) != 0x80;
    if (!ends)
      continue;
    if (display_width(text.substr(0, at + 1)) > columns)
      break;
    bytes = at + 1;
  }
  return bytes;
}

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

}  // namespace

std::string progress_line(const std::string& name, const workspace::StepCounts& counts,
                          const std::string& left, std::size_t columns) {
  const long long pending = counts.ready + counts.submitted + counts.pending;
  const auto text_of = [&](bool with_pending, bool with_running) {
    std::string text = fmt::format(": {} of {} done", counts.done, counts.all());
    if (counts.failed > 0)
      text += fmt::format(", {} failed", counts.failed);
    if (with_running && counts.running > 0)
      text += fmt::format(", {} running", counts.running);
    if (with_pending && pending > 0)
      text += fmt::format(", {} pending", pending);
    return left.empty() ? text : text + fmt::format(", about {} left", left);
  };
  std::string text = text_of(true, true);
  for (const bool with_running : {true, false})
    if (display_width(name) + text.size() > columns)
      text = text_of(false, with_running);
  constexpr std::size_t least = 8;
  const std::size_t room = columns - std::min(columns, text.size());
  return cut_to(columns, shortened(name, std::max(room, least)) + text);
}

}  // namespace bench::cli
