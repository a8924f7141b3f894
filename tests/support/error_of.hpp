#pragma once

#include <string>

#include <bench/base/diagnostics.hpp>
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

/// `in.yaml:1:5: unknown-key`: the place and kind of a fault, without its message.
inline std::string fault(Id id, const Place& place) {
  const std::string text = text_of(place);
  return text + (text.empty() ? "" : ": ") + std::string(name_of(id));
}

inline std::string fault(const Warning& warning) {
  return fault(warning.id, warning.place);
}

/// The fault that `action` throws.
template <class Action>
std::string fault_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return fault(error.id(), error.place());
  }
  return "(no error)";
}

}  // namespace bench::support
