#include "outage_watch.hpp"

#include <string>
#include <utility>

#include <fmt/core.h>

#include <bench/base/outage.hpp>
#include <bench/base/time.hpp>

namespace bench::scheduler {

bool OutageWatch::try_again(const std::string& reason) {
  if (!outage_.try_again())
    return false;
  tell(reason);
  return true;
}

void OutageWatch::end() {
  outage_.end();
  given_up_ = 0;
  told_ = false;
}

void OutageWatch::tell(const std::string& reason) {
  if (!std::exchange(told_, true))
    observer_.notice(
        fmt::format("{}; bench tries again for {}", reason, human_duration(outage_patience_s())));
}

}  // namespace bench::scheduler
