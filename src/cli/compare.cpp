#include "command.hpp"
#include "evaluation.hpp"
#include "runs.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/comparison_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;

struct CompareOptions {
  std::vector<std::string> sides;
  std::vector<std::string> ids;
  std::size_t newest = 1;
  std::string style;
  std::vector<std::string> metrics;
  double margin_percent = 1;
  bool exit_code = false;
};

constexpr auto usage_hint =
    "`bench compare RUN_A RUN_B`, `bench compare DIR -i 0 1`, or `bench "
    "compare DIR NAME=VALUE_A NAME=VALUE_B`";

/// What one side is made of.
struct Choice {
  std::vector<RunDirectory> runs;
  std::optional<NameValue> parameter = {};
};

std::vector<RunDirectory> newest_runs(const std::string& directory, std::size_t count) {
  if (workspace::is_run(directory))
    return workspace::select_runs(directory, {});
  return newest(workspace::select_runs(directory, {"all"}), count);
}

std::pair<Choice, Choice> two_values(const CompareOptions& options, const std::string& directory,
                                     const std::vector<NameValue>& parameters) {
  if (parameters.size() != 2)
    throw Error(Id::usage,
                fmt::format("cannot compare {} of parameters: compare needs two",
                            plural(parameters.size(), "value")),
                usage_hint);
  if (parameters[0].first != parameters[1].first || parameters[0] == parameters[1])
    throw Error(
        Id::usage,
        fmt::format("{}={} and {}={} are not two values of a parameter", parameters[0].first,
                    parameters[0].second, parameters[1].first, parameters[1].second),
        usage_hint);
  const std::vector<RunDirectory> runs = options.ids.empty()
                                             ? newest_runs(directory, options.newest)
                                             : workspace::select_runs(directory, options.ids);
  return {{runs, parameters[0]}, {runs, parameters[1]}};
}

std::pair<Choice, Choice> two_runs_of(const CompareOptions& options, const std::string& directory) {
  if (options.newest > 1)
    throw Error(Id::usage,
                "--num takes runs of two outpaths or two values together, but one DIR was given",
                "`bench compare DIR_A DIR_B --num 5`");
  const std::vector<RunDirectory> runs = compared_runs(directory, options.ids);
  if (runs.size() != 2)
    throw Error(Id::usage,
                fmt::format("cannot compare {}: compare needs two", plural(runs.size(), "run")),
                usage_hint);
  return {{{runs[0]}}, {{runs[1]}}};
}

std::pair<Choice, Choice> two_sides(const CompareOptions& options) {
  std::vector<std::string> directories;
  std::vector<NameValue> parameters;
  for (const std::string& side : options.sides)
    if (const auto parameter = name_and_value(side))
      parameters.push_back(*parameter);
    else
      directories.push_back(side);
  const std::string directory = directories.empty() ? "." : directories.front();
  std::error_code absent;
  if (directories.size() > 2 || (directories.size() == 2 && !parameters.empty()))
    throw Error(
        Id::usage,
        fmt::format("cannot compare {}: compare needs two", plural(options.sides.size(), "side")),
        usage_hint);
  if (!parameters.empty())
    return two_values(options, directory, parameters);
  if (directories.size() < 2)
    return two_runs_of(options, directory);
  refuse_ids_of_two(options.ids, "compare");
  if (std::filesystem::equivalent(directories[0], directories[1], absent))
    throw Error(Id::usage, "both sides are the same directory", usage_hint);
  std::pair<Choice, Choice> sides{{newest_runs(directories[0], options.newest)},
                                  {newest_runs(directories[1], options.newest)}};
  for (const RunDirectory& run : sides.first.runs)
    for (const RunDirectory& other : sides.second.runs)
      if (std::filesystem::equivalent(run.path, other.path))
        throw Error(Id::usage, fmt::format("{} is on both sides", short_path(run.path)),
                    usage_hint);
  return sides;
}

std::string name_of(const Choice& choice, EvaluatedRuns& runs) {
  const std::string further =
      choice.runs.size() > 1
          ? fmt::format(" and {} before it", plural(choice.runs.size() - 1, "run"))
          : "";
  const std::string name = description_of(runs.read(choice.runs.back()), further);
  return choice.parameter
             ? fmt::format("{}={} in {}", choice.parameter->first, choice.parameter->second, name)
             : name;
}

int show_comparison(const CompareOptions& options) {
  const auto [a, b] = two_sides(options);
  EvaluatedRuns runs;
  const double margin = options.margin_percent / 100;
  const insight::RunComparison comparison = insight::compare_runs(
      {runs.sides(a.runs), a.parameter}, {runs.sides(b.runs), b.parameter},
      {.margin = margin, .metrics = {options.metrics.begin(), options.metrics.end()}});
  if (options.style.empty())
    print(comparison_text(comparison, {name_of(a, runs), name_of(b, runs)}, margin));
  else
    print_table(comparison_table(comparison), options.style);
  const bool is_any_worse =
      std::ranges::any_of(comparison.points, &insight::ComparedPoint::is_regression);
  const bool is_none_compared = std::ranges::none_of(
      comparison.points,
      [](const insight::ComparedPoint& point) { return point.comparison.absent_reason.empty(); });
  return options.exit_code && (is_any_worse || is_none_compared) ? failure : 0;
}

}  // namespace

std::function<int()> declare_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareOptions>();
  app.add_option("DIR", options->sides,
                 "two run directories, two outpaths (the last run of each), or one outpath (its "
                 "last two runs); or one of these and NAME=VALUE twice: two values of a parameter");
  app.add_option("-i,--id", options->ids, "with one outpath: these runs")->type_name("ID");
  app.add_option("-n,--num", options->newest,
                 "with two outpaths or two values: the newest N runs together")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--metric", options->metrics, "only these metrics")->type_name("NAME");
  declare_margin(app, options->margin_percent);
  declare_style(app, options->style, "print one table for programs");
  app.add_flag("--exit-code", options->exit_code,
               "exit with code 1 if anything is slower or worse, or nothing can be compared");
  return [options] { return show_comparison(*options); };
}

}  // namespace bench::cli
