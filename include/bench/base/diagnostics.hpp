#pragma once

#include <string>
#include <vector>

#include <bench/base/error.hpp>

namespace bench {

/// A finding that does not stop the work.
struct Warning {
  std::string message;
  std::string hint;
  Place place;

  bool operator==(const Warning&) const = default;
};

/// Collects warnings while input is read, so that one run shows all of them. The same warning
/// (message and place) is kept once. With `strict` the first one is thrown as an error instead.
class Diagnostics {
 public:
  explicit Diagnostics(bool strict = false) : strict_(strict) {}

  /// @throws Error in strict mode
  void warn(std::string message, std::string hint, Place place);

  const std::vector<Warning>& warnings() const { return warnings_; }

 private:
  bool strict_;
  std::vector<Warning> warnings_;
};

}  // namespace bench
