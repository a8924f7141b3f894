#include "command.hpp"
#include "evaluation.hpp"
#include "runs.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/difference.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;

using insight::Differences;
using insight::LonePoint;
using insight::MetricDifference;
using insight::MetricSummary;
using insight::TextDifference;

std::string number_text(double value) {
  return fmt::format("{:.4g}", value);
}

std::string percent_text(std::optional<double> relative) {
  return relative ? fmt::format("{:+.1f} %", *relative * 100) : "";
}

/// As many digits as tell runs apart; json and csv have all of them.
std::string value_text(const std::optional<Value>& value) {
  if (!value)
    return "n/a";
  const auto* real = std::get_if<double>(&*value);
  return real ? fmt::format("{:.6g}", *real) : to_text(*value);
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{}[{}]", name, unit);
}

/// Rows under a title, the first of them where there are too many.
class Section {
 public:
  Section(std::string title, std::vector<std::string> headings, bool all)
      : title_(std::move(title)), headings_(std::move(headings)), all_(all) {}

  void add(std::vector<std::string> row) {
    if (all_ || rows_.size() < most)
      rows_.push_back(std::move(row));
    else
      ++left_out_;
  }

  std::string text() const {
    if (rows_.empty())
      return "";
    std::string text = fmt::format("\n{}\n{}", title_, text_table(headings_, rows_));
    if (left_out_ > 0)
      text += fmt::format("and {} more; --all shows them\n", left_out_);
    return text;
  }

 private:
  static constexpr std::size_t most = 20;
  std::string title_;
  std::vector<std::string> headings_;
  bool all_;
  std::vector<std::vector<std::string>> rows_;
  std::size_t left_out_ = 0;
};

std::string points_text(const Differences& differences, bool all) {
  Section section("points in only one run", {"run", "step", "point", "workpackages"}, all);
  for (const LonePoint& point : differences.points)
    section.add({point.in_a ? "a" : "b", point.step, parameters_text(point.parameters),
                 std::to_string(point.workpackages)});
  return section.text();
}

std::string states_text(const Differences& differences, bool all) {
  Section section("states", {"step", "point", "a", "b"}, all);
  for (const insight::StateDifference& state : differences.states)
    section.add({state.pair.step, parameters_text(state.pair.parameters),
                 fmt::format("{} {}", state.pair.a, state.a),
                 fmt::format("{} {}", state.pair.b, state.b)});
  return section.text();
}

std::string metrics_text(const Differences& differences, bool all) {
  Section section("metrics, largest difference first",
                  {"step", "point", "metric", "a", "b", "b - a", "relative"}, all);
  for (const MetricDifference& metric : differences.metrics)
    section.add({metric.pair.step, parameters_text(metric.pair.parameters),
                 with_unit(metric.name, metric.unit), value_text(metric.a), value_text(metric.b),
                 metric.difference ? number_text(*metric.difference) : "",
                 percent_text(metric.relative)});
  return section.text();
}

std::string summaries_text(const Differences& differences) {
  Section section("all metrics", {"metric", "pairs", "differ", "least", "median", "most"}, true);
  for (const MetricSummary& summary : differences.summaries)
    section.add({with_unit(summary.name, summary.unit), std::to_string(summary.pairs),
                 std::to_string(summary.different), percent_text(summary.least),
                 percent_text(summary.median), percent_text(summary.most)});
  return section.text();
}

/// What is compared, as a user names it.
struct ComparedNames {
  std::string a;
  std::string b;
};

/// The differences for people.
/// @param all every one; else the largest of many, and the count of the others
std::string difference_text(const Differences& differences, const ComparedNames& names, bool all) {
  std::string text = fmt::format("a: {}\nb: {}\n", names.a, names.b);
  Section provenance("provenance", {"what", "a", "b"}, true);
  for (const TextDifference& fact : differences.provenance)
    provenance.add({fact.name, in_one_line(fact.a), in_one_line(fact.b)});
  Section parameters("parameters", {"step", "parameter", "a", "b"}, true);
  for (const TextDifference& one : differences.parameters)
    parameters.add({one.step, one.name, in_one_line(one.a), in_one_line(one.b)});
  text += provenance.text() + parameters.text() + points_text(differences, all) +
          states_text(differences, all) + metrics_text(differences, all) +
          summaries_text(differences);
  return text + fmt::format("\n{} of workpackages at the same point{}\n",
                            plural(differences.pairs, "pair"),
                            differences.any() ? "" : "; only the provenance differs");
}

/// All of them in one table, for programs: what differs (`provenance`, `parameter`, `point`,
/// `state`, `metric`), step, point, name, unit, a, b, difference, relative.
results::Table difference_table(const Differences& differences) {
  results::Table table = results::table_with(
      "differences", {"what", "step", "point", "name", "unit", "a", "b", "difference", "relative"});
  const auto add = [&](const char* what, const std::string& step, const std::string& point,
                       const std::string& name, const std::string& a, const std::string& b) {
    std::vector<results::Cell>& row = table.rows.emplace_back();
    for (const std::string& text :
         {std::string(what), step, point, name, std::string(), a, b, std::string(), std::string()})
      row.push_back({.value = text});
  };
  for (const TextDifference& fact : differences.provenance)
    add("provenance", "", "", fact.name, fact.a, fact.b);
  for (const TextDifference& one : differences.parameters)
    add("parameter", one.step, "", one.name, one.a, one.b);
  for (const LonePoint& point : differences.points) {
    const std::string count = std::to_string(point.workpackages);
    add("point", point.step, parameters_text(point.parameters), "workpackages",
        point.in_a ? count : "0", point.in_a ? "0" : count);
  }
  for (const insight::StateDifference& state : differences.states)
    add("state", state.pair.step, parameters_text(state.pair.parameters), "state", state.a,
        state.b);
  for (const MetricDifference& metric : differences.metrics) {
    add("metric", metric.pair.step, parameters_text(metric.pair.parameters), metric.name, "", "");
    auto& row = table.rows.back();
    row[4].value = metric.unit;
    row[5].value = metric.a;
    row[6].value = metric.b;
    row[7].value = metric.difference;
    row[8].value = metric.relative;
  }
  return table;
}

struct DiffOptions {
  std::vector<std::string> directories;
  std::vector<std::string> ids;
  std::string style;
  double tolerance_percent = 0;
  bool all = false;
  bool exit_code = false;
};

[[noreturn]] void refuse_number(std::size_t runs) {
  throw Error(Id::usage, fmt::format("cannot compare {}: diff needs two", plural(runs, "run")),
              "`bench diff RUN_A RUN_B`, or `bench diff DIR -i 0 1`");
}

/// The last run of each of two directories, or two runs of one: the last ones without `-i`.
std::vector<RunDirectory> two_runs(const DiffOptions& options) {
  std::vector<RunDirectory> runs;
  if (options.directories.size() == 2) {
    refuse_ids_of_two(options.ids, "diff");
    for (const std::string& directory : options.directories)
      runs.push_back(workspace::select_runs(directory, {}).front());
    return runs;
  }
  if (options.directories.size() > 2)
    refuse_number(options.directories.size());
  const std::string directory = options.directories.empty() ? "." : options.directories.front();
  runs = compared_runs(directory, options.ids);
  if (runs.size() != 2)
    refuse_number(runs.size());
  return runs;
}

int show_differences(const DiffOptions& options) {
  const std::vector<RunDirectory> runs = two_runs(options);
  const Evaluated a = evaluate(runs[0], {}, false);
  const Evaluated b = evaluate(runs[1], {}, false);
  const insight::Differences differences =
      insight::differences({a.run, a.workspace, a.analyses}, {b.run, b.workspace, b.analyses},
                           options.tolerance_percent / 100);
  if (options.style.empty())
    print(difference_text(differences, {description_of(a), description_of(b)}, options.all));
  else
    print(results::render(difference_table(differences), options.style));
  return options.exit_code && differences.any() ? failure : 0;
}

}  // namespace

std::function<int()> declare_diff(CLI::App& app) {
  const auto options = std::make_shared<DiffOptions>();
  app.add_option("DIR", options->directories,
                 "two run directories, or two outpaths (the last run of each), or one outpath (its "
                 "last two runs)");
  app.add_option("-i,--id", options->ids, "with one outpath: compare these two runs")
      ->type_name("ID");
  declare_style(app, options->style, "print all differences as one table");
  app.add_option("--tolerance", options->tolerance_percent,
                 "hide metrics that differ by this much or less")
      ->type_name("PERCENT")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--all", options->all, "show every difference, not only the largest");
  app.add_flag("--exit-code", options->exit_code,
               "exit with code 1 if anything except the provenance differs");
  return [options] { return show_differences(*options); };
}

}  // namespace bench::cli
