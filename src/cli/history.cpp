#include "command.hpp"
#include "evaluation.hpp"
#include "runs.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/history.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/numbers/change_points.hpp>
#include <bench/numbers/comparison.hpp>
#include <bench/results/table.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

using insight::PointHistory;
using numbers::Comparison;

/// A run of a history, as a user names it.
struct NamedRun {
  std::string name;
  std::string started;
};

std::string change_text(const Comparison& change) {
  const double share = change.shown_change.value_or(change.change);
  return std::isfinite(share) ? fmt::format("{:+.1f} %", share * 100) : "from 0";
}

std::string word_of_change(const Comparison& change, const PointHistory& history) {
  return insight::word_of(change.change > 0 ? numbers::Word::higher : numbers::Word::lower,
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
  for (const numbers::Level& level : history.levels.all) {
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
                     change_text(history.levels.end), numbers::fewest_of_level);
}

std::string left_out_text(const PointHistory& history) {
  return plural(history.not_finite, "value") + " left out: nan or infinite";
}

/// The levels of each history for people.
/// @param runs as the entries of the histories number them
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

/// A row for each run at each point, for programs.
results::Table history_table(std::span<const PointHistory> histories,
                             std::span<const NamedRun> runs) {
  using results::count_cell;
  using results::text_cell;
  results::Table table =
      results::table_with("history", {"step", "point", "metric", "unit", "run", "started", "values",
                                      "value", "level", "undecided"});
  for (const PointHistory& history : histories) {
    const std::size_t decided = history.entries.size() - history.levels.undecided;
    std::size_t level = 0;
    for (std::size_t k = 0; k < history.entries.size(); ++k) {
      const insight::HistoryEntry& entry = history.entries[k];
      if (level + 1 < history.levels.all.size() && history.levels.all[level + 1].first == k)
        ++level;
      table.rows.push_back({text_cell(history.step), text_cell(parameters_text(history.parameters)),
                            text_cell(history.metric), text_cell(history.unit),
                            text_cell(runs[entry.run].name), text_cell(runs[entry.run].started),
                            count_cell(entry.values),
                            results::Cell{.value = entry.value, .is_calculated = true},
                            count_cell(level), text_cell(k < decided ? "" : "yes")});
    }
    if (history.not_finite > 0)
      table.notes.push_back(subject_of(history) + ": " + left_out_text(history));
  }
  return table;
}

struct HistoryCommandOptions {
  std::string metric;
  std::vector<std::string> directories;
  std::vector<std::string> across;
  std::string style;
  double margin_percent = 1;
};

int show_history(const HistoryCommandOptions& options) {
  allow_many_open_runs();
  EvaluatedRuns runs;
  std::vector<workspace::RunDirectory> directories;
  std::vector<NamedRun> names;
  for (const workspace::RunDirectory& directory : chosen_runs(options.directories, {"all"}))
    if (const Evaluated* one = runs.read_if_sound(directory)) {
      directories.push_back(directory);
      names.push_back(
          {short_path(one->run.directory.path), space::start_for_people(one->run.metadata)});
    }
  const auto histories = insight::history_of(
      runs.sides(directories), {.metric = options.metric,
                                .across = {options.across.begin(), options.across.end()},
                                .margin = options.margin_percent / 100});
  if (options.style.empty()) {
    print(history_text(histories, names));
    return 0;
  }
  print_table(history_table(histories, names), options.style);
  return 0;
}

}  // namespace

std::function<int()> declare_history(CLI::App& app) {
  const auto options = std::make_shared<HistoryCommandOptions>();
  app.add_option("METRIC", options->metric, "a pattern, a figure of the meter, or run_time")
      ->required();
  app.add_option("DIR", options->directories, "outpaths, whose runs are combined");
  app.add_option("--across", options->across,
                 "parameters to ignore when matching points, such as a version")
      ->type_name("NAME");
  declare_margin(app, options->margin_percent);
  declare_style(app, options->style, "print every run as a row of one table");
  return [options] { return show_history(*options); };
}

}  // namespace bench::cli
