#pragma once

#include <bench/run/state_store.hpp>
#include <bench/space/run.hpp>

namespace bench::sweep {

/// Whether everything that can run on this machine has ended. Deciding then makes ids independent
/// of parallelism.
bool is_round_over(const setup::Run& run, const store::StateStore& store);

}  // namespace bench::sweep
