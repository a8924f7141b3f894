#include "runs.hpp"

#include "command.hpp"
#include "interruption.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {

using workspace::RunDirectory;

void RunChoice::declare(CLI::App& app) {
  declare_directory(app);
  declare_ids(app);
}

void RunChoice::declare_directory(CLI::App& app) {
  app.add_option("DIR", directory, "outpath or run directory")->capture_default_str();
}

void RunChoice::declare_ids(CLI::App& app) {
  app.add_option("-i,--id", ids, "run: a number, -1 for the newest, last or all; default: last")
      ->type_name("ID");
}

std::optional<NameValue> name_and_value(const std::string& word) {
  const auto equals = word.find('=');
  std::error_code absent;
  if (equals == std::string::npos || equals == 0 || word.find('/') < equals ||
      std::filesystem::is_directory(word, absent))
    return std::nullopt;
  return NameValue{word.substr(0, equals), word.substr(equals + 1)};
}

std::vector<RunDirectory> distinct(const std::vector<RunDirectory>& runs) {
  std::vector<RunDirectory> distinct;
  std::set<std::filesystem::path> known;
  for (const RunDirectory& run : runs)
    if (known.insert(std::filesystem::weakly_canonical(run.path)).second)
      distinct.push_back(run);
  return distinct;
}

std::vector<RunDirectory> chosen_runs(const std::vector<std::string>& directories,
                                      const std::vector<std::string>& ids) {
  if (directories.empty())
    return workspace::select_runs(".", ids);
  std::vector<RunDirectory> chosen;
  for (const std::string& directory : directories)
    std::ranges::move(workspace::select_runs(directory, ids), std::back_inserter(chosen));
  return distinct(chosen);
}

std::vector<RunDirectory> newest(std::vector<RunDirectory> runs, std::size_t count) {
  if (runs.size() > count)
    runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(count));
  return runs;
}

std::vector<RunDirectory> compared_runs(const std::string& directory,
                                        const std::vector<std::string>& ids) {
  return ids.empty() ? newest(workspace::select_runs(directory, {"all"}), 2)
                     : workspace::select_runs(directory, ids);
}

void refuse_ids_of_two(const std::vector<std::string>& ids, const std::string& command) {
  if (!ids.empty())
    throw Error(
        Id::usage, "-i selects runs of one DIR, but two were given",
        fmt::format("`bench {0} DIR/000000 DIR/000001`, or `bench {0} DIR -i 0 1`", command));
}

RunDirectory one_run(const std::vector<RunDirectory>& chosen, const std::string& action) {
  if (chosen.size() != 1)
    throw Error(Id::usage,
                fmt::format("cannot {} {} at once", action, plural(chosen.size(), "run")),
                "choose one with `-i ID`");
  return chosen.front();
}

std::filesystem::path outpath_of(const std::filesystem::path& run_directory) {
  return std::filesystem::weakly_canonical(run_directory).parent_path();
}

std::vector<insight::KnownRun> known_runs(const std::filesystem::path& outpath) {
  std::vector<insight::KnownRun> known;
  for (const RunDirectory& run : workspace::find_runs(outpath))
    skip_if_unsound(run, [&] { known.push_back(insight::known_run(run)); });
  return known;
}

namespace {

/// The hint and the log of one run end with it.
int act_on_one_of_several(const workspace::RunDirectory& run, const RunAction& act) {
  int code = 1;
  try {
    code = act(run);
  } catch (const Error& error) {
    tell_errors({error}, short_path(run.path));
  }
  end_advice();
  command_log().close(code);
  return code;
}

bool has_one_of(const RunDirectory& run, const std::vector<std::string>& tags) {
  auto workspace = workspace::Workspace::open(run.path, workspace::Workspace::Access::read);
  const auto stored = split_names(space::load_run(run, workspace).metadata.tags);
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
    const int code = for_each_run(runs, [&](const RunDirectory& run) {
      if (has_one_of(run, tags))
        tagged.push_back(run);
    });
    worst = std::max(worst, code);
    runs = std::move(tagged);
  }
  if (runs.empty())
    throw Error(Id::unknown_run,
                fmt::format("none of these runs has any of the tags {}", join(tags, ", ")),
                "`bench info` shows the tags of each run");
  return shown.newest > 0 ? newest(std::move(runs), shown.newest) : runs;
}

}  // namespace

int act_on_each(const std::vector<workspace::RunDirectory>& runs, const RunAction& act) {
  if (runs.size() == 1)
    return act(runs.front());
  int worst = 0;
  for (const workspace::RunDirectory& run : runs) {
    worst = std::max(worst, act_on_one_of_several(run, act));
    if (is_interruption_code(worst))
      break;
  }
  return worst;
}

int for_each_run(const std::vector<workspace::RunDirectory>& runs,
                 const std::function<void(const workspace::RunDirectory&)>& act) {
  return act_on_each(runs, [&](const RunDirectory& run) {
    act(run);
    return 0;
  });
}

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
