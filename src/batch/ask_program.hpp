#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/base/process.hpp>

namespace bench::batch {

/// What a program of a batch system answered.
struct ProgramAnswer {
  std::optional<int> exit_code;  ///< None: it could not be started, was killed or did not end.
  std::string output;
  std::string error;  ///< What it said on standard error, else how it failed; stripped.

  bool ok() const { return exit_code == 0; }
};

/// Runs a program of a batch system without what this shell, or a job that bench itself runs in,
/// would force on it.
ProgramAnswer ask_program(std::vector<std::string> arguments, Environment environment,
                          const std::filesystem::path& directory = {});

}  // namespace bench::batch
