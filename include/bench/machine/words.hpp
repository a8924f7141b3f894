#pragma once

#include <map>
#include <string>

#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>

namespace bench::platform {

/// How a platform file names the values of a setting.
template <class T>
using Words = std::map<std::string, T>;

const Words<Status>& status_words();
const Words<GpuRequest>& gpu_request_words();
const Words<Binding::Mode>& binding_words();

/// @returns the word for `value`; every value has one
template <class T>
std::string word_of(const Words<T>& words, T value) {
  for (const auto& [word, meaning] : words)
    if (meaning == value)
      return word;
  return "";
}

}  // namespace bench::platform
