#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/process.hpp>

namespace bench::machine {

/// Answer of a program of a batch system.
struct ProgramAnswer {
  std::optional<int> exit_code;  ///< None: it could not be started, was killed or did not end.
  std::string output;
  std::string error;  ///< Its standard error, or how it failed if that is empty; stripped.

  bool ok() const { return exit_code == 0; }
};

/// Runs a program of a batch system without variables of this shell, or of a job that bench itself
/// runs in, that would change what it does.
/// @param name of the program in messages; empty: the first argument
/// @param own_patience_s how long the program itself tries again; it is not killed sooner
ProgramAnswer ask_program(std::vector<std::string> arguments, Environment environment,
                          const std::filesystem::path& directory = {}, const std::string& name = "",
                          double own_patience_s = 0);

}  // namespace bench::machine
