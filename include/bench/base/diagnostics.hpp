#pragma once

#include <functional>
#include <string>
#include <utility>
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
/// Where there is somebody to tell, each is told as it comes: an error that ends the reading may be
/// what it warns of.
class Diagnostics {
 public:
  explicit Diagnostics(bool strict = false, std::function<void(const Warning&)> tell = {})
      : strict_(strict), tell_(std::move(tell)) {}

  /// @throws Error in strict mode
  void warn(std::string message, std::string hint, Place place);

  const std::vector<Warning>& warnings() const { return warnings_; }

 private:
  bool strict_;
  std::function<void(const Warning&)> tell_;
  std::vector<Warning> warnings_;
};

}  // namespace bench
