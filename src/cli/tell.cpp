#include "command.hpp"
#include "evaluation.hpp"
#include "runs.hpp"

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/results/arrange.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/run/make_run.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {
namespace {

/// `{"run":0,"workpackages":[4,5],"new":true}`
std::string answer(const workspace::RunDirectory& run, const run::AddedPoint& added) {
  return fmt::format(R"({{"run":{},"workpackages":[{}],"new":{}}})"
                     "\n",
                     run.id, fmt::join(added.workpackages, ","), added.is_new);
}

/// Adds points from standard input, one per line. Points before an invalid one are kept.
void add_lines(const std::function<void(const std::string&)>& add) {
  int number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    try {
      if (!strip(line).empty())
        add(line);
    } catch (const Error& error) {
      throw Error(error.id(), fmt::format("line {} of standard input: {}", number, error.message()),
                  error.hint(), error.place());
    }
  }
}

int tell_points(const RunChoice& choice, const std::vector<std::string>& points,
                const std::string& step) {
  const workspace::RunDirectory directory = one_run(choice.runs(), "add points to");
  const workspace::WriterLock lock(directory.path);
  auto workspace = workspace::Workspace::open(directory.path, workspace::Workspace::Access::write);
  space::Run run = space::load_run(directory, workspace);
  run.platform = space::platform_of(run);
  Diagnostics diagnostics = telling_diagnostics();
  const auto add = [&](const std::string& text) {
    print(answer(directory,
                 run::add_point(run, workspace, run::point_from_json(text), step, diagnostics)));
  };
  for (const std::string& point : points)
    if (point != "-")
      add(point);
    else
      add_lines(add);
  return 0;
}

/// Workpackages that have ended, as lines of JSON.
int ask(const RunChoice& choice, const std::vector<long long>& workpackages) {
  const Evaluated one =
      evaluate(one_run(choice.runs(), "ask about"), {}, false, Found::in_workpackages);
  const std::vector<results::TidyRun> runs{{one.run, one.workspace, one.analyses}};
  results::Table table = results::tidy(runs).table;
  std::string where = "state in ('done', 'failed', 'skipped')";
  for (const long long id : workpackages)
    one.workspace.workpackage(id);  // throws if it does not exist
  if (!workpackages.empty())
    where += fmt::format(" and workpackage in ({})", fmt::join(workpackages, ", "));
  results::choose_rows(table, where);
  print(results::render(table, "jsonl"));
  return 0;
}

}  // namespace

std::function<int()> declare_tell(CLI::App& app) {
  struct Options {
    RunChoice choice;
    std::vector<std::string> points;
    std::string step;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("DIR", options->choice.directory, "outpath or run directory")->required();
  app.add_option("POINT", options->points,
                 R"(points to add, as JSON: '{"batch_size": 64}'; -: lines of standard input)")
      ->required();
  options->choice.declare_ids(app);
  app.add_option("-s,--step", options->step,
                 "add them to this step; default: the first that has these parameters")
      ->type_name("STEP");
  return [options] { return tell_points(options->choice, options->points, options->step); };
}

std::function<int()> declare_ask(CLI::App& app) {
  struct Options {
    RunChoice choice;
    std::vector<long long> workpackages;
  };
  const auto options = std::make_shared<Options>();
  options->choice.declare(app);
  app.add_option("-w,--workpackage", options->workpackages, "only these; default: all that ended")
      ->type_name("ID");
  return [options] { return ask(options->choice, options->workpackages); };
}

}  // namespace bench::cli
