#pragma once

#include "harness/errors.hpp"

#include <string>

namespace bench::steps {

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
