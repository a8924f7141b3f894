#include "journal.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/time.hpp>
#include <bench/workspace/event.hpp>

namespace bench::run {

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

void Journal::write() {
  const workspace::Events events = store_.take_events();
  for (Outage outage;;)
    try {
      return workspace_.replay(events);
    } catch (const Error& error) {
      if (!is_fault_of_machine(error) || is_interrupted() || !outage.try_again())
        throw;
      outages_.tell(error.message());
      std::this_thread::sleep_for(std::chrono::duration<double>(outage.seconds_to_retry()));
    }
}

}  // namespace bench::run
