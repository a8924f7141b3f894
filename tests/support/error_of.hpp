#pragma once

#include <string>

#include <bench/base/error.hpp>

namespace bench::support {

/// What a user would see of the error that `action` throws.
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return render(error);
  }
  return "(no error)";
}

}  // namespace bench::support
