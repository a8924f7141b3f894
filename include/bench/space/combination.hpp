#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::space {

/// A parameter and the value it has in one combination.
struct Assignment {
  const model::Parameter* definition;  ///< Lives in the benchmark.
  std::string value;
  /// The text names a `$jube_wp_...` variable, so the value waits for `resolve_late`.
  bool late = false;
};

/// One point of a step's parameter space: its own parameters in order of the step's `use` and of
/// their definition, then those inherited from the parents.
struct Combination {
  std::size_t origin = 0;  ///< Index of the origin that it grew from.
  std::vector<Assignment> assignments;
  /// The step's `active` names a variable of the workpackage: see `is_active`.
  bool active_is_late = false;
  /// The error that keeps it from becoming a workpackage: a script fails, or a value does not fit
  /// its type. Values that are unknown because of it are late.
  std::shared_ptr<const Error> invalid = nullptr;

  /// The value of a parameter, or null; a late one has none yet.
  const std::string* find(std::string_view name) const;
};

/// What a step's parameters are expanded on top of: nothing for a first step, else one compatible
/// set of parents.
struct Origin {
  std::vector<Assignment> inherited;
};

/// Values that parameters of a step take in place of what their definitions say, by name. They are
/// taken as they are: nothing in them is substituted or split.
using FixedValues = std::map<std::string, std::string, std::less<>>;

/// The fate of a combination that has an invalid value.
enum class Invalid {
  refused,  ///< The error is thrown.
  kept      ///< The combination has it, and the others are expanded.
};

/// The error for a value that does not fit the parameter's type; null if it fits.
std::shared_ptr<const Error> type_error(const model::Parameter& parameter,
                                        const std::string& value);

struct Limits {
  std::size_t combinations = 1'000'000;  ///< More are refused.
};

}  // namespace bench::space
