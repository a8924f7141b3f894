#pragma once

#include <bench/setup/run.hpp>
#include <bench/store/state_store.hpp>

namespace bench::sweep {

/// Whether everything that can run on this machine has ended. Deciding then makes ids independent
/// of parallelism.
bool is_round_over(const setup::Run& run, const store::StateStore& store);

}  // namespace bench::sweep
