#pragma once

#include <string>
#include <vector>

#include <bench/space/run.hpp>

namespace bench::crate {

/// A property of the environment that may affect measurements.
struct EnvironmentItem {
  std::string name;
  std::string value;          ///< Empty if unknown.
  std::string absent_reason;  ///< Why it is unknown.
};

/// In the order of the list in docs/reference/export.md.
std::vector<EnvironmentItem> environment_of(const space::Run& run);

/// As a JSON object of objects with `value` or `absent`.
std::string environment_json(const std::vector<EnvironmentItem>& items);

}  // namespace bench::crate
