#include <string>
#include <vector>

#include <bench/cli/runs/choose.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

std::vector<workspace::RunDirectory> compared_runs(const std::string& directory,
                                                   const std::vector<std::string>& ids) {
  std::vector<workspace::RunDirectory> runs =
      workspace::select_runs(directory, ids.empty() ? std::vector<std::string>{"all"} : ids);
  if (ids.empty() && runs.size() > 2)
    runs.erase(runs.begin(), runs.end() - 2);
  return runs;
}

}  // namespace bench::cli
