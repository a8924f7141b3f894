#pragma once

#include "command.hpp"
#include "evaluation.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

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

}  // namespace bench::cli
