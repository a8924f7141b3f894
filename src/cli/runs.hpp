#pragma once

#include "evaluation.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/insight/baseline.hpp>
#include <bench/workspace/run_directory.hpp>

namespace CLI {
class App;
}

namespace bench::cli {

/// `[DIR]` and `-i`: which run a command is about.
struct RunChoice {
  std::string directory = ".";
  std::vector<std::string> ids;

  void declare(CLI::App& app);
  void declare_directory(CLI::App& app);
  void declare_ids(CLI::App& app);
  /// The runs that were chosen, ascending by id; the last one without `-i`.
  std::vector<workspace::RunDirectory> runs() const {
    return workspace::select_runs(directory, ids);
  }
};

/// `-i`, `-n`, `-u` and `-t` of the commands that show results: which runs, and with which file.
struct ShownRuns {
  RunChoice choice;  ///< In each directory.
  Update update;
  std::size_t newest = 0;  ///< 0: all selected runs.

  void declare(CLI::App& app);
  /// The distinct runs of these directories.
  /// @param worst becomes 1 after an error in one of several runs
  /// @throws Error if none of a directory has one of the tags
  std::vector<workspace::RunDirectory> in(const std::vector<std::string>& directories,
                                          int& worst) const;
};

using NameValue = std::pair<std::string, std::string>;

/// `version=old`, unless a directory has that name.
std::optional<NameValue> name_and_value(const std::string& word);

/// Each run once: globs may name an outpath and a run in it.
std::vector<workspace::RunDirectory> distinct(const std::vector<workspace::RunDirectory>& runs);

/// The distinct runs with these ids, the last without ids, of each directory.
/// @param directories empty: the current one
std::vector<workspace::RunDirectory> chosen_runs(const std::vector<std::string>& directories,
                                                 const std::vector<std::string>& ids);

/// The last `count` of runs.
std::vector<workspace::RunDirectory> newest(std::vector<workspace::RunDirectory> runs,
                                            std::size_t count);

/// The runs of one directory that a command compares: those with these ids, or the last two.
std::vector<workspace::RunDirectory> compared_runs(const std::string& directory,
                                                   const std::vector<std::string>& ids);

/// @param command `diff`
/// @throws Error if there are ids
void refuse_ids_of_two(const std::vector<std::string>& ids, const std::string& command);

/// @param action `export`
/// @throws Error unless exactly one run was chosen
workspace::RunDirectory one_run(const std::vector<workspace::RunDirectory>& chosen,
                                const std::string& action);

/// The directory that a run is in, however the run is written: `.`, `runs/000003/`.
std::filesystem::path outpath_of(const std::filesystem::path& run_directory);

/// The runs of an outpath, ascending by id. One that cannot be read is left out, with a note.
std::vector<insight::KnownRun> known_runs(const std::filesystem::path& outpath);

/// Acts on a run.
/// @returns the exit code
using RunAction = std::function<int(const workspace::RunDirectory&)>;

/// Acts on each run. An error in one of several is told with the run it is about and does not stop
/// the others, but an interruption does.
/// @returns the worst exit code; that of an error is 1
int act_on_each(const std::vector<workspace::RunDirectory>& runs, const RunAction& act);
/// The same for what has no exit code of its own.
int for_each_run(const std::vector<workspace::RunDirectory>& runs,
                 const std::function<void(const workspace::RunDirectory&)>& act);

}  // namespace bench::cli
