#include "journal.hpp"

#include <chrono>
#include <thread>

#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>
#include <bench/workspace/event.hpp>

namespace bench::scheduler {

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

}  // namespace bench::scheduler
