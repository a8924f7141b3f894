#include "submission_timing.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bench::scheduler {

bool SubmissionTiming::is_due(std::size_t ready, bool others_coming) {
  const Clock::time_point now = now_();
  if (now < not_before_)
    return false;
  if (!std::exchange(collecting_, true))
    collecting_since_ = now;
  if (others_coming && ready < many && now - collecting_since_ < longest_collection)
    return false;
  collecting_ = false;
  return true;
}

void SubmissionTiming::failed() {
  not_before_ = now_() + pause_;
  pause_ = std::min(pause_ * 2, longest_pause);
}

}  // namespace bench::scheduler
