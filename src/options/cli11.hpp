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

/// The help and the errors of every program whose command line CLI11 reads. The step programs
/// contain these files, too.
namespace bench::options {

/// `-i`, `--id`: with their dashes, the short ones first.
std::vector<std::string> names_of(const CLI::Option& option);

/// The words that an option takes; empty: any.
std::vector<std::string> values_of(const CLI::Option& option);

/// Makes the help of the program or of one of its commands.
/// @param call `bench run`
Help help_of(const CLI::App& command, const std::string& call);

/// The reason that a command line cannot be read.
struct Refusal {
  std::string message;
  std::string hint;  ///< Suggests the word that was meant; empty if no known word is near.
};

/// @param command the one that was called, or the program
/// @param arguments after the name of the command
Refusal refusal_of(const CLI::App& command, const CLI::ParseError& error,
                   std::span<const std::string> arguments);

}  // namespace bench::options
