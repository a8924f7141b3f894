#pragma once

#include <bench/setup/run.hpp>
#include <bench/store/state_store.hpp>

namespace bench::sweep {

/// Whether everything that can run on this machine has ended. What is decided then gets the same
/// ids however many ran at a time.
bool is_round_over(const setup::Run& run, const store::StateStore& store);

}  // namespace bench::sweep
