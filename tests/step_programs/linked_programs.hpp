#pragma once

// Step programs as children of the test program, which has them linked. LibTorch takes half a
// second of a processor to load and to unload: so it is loaded once, and not once per start.

#include "step_programs/program_runner.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace bench::steps {

/// The `main` of a step program.
using ProgramMain = int (*)(int argc, char** argv);

/// @param program its file
/// @returns null for a program that is not linked, and with sanitizers, which want whole processes
ProgramMain linked_main(const std::string& program);

/// The texts' places and a null, as `main` and `exec` want them.
inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Its lines NAME=VALUE.
std::vector<std::string> own_environment();

/// What a process is started with.
struct ProgramStart {
  std::vector<std::string> words;  ///< Program and arguments.
  std::vector<std::string> environment;
  std::string out;  ///< The file of its standard output.
  std::string err;  ///< The file of its standard error.
};

/// Calls `main` in a child of this process, which must have no other threads.
/// @returns the child
/// @throws std::runtime_error if there is none
pid_t start_linked(ProgramMain main, ProgramStart start);

/// Runs a step program, linked if it can be, and where nothing stands before it.
/// @param before shell words in front of the program, for example a limit
Outcome run_step(const std::string& program, const std::string& arguments,
                 const std::string& before = "");

}  // namespace bench::steps
