#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

namespace bench::scheduler {

/// When workpackages go to the batch system. They collect while others are still being prepared
/// here, so that they go out as few submissions, but do not wait for long; and after a submission
/// that did not reach the batch system the next one comes later and later.
class SubmissionTiming {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SubmissionTiming(std::function<Clock::time_point()> now = Clock::now)
      : now_(std::move(now)) {}

  /// Whether to submit now.
  /// @param ready workpackages, at least one
  /// @param others_coming commands run here after which more may be ready
  bool is_due(std::size_t ready, bool others_coming);
  void succeeded() { pause_ = first_pause; }
  void failed();

  static constexpr std::size_t many = 1000;  ///< They need not wait for more.
  static constexpr std::chrono::seconds longest_collection{10};
  static constexpr std::chrono::seconds first_pause{2};
  static constexpr std::chrono::seconds longest_pause{300};

 private:
  std::function<Clock::time_point()> now_;
  bool collecting_ = false;
  Clock::time_point collecting_since_{};
  Clock::time_point not_before_{};
  std::chrono::seconds pause_ = first_pause;
};

}  // namespace bench::scheduler
