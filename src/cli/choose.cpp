#include "choose.hpp"

#include "each.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

using workspace::RunDirectory;

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
        "-i selects runs of one DIR, but two were given",
        fmt::format("`bench {0} DIR/000000 DIR/000001`, or `bench {0} DIR -i 0 1`", command));
}

RunDirectory one_run(const std::vector<RunDirectory>& chosen, const std::string& action) {
  if (chosen.size() != 1)
    throw Error(fmt::format("cannot {} {} at once", action, plural(chosen.size(), "run")),
                "choose one with `-i ID`");
  return chosen.front();
}

std::filesystem::path outpath_of(const std::filesystem::path& run_directory) {
  return std::filesystem::weakly_canonical(run_directory).parent_path();
}

std::vector<inspect::KnownRun> known_runs(const std::filesystem::path& outpath) {
  std::vector<inspect::KnownRun> known;
  for (const RunDirectory& run : workspace::find_runs(outpath))
    skip_if_unsound(run, [&] { known.push_back(inspect::known_run(run)); });
  return known;
}

}  // namespace bench::cli
