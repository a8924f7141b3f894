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

/// `in.yaml:1:5: unknown-key`: which fault is told, and where, whatever its words are.
inline std::string fault(Id id, const Place& place) {
  std::string text(place.file);
  for (const int number : {place.line, place.column})
    if (number > 0)
      text += ":" + std::to_string(number);
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
