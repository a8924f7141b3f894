#pragma once

#include <bench/run/observer.hpp>
#include <bench/run/state_store.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>

namespace bench::scheduler {

/// Publishes an event that the store has applied: to the observer, and in the directory of the
/// workpackage.
void announce(const workspace::Event& event, const setup::Run& run, const store::StateStore& store,
              Observer& observer);

}  // namespace bench::scheduler
