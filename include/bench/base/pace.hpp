#pragma once

#include <optional>

namespace bench {

/// How fast things of one kind end that go on side by side, and from that, how long the others
/// will take. Told at any times, in order; pure but for what it has been told.
///
/// What one takes is the time spent on all of them up to the last end, over those that have ended
/// (Little's law), but no more than has passed: before as many have ended as began together, the
/// others are nearly done, too. Nothing that comes between two ends changes it, so that the
/// estimate counts down there.
class Pace {
 public:
  /// @param now_s on any steady clock
  /// @param ended how many have ended by now; those of the first call took nobody knows how long
  /// @param going how many go on from now
  void note(double now_s, long long ended, long long going);

  /// Seconds from `now_s` until as many more have ended; none as long as nothing tells.
  std::optional<double> left_s(double now_s, long long left) const;

 private:
  bool told_ = false;
  long long ended_before_ = 0;
  long long ended_ = 0;
  long long going_ = 0;
  double at_s_ = 0;
  std::optional<double> begun_s_;  ///< When the first one was seen to go on.
  double spent_s_ = 0;             ///< On all together.
  double last_end_s_ = 0;
  double spent_at_last_end_s_ = 0;
};

}  // namespace bench
