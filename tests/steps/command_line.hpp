#pragma once

#include "harness/errors.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace bench::steps {

/// Calls `work` with the arguments, divided by blanks, as `main` gets them.
template <typename Work>
auto with_arguments(const std::string& arguments, const Work& work) {
  std::vector<std::string> words{"program"};
  std::istringstream stream(arguments);
  for (std::string word; stream >> word;)
    words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  return work(static_cast<int>(argv.size()), argv.data());
}

/// The error that `action` throws, with its hint.
template <typename Action>
std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const HintedError& error) {
    return error.what() + ("\nhint: " + error.hint());
  }
  return "nothing refused";
}

}  // namespace bench::steps
