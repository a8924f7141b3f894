#pragma once

#include <cstddef>
#include <optional>

namespace bench::energy {

/// Which device to look at besides its power: each once a second, one after the other, so that no
/// reading takes long. None in the first reading, for which the program waits.
class Turns {
 public:
  /// @param now_s on any steady clock
  /// @returns the number of a device, or nothing where none is due
  std::optional<std::size_t> next(double now_s, std::size_t devices) {
    constexpr double interval_s = 1;
    if (!due_s_ || now_s < *due_s_) {
      due_s_ = due_s_.value_or(now_s);
      return std::nullopt;
    }
    due_s_ = now_s + interval_s / static_cast<double>(devices);
    next_ = (next_ + 1) % devices;
    return next_;
  }

 private:
  std::optional<double> due_s_;
  std::size_t next_ = 0;
};

}  // namespace bench::energy
