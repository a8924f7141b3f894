#pragma once

#include <string>
#include <vector>

namespace bench::cli {

/// What a completion offers behind an option that takes a value.
struct OptionValue {
  enum class Kind { nothing, file, directory, run_id, word };
  std::vector<std::string> names;  ///< Of the option, with their dashes.
  Kind kind = Kind::nothing;
  std::vector<std::string> words;  ///< Where that is what is offered.
};

/// What a completion offers for one command.
struct Completion {
  std::string command;
  std::string summary;
  std::vector<std::string> options;  ///< Short and long ones, with their dashes.
  std::vector<OptionValue> values;
  enum class Place { none, file, directory } place = Place::none;
  std::vector<std::string> words = {};  ///< Offered beside files or directories.
};

/// The script of a shell that completes the command `program`.
std::string bash_completion(const std::vector<Completion>& completions, const std::string& program);
std::string zsh_completion(const std::vector<Completion>& completions, const std::string& program);
std::string fish_completion(const std::vector<Completion>& completions, const std::string& program);

}  // namespace bench::cli
