#include "announce.hpp"

#include <variant>

#include <bench/run/observer.hpp>
#include <bench/run/state_store.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {

using workspace::State;
using workspace::Workpackage;

void announce(const workspace::Event& event, const setup::Run& run, const store::StateStore& store,
              Observer& observer) {
  if (const auto* added = store::added_by(event)) {
    for (const Workpackage& child : *added)
      if (child.state == State::failed)
        observer.failed(child);
  } else if (const auto* ended = std::get_if<workspace::Ended>(&event)) {
    const Workpackage& workpackage = store.at(ended->workpackage);
    const bool success = workpackage.state == State::done;
    job::write_marker(run, workpackage, success, ended->attempt.reason);
    if (!success)
      observer.failed(workpackage);
  } else if (const auto* retried = std::get_if<workspace::Retried>(&event)) {
    observer.repeated(store.at(retried->workpackage), retried->attempt.reason);
  }
}

}  // namespace bench::scheduler
