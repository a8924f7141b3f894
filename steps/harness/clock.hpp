#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>
#include <memory>

namespace bench::steps {

/// A device's time line. A mark may be taken while the device still works; its time is known when
/// the device has reached it.
class Clock {
 public:
  using Mark = std::uint64_t;  ///< Marks are numbered from 0 on.

  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  virtual Mark mark() = 0;
  /// Returns when the device has reached all marks.
  virtual void wait() = 0;
  virtual bool has_reached(Mark mark) const = 0;
  /// The time of the oldest mark that was not taken yet, in seconds since an origin that stays the
  /// same. The device must have reached it.
  virtual double take_oldest() = 0;
};

/// The steady clock of the host on the CPU, events of the current stream on a GPU.
std::unique_ptr<Clock> make_clock(const torch::Device& device);

}  // namespace bench::steps
