#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>

namespace bench {

/// A finding that does not stop the work: a likely mistake or, as a note, what the user should know
/// of a file that is right.
struct Warning {
  std::string message;
  std::string hint;
  Place place;
  bool is_note = false;

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
  /// As `warn`, and never an error.
  void note(std::string message, std::string hint, Place place);

  const std::vector<Warning>& warnings() const { return warnings_; }
  const std::vector<Warning>& notes() const { return notes_; }

 private:
  bool strict_;
  std::function<void(const Warning&)> tell_;
  void keep(Warning warning, std::vector<Warning>& kept);

  std::vector<Warning> warnings_;
  std::vector<Warning> notes_;
};

}  // namespace bench
