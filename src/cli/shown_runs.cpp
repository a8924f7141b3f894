#include "shown_runs.hpp"

#include "choose.hpp"
#include "each.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;

bool has_one_of(const RunDirectory& run, const std::vector<std::string>& tags) {
  auto workspace = workspace::Workspace::open(run.path, workspace::Workspace::Access::read);
  const auto stored = split_names(setup::load_run(run, workspace).metadata.tags);
  return std::ranges::any_of(
      tags, [&](const std::string& tag) { return std::ranges::find(stored, tag) != stored.end(); });
}

/// @param worst becomes 1 after an error in one of several runs
std::vector<RunDirectory> runs_of(const std::string& directory, const ShownRuns& shown,
                                  int& worst) {
  std::vector<std::string> ids = shown.choice.ids;
  if (shown.newest > 0 && ids.empty() && !workspace::is_run(directory))
    ids = {"all"};
  std::vector<RunDirectory> runs = workspace::select_runs(directory, ids);
  const std::vector<std::string>& tags = shown.update.tags;
  if (!tags.empty() && shown.update.file.empty()) {
    std::vector<RunDirectory> tagged;
    const int code = act_on_each(runs, [&](const RunDirectory& run) {
      if (has_one_of(run, tags))
        tagged.push_back(run);
      return 0;
    });
    worst = std::max(worst, code);
    runs = std::move(tagged);
  }
  if (runs.empty())
    throw Error(fmt::format("none of these runs has any of the tags {}", join(tags, ", ")),
                "`bench info` shows the tags of each run");
  return shown.newest > 0 ? newest(std::move(runs), shown.newest) : runs;
}

}  // namespace

void ShownRuns::declare(CLI::App& app) {
  choice.declare_ids(app);
  declare_update(app, update, update_of_results);
  app.get_option("--tag")->description(
      "with -u: tags for that file, in addition to those of the run; otherwise: only runs with one "
      "of these tags");
  app.add_option("-n,--num", newest, "only the newest N runs; without -i: of all runs")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
}

std::vector<RunDirectory> ShownRuns::in(const std::vector<std::string>& directories,
                                        int& worst) const {
  std::vector<RunDirectory> chosen;
  for (const std::string& directory : directories)
    std::ranges::move(runs_of(directory, *this, worst), std::back_inserter(chosen));
  return distinct(chosen);
}

}  // namespace bench::cli
