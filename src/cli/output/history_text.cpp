#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/cli/output/history_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/history.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/numbers/change_points.hpp>
#include <bench/numbers/comparison.hpp>
#include <bench/numbers/decide.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {
namespace {

using inspect::PointHistory;
using verdict::Comparison;

std::string change_text(const Comparison& change) {
  const double share = change.shown_change.value_or(change.change);
  return std::isfinite(share) ? fmt::format("{:+.1f} %", share * 100) : "from 0";
}

std::string word_of_change(const Comparison& change, const PointHistory& history) {
  return inspect::word_of(change.change > 0 ? verdict::Word::higher : verdict::Word::lower,
                          history.better, history.unit);
}

/// `time[s] of step s at size=1`, `time[s] (time_avg) of step s`
std::string subject_of(const PointHistory& history) {
  const std::string point = parameters_text(history.parameters);
  return fmt::format("{}{}{} of step {}{}{}", history.metric,
                     history.unit.empty() ? "" : fmt::format("[{}]", history.unit),
                     history.shown == history.metric ? "" : fmt::format(" ({})", history.shown),
                     history.step, point.empty() ? "" : " at ", point);
}

std::string levels_text(const PointHistory& history, std::span<const NamedRun> runs) {
  std::vector<std::vector<std::string>> rows;
  for (const verdict::Level& level : history.levels.all) {
    const NamedRun& first = runs[history.entries[level.first].run];
    std::vector<std::string> row{first.name, first.started, std::to_string(level.count),
                                 fmt::format("{:.6g}", level.middle)};
    if (level.first == 0)
      row.insert(row.end(), {"", ""});
    else
      row.insert(row.end(), {change_text(level.change), word_of_change(level.change, history)});
    rows.push_back(std::move(row));
  }
  return text_table({"from run", "started", "runs", "level", "change", "verdict"}, rows);
}

std::string end_text(const PointHistory& history) {
  const std::size_t undecided = history.levels.undecided;
  if (undecided == 0)
    return "";
  return fmt::format("undecided: the last {} by {} from this level; {} such runs make a new one\n",
                     undecided == 1 ? "run differs" : fmt::format("{} runs differ", undecided),
                     change_text(history.levels.end), verdict::fewest_of_level);
}

std::string left_out_text(const PointHistory& history) {
  return plural(history.not_finite, "value") + " left out: nan or infinite";
}

result::Cell of_text(const std::string& text) {
  return {.value = text};
}

result::Cell of_count(std::size_t count) {
  return {.value = static_cast<long long>(count)};
}

}  // namespace

std::string history_text(std::span<const PointHistory> histories, std::span<const NamedRun> runs) {
  std::string text;
  for (const PointHistory& history : histories) {
    text += (text.empty() ? "" : "\n") + subject_of(history) + ":\n";
    if (!history.entries.empty())
      text += levels_text(history, runs) + end_text(history);
    if (history.not_finite > 0)
      text += left_out_text(history) + "\n";
  }
  return text;
}

result::Table history_table(std::span<const PointHistory> histories,
                            std::span<const NamedRun> runs) {
  result::Table table;
  table.name = "history";
  for (const char* title : {"step", "point", "metric", "unit", "run", "started", "values", "value",
                            "level", "undecided"})
    table.headings.push_back({.title = title});
  for (const PointHistory& history : histories) {
    const std::size_t decided = history.entries.size() - history.levels.undecided;
    std::size_t level = 0;
    for (std::size_t k = 0; k < history.entries.size(); ++k) {
      const inspect::HistoryEntry& entry = history.entries[k];
      if (level + 1 < history.levels.all.size() && history.levels.all[level + 1].first == k)
        ++level;
      table.rows.push_back({of_text(history.step), of_text(parameters_text(history.parameters)),
                            of_text(history.metric), of_text(history.unit),
                            of_text(runs[entry.run].name), of_text(runs[entry.run].started),
                            of_count(entry.values),
                            result::Cell{.value = entry.value, .is_calculated = true},
                            of_count(level), of_text(k < decided ? "" : "yes")});
    }
    if (history.not_finite > 0)
      table.notes.push_back(subject_of(history) + ": " + left_out_text(history));
  }
  return table;
}

}  // namespace bench::cli
