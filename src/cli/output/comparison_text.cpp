#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/comparison_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/insight/difference.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/comparison.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

using insight::CheckOutcome;
using insight::ComparedPoint;
using insight::RunComparison;
using numbers::Objection;
using numbers::Word;

std::string percent(double share) {
  constexpr double most = 100;
  return share > most ? fmt::format("over {:+.0f}", most * 100)
                      : fmt::format("{:+.1f}", share * 100);
}

bool has_change(const ComparedPoint& point) {
  return point.comparison.absent_reason.empty();
}

std::string change_text(const ComparedPoint& point) {
  if (!has_change(point))
    return "n/a";
  const double change = *point.comparison.shown_change;
  return std::isfinite(change) ? percent(change) + " %" : "from 0";
}

bool has_middles(const numbers::Comparison& numbers) {
  return numbers.values_a > 0 && numbers.values_b > 0 &&
         numbers.not_finite_a + numbers.not_finite_b == 0;
}

/// One from 0 is relative to the other side.
bool has_interval(const ComparedPoint& point) {
  return has_change(point) && std::isfinite(point.comparison.interval.high) &&
         !point.comparison.is_from_zero;
}

std::string interval_text(const ComparedPoint& point) {
  const auto& [low, high] = point.comparison.interval;
  if (!has_interval(point))
    return "n/a";
  return fmt::format("{} to {} %", percent(low), percent(high));
}

/// The probability that a value of `b` is better than one of `a`; higher if no direction is known.
double superiority_of(const ComparedPoint& point) {
  const bool is_lower_better = point.better == model::Better::lower;
  return is_lower_better ? 1 - point.comparison.superiority : point.comparison.superiority;
}

std::string verdict_text(const ComparedPoint& point) {
  std::string text = point.word();
  if (point.verdict.runs_needed > numbers::most_runs)
    text += fmt::format(" (over {})", numbers::most_runs);
  else if (point.verdict.runs_needed > 0)
    text += fmt::format(" ({} needed)", point.verdict.runs_needed);
  if (point.verdict.objection == Objection::drift)
    text += " (drift)";
  if (point.verdict.objection == Objection::many_comparisons)
    text += " (many comparisons)";
  if (point.verdict.objection == Objection::shown_values)
    text += " (a and b disagree)";
  return text;
}

/// Five digits at least; json and csv have all of them.
std::string middle_text(double value) {
  const double size = std::fabs(value);
  return size >= 1e5 && size < 1e12 ? fmt::format("{:.0f}", value) : fmt::format("{:.5g}", value);
}

std::string metric_text(const ComparedPoint& point) {
  return point.metric + (point.unit.empty() ? "" : fmt::format("[{}]", point.unit)) +
         (point.estimated ? " (estimated)" : "");
}

/// The number of values that count: all of them if they are not compared.
std::size_t counted(std::size_t all, std::size_t compared) {
  return compared > 0 ? compared : all;
}

/// Headings and rows.
void show_points(const RunComparison& comparison, ShownComparison& shown) {
  const bool several_steps = std::ranges::any_of(comparison.points, [&](const auto& point) {
    return point.step != comparison.points.front().step;
  });
  shown.headings = {"point",  "metric",   "runs",     "a",      "b",
                    "change", "interval", "superior", "verdict"};
  if (several_steps)
    shown.headings.insert(shown.headings.begin(), "step");
  for (const ComparedPoint& point : comparison.points) {
    const numbers::Comparison& numbers = point.comparison;
    const bool both = has_middles(numbers);
    std::vector<std::string> row{
        parameters_text(point.parameters),
        metric_text(point),
        fmt::format("{}, {}", counted(numbers.values_a, numbers.counted_a),
                    counted(numbers.values_b, numbers.counted_b)),
        both ? middle_text(point.shown_a) : "n/a",
        both ? middle_text(point.shown_b) : "n/a",
        change_text(point),
        interval_text(point),
        both ? fmt::format("{:.0f} %", superiority_of(point) * 100) : "n/a",
        verdict_text(point)};
    if (several_steps)
      row.insert(row.begin(), point.step);
    shown.rows.push_back(std::move(row));
  }
}

/// `2 slower, 1 equal`, the worst first.
std::string summary_of(const RunComparison& comparison) {
  static const std::vector<std::string> order{"not finite",  "slower",      "worse", "faster",
                                              "better",      "higher",      "lower", "equal",
                                              "no evidence", "too few runs"};
  std::map<std::string, std::size_t> counts;
  for (const ComparedPoint& point : comparison.points)
    ++counts[point.word()];
  std::vector<std::string> pieces;
  for (const std::string& word : order)
    if (counts[word] > 0)
      pieces.push_back(fmt::format("{} {}", counts[word], word));
  return join(pieces, ", ");
}

template <class Condition>
std::size_t count_of(const RunComparison& comparison, Condition condition) {
  return static_cast<std::size_t>(std::ranges::count_if(comparison.points, condition));
}

bool is_change(const ComparedPoint& point) {
  return point.verdict.word == Word::higher || point.verdict.word == Word::lower;
}

std::string lone_points_note(const RunComparison& comparison) {
  std::vector<std::string> pieces;
  for (const bool in_a : {true, false}) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        comparison.lone, [&](const insight::LonePoint& one) { return one.in_a == in_a; }));
    if (count > 0)
      pieces.push_back(fmt::format("{} only in {}", plural(count, "point"), in_a ? "a" : "b"));
  }
  return join(pieces, ", ");
}

/// `metrics only in a: energy_wh, power_mean_w, ... (12 in all)`
std::vector<std::string> lone_metrics_notes(const RunComparison& comparison) {
  constexpr std::size_t most = 5;
  std::vector<std::string> notes;
  for (const bool in_a : {true, false}) {
    std::vector<std::string> names;
    for (const insight::LoneMetric& one : comparison.lone_metrics)
      if (one.in_a == in_a)
        names.push_back(one.name);
    if (names.empty())
      continue;
    const std::size_t count = names.size();
    if (count > most)
      names.resize(most);
    notes.push_back(fmt::format("{} only in {}: {}{}", count == 1 ? "metric" : "metrics",
                                in_a ? "a" : "b", join(names, ", "),
                                count > most ? fmt::format(", ... ({} in all)", count) : ""));
  }
  return notes;
}

/// `not quiet: 1 workpackage of a and 2 of b`
std::vector<std::string> doubts_of(const RunComparison& comparison) {
  std::vector<std::string> notes;
  for (const energy::Figure& figure : energy::remarks()) {
    const auto count_in = [&](const std::map<std::string, std::size_t>& doubted) {
      const auto found = doubted.find(std::string(figure.remark));
      return found == doubted.end() ? 0 : found->second;
    };
    const std::size_t of_a = count_in(comparison.doubted_a);
    const std::size_t of_b = count_in(comparison.doubted_b);
    if (of_a + of_b > 0)
      notes.push_back(fmt::format("{}: {} of a and {} of b; `bench result` says why", figure.remark,
                                  plural(of_a, "workpackage"), of_b));
  }
  return notes;
}

/// `time: a and b are time_avg`
std::vector<std::string> names_of_statistics(const RunComparison& comparison) {
  std::vector<std::string> notes;
  for (const ComparedPoint& point : comparison.points)
    if (point.shown != point.metric)
      if (std::string note = fmt::format("{}: a and b are {}", point.metric, point.shown);
          std::ranges::find(notes, note) == notes.end())
        notes.push_back(std::move(note));
  return notes;
}

/// `workpackages at a time: 1 in a, 4 in b`
std::vector<std::string> conditions_of(const RunComparison& comparison) {
  std::vector<std::string> lines;
  for (const insight::TextDifference& one : comparison.conditions)
    lines.push_back(
        fmt::format("{}: {} in a, {} in b",
                    one.name == "parallel" ? "workpackages at a time" : std::string_view(one.name),
                    in_one_line(one.a), in_one_line(one.b)));
  return lines;
}

/// Name the statistics behind `a`, `b` and the interval.
std::vector<std::string> statistics_notes(const RunComparison& comparison) {
  std::vector<std::string> notes;
  if (std::ranges::any_of(comparison.points, [](const ComparedPoint& point) {
        return has_interval(point) && !point.is_statistic;
      }))
    notes.emplace_back("a and b: the median, where there are several values");
  std::ranges::move(names_of_statistics(comparison), std::back_inserter(notes));
  if (std::ranges::any_of(comparison.points, has_interval))
    notes.emplace_back(
        "interval: change of the means (geometric if all values are above 0), without outliers");
  return notes;
}

/// Notes for people on these verdicts.
std::vector<std::string> notes_of(const RunComparison& comparison) {
  std::vector<std::string> notes;
  const auto add = [&](std::size_t count, const char* text) {
    if (count > 0)
      notes.push_back(fmt::format("{}: {}", plural(count, "row"), text));
  };
  add(count_of(comparison,
               [](const auto& point) { return point.verdict.word == Word::not_finite; }),
      "some values are nan or infinite, so there is nothing to compare");
  add(count_of(comparison,
               [](const auto& point) { return point.without_value_a + point.without_value_b > 0; }),
      "some workpackages that are done have no value");
  add(count_of(comparison,
               [](const auto& point) { return point.verdict.objection == Objection::drift; }),
      "the values drift, and a and b were measured one after the other");
  add(count_of(
          comparison,
          [](const auto& point) { return point.verdict.objection == Objection::many_comparisons; }),
      "with this many comparisons, chance alone can produce such a change");
  add(count_of(
          comparison,
          [](const auto& point) { return is_change(point) && point.comparison.one_after_other; }),
      "a and b were measured one after the other; a slow drift would look the same");
  if (std::ranges::any_of(comparison.points, [](const auto& point) {
        return point.comparison.one_after_other &&
               (is_change(point) || point.verdict.objection == Objection::drift);
      }))
    notes.emplace_back(
        "measure in turn: `order: interleaved` of the step, or runs in turn and `--num`");
  add(count_of(
          comparison,
          [](const auto& point) { return point.verdict.objection == Objection::shown_values; }),
      "a and b change otherwise than their means: the noise of the sides has different shapes");
  std::map<std::string, std::size_t> absent;
  for (const ComparedPoint& point : comparison.points)
    if (!has_change(point) && has_middles(point.comparison))
      ++absent[point.comparison.absent_reason];
  for (const auto& [reason, count] : absent)
    add(count, reason.c_str());
  std::size_t outliers = 0;
  for (const ComparedPoint& point : comparison.points)
    outliers += point.comparison.outliers;
  if (outliers > 0)
    notes.push_back(fmt::format("{} left out", plural(outliers, "outlier")));
  if (const std::string lone = lone_points_note(comparison); !lone.empty())
    notes.push_back(lone);
  std::ranges::move(lone_metrics_notes(comparison), std::back_inserter(notes));
  if (comparison.not_done_a + comparison.not_done_b > 0)
    notes.push_back(fmt::format("{} of a and {} of b failed or are unfinished, and do not count",
                                plural(comparison.not_done_a, "workpackage"),
                                comparison.not_done_b));
  std::ranges::move(doubts_of(comparison), std::back_inserter(notes));
  for (const insight::TextDifference& one : comparison.units)
    notes.push_back(fmt::format("{} is not compared: its unit is {} and {}", one.name,
                                one.a.empty() ? "absent" : one.a,
                                one.b.empty() ? "absent" : one.b));
  for (const insight::TextDifference& one : comparison.parameters)
    notes.push_back(fmt::format("parameter {} is {} in a and {} in b", one.name,
                                one.a.empty() ? "absent" : one.a,
                                one.b.empty() ? "absent" : one.b));
  std::ranges::move(statistics_notes(comparison), std::back_inserter(notes));
  return notes;
}

results::Cell share_cell(double number, bool is_there = true) {
  return is_there && std::isfinite(number) ? results::Cell{.value = number, .is_calculated = true}
                                           : results::Cell{};
}

}  // namespace

ShownComparison shown_comparison(const RunComparison& comparison, double margin) {
  ShownComparison shown;
  shown.conditions = conditions_of(comparison);
  show_points(comparison, shown);
  shown.summary =
      comparison.points.empty()
          ? "the two sides share no point with a common metric"
          : summary_of(comparison) +
                fmt::format("; changes below {:g} % do not count; {:g} % confidence intervals",
                            margin * 100, numbers::verdict_confidence * 100);
  shown.notes = notes_of(comparison);
  return shown;
}

std::string comparison_text(const RunComparison& comparison, const SideNames& names,
                            double margin) {
  const ShownComparison shown = shown_comparison(comparison, margin);
  std::string text = fmt::format("a: {}\nb: {}\n", names.a, names.b);
  for (const std::string& condition : shown.conditions)
    text += condition + "\n";
  text += "\n";
  if (!shown.rows.empty())
    text += text_table(shown.headings, shown.rows) + "\n";
  text += shown.summary + "\n";
  for (const std::string& note : shown.notes)
    text += note + "\n";
  return text;
}

std::string baseline_name(const std::vector<workspace::RunDirectory>& runs) {
  const std::string newest = short_path(runs.back().path);
  return runs.size() == 1 ? fmt::format("{} (accepted)", newest)
                          : fmt::format("{} accepted runs, {} to {}", runs.size(),
                                        short_path(runs.front().path), newest);
}

std::string outcome_text(const insight::BaselineCheck& check, double margin) {
  std::string text;
  if (check.uncounted > 0)
    text += fmt::format(
        "{}: `better` is not set, so these metrics have no direction and do not count\n",
        plural(check.uncounted, "row"));
  const std::string loss = fmt::format("worse by {:g} % or more", margin * 100);
  if (check.outcome == CheckOutcome::passed)
    return text + fmt::format("passed: none of {} is {}\n", plural(check.passed, "row"), loss);
  std::vector<std::string> reasons;
  if (check.regressions > 0)
    reasons.push_back(plural(check.regressions, "row") + " slower or worse");
  if (check.diverged > 0)
    reasons.push_back(plural(check.diverged, "row") + " no longer finite");
  if (check.lost_points > 0)
    reasons.push_back(plural(check.lost_points, "point") + " lost by failures");
  if (check.lost_metrics > 0)
    reasons.push_back(plural(check.lost_metrics, "metric") + " missing");
  if (check.incomplete > 0)
    reasons.push_back(plural(check.incomplete, "row") + " without some values");
  if (check.undecided > 0)
    reasons.push_back(fmt::format("{} may be {}", plural(check.undecided, "row"), loss));
  if (reasons.empty())
    reasons.emplace_back("no row counts");
  const bool has_failed = check.outcome == CheckOutcome::failed;
  return text + fmt::format("{}: {}\n", has_failed ? "failed" : "undecided", join(reasons, ", "));
}

results::Table comparison_table(const RunComparison& comparison) {
  using results::count_cell;
  using results::text_cell;
  results::Table table = results::table_with(
      "comparison",
      {"step", "point", "metric", "unit", "values_a", "values_b", "a", "b", "change", "low", "high",
       "superiority", "verdict", "runs_needed", "objection", "outliers", "estimated"});
  table.notes = conditions_of(comparison);
  std::ranges::move(names_of_statistics(comparison), std::back_inserter(table.notes));
  for (const ComparedPoint& point : comparison.points) {
    const numbers::Comparison& numbers = point.comparison;
    const bool both = has_middles(numbers);
    const Objection objection = point.verdict.objection;
    table.rows.push_back(
        {text_cell(point.step), text_cell(parameters_text(point.parameters)),
         text_cell(point.metric), text_cell(point.unit),
         count_cell(counted(numbers.values_a, numbers.counted_a)),
         count_cell(counted(numbers.values_b, numbers.counted_b)), share_cell(point.shown_a, both),
         share_cell(point.shown_b, both),
         share_cell(numbers.shown_change.value_or(0), has_change(point)),
         share_cell(numbers.interval.low, has_interval(point)),
         share_cell(numbers.interval.high, has_interval(point)),
         share_cell(superiority_of(point), both), text_cell(point.word()),
         point.verdict.runs_needed > 0 && point.verdict.runs_needed <= numbers::most_runs
             ? count_cell(point.verdict.runs_needed)
             : results::Cell{},
         text_cell(objection == Objection::drift              ? "drift"
                   : objection == Objection::many_comparisons ? "many comparisons"
                   : objection == Objection::shown_values     ? "a and b disagree"
                                                              : ""),
         count_cell(numbers.outliers), text_cell(point.estimated ? "yes" : "")});
  }
  return table;
}

}  // namespace bench::cli
