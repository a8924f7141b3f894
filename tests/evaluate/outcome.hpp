#pragma once

#include <ostream>
#include <string>

#include <bench/evaluate/evaluator.hpp>

namespace bench::evaluate {

inline Outcome value(const std::string& text) {
  return {.ok = true, .value = text, .error = ""};
}

inline Outcome error(const std::string& text) {
  return {.ok = false, .value = "", .error = text};
}

inline void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << (outcome.ok ? "value: " + outcome.value : "error: " + outcome.error).substr(0, 300);
}

}  // namespace bench::evaluate
