#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace bench::cli {

/// The arguments of a command with its long options written out, as JUBE takes them: `--res` is
/// `--result`, also where an option that JUBE does not have begins so. What abbreviates no option
/// is left for the parser, and so is what follows `--`.
/// @throws CLI::ParseError if several options begin like that
std::vector<std::string> with_whole_options(std::vector<std::string> arguments,
                                            const CLI::App& command);

}  // namespace bench::cli
