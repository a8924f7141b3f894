#pragma once

#include <span>
#include <string>
#include <vector>

#include <bench/base/help.hpp>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

/// What all programs whose command line CLI11 reads have in common: those of the steps contain
/// these files, too.
namespace bench::options {

/// `-i`, `--id`: with their dashes, the short ones first.
std::vector<std::string> names_of(const CLI::Option& option);

/// The words that an option takes; empty: any.
std::vector<std::string> values_of(const CLI::Option& option);

/// What `--help` shows of the program or of one of its commands.
/// @param call `bench run`
Help help_of(const CLI::App& command, const std::string& call);

/// Why a command line cannot be read.
struct Refusal {
  std::string message;
  std::string hint;  ///< What may have been meant; empty: nothing is near.
};

/// @param command the one that was called, or the program
/// @param arguments behind the name of the command
Refusal refusal_of(const CLI::App& command, const CLI::ParseError& error,
                   std::span<const std::string> arguments);

}  // namespace bench::options
