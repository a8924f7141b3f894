#pragma once

#include "harness/clock.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <memory>
#include <type_traits>

namespace bench::ap6 {

/// Times a part of a step that is not one of the harness's regions.
class PartTimer {
 public:
  explicit PartTimer(const torch::Device& device) : clock_(steps::make_clock(device)) {}

  /// Calls `work`, and returns what it returns.
  template <typename Work>
  auto timed(const Work& work) {
    ++parts_;
    clock_->mark();
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      clock_->mark();
    } else {
      auto result = work();
      clock_->mark();
      return result;
    }
  }

  /// Mean time of the parts since the last call, in seconds; 0 if there were none. Waits for the
  /// device.
  double take_mean_s();

 private:
  std::unique_ptr<steps::Clock> clock_;
  std::int64_t parts_ = 0;
};

}  // namespace bench::ap6
