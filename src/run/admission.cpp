#include "admission.hpp"

#include "allocation_slots.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/run/state_store.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/prepare.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {

using workspace::Workpackage;

std::vector<long long> Admission::claim() {
  std::vector<long long> claimed;
  int at_once = std::numeric_limits<int>::max();
  std::size_t here = 0;
  for (long long id = store_.queues().front(); id >= 0; id = store_.queues().front()) {
    const Workpackage& workpackage = store_.at(id);
    if (allocation_.runs(workpackage)) {
      const auto room = allocation_.take(id, request_of(workpackage));
      if (room == AllocationSlots::Room::full)
        break;
      if (room == AllocationSlots::Room::no_time) {
        store_.defer(id);
        continue;
      }
    } else {
      at_once = std::min(at_once, store_.concurrent_beside(workpackage));
      if (local_.free_slots(at_once) <= here++)
        break;
    }
    store_.apply(store::claim_of(workpackage));
    claimed.push_back(id);
  }
  return claimed;
}

void Admission::count_running() {
  for (const Workpackage& workpackage : store_.all())
    if (workpackage.state == workspace::State::running && allocation_.runs(workpackage))
      allocation_.take(workpackage.id, request_of(workpackage));
}

/// Nothing for a request that is wrong: the start of its workpackage fails with the reason.
std::optional<job::JobRequest> Admission::request_of(const Workpackage& workpackage) {
  try {
    return job::job_request_of(*job::context_of(run_, store_.graph(), workpackage, evaluator_));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace bench::scheduler
