#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/source_table.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

/// Columns as wide as their longest cell.
std::string aligned(const std::vector<std::array<std::string, 4>>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] - display_width(row[i]) + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string source_table(const Sources& sources) {
  std::vector<std::array<std::string, 4>> rows{{"channel", "added", "part of", "what"}};
  for (const Channel& channel : sources.channels)
    rows.push_back({channel.name,
                    !channel.additive            ? "no"
                    : channel.unreadable.empty() ? "yes"
                                                 : "unreadable",
                    channel.parent.empty() ? "-" : channel.parent, channel.description});
  std::string text = sources.channels.empty() ? "no power source on this node\n" : aligned(rows);
  for (const Absence& absence : sources.absences)
    text += fmt::format("absent: {}: {}\n", absence.source, absence.reason);
  for (const std::string& note : sources.notes)
    text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace bench::energy
