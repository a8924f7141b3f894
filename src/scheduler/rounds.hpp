#pragma once

#include <bench/model/benchmark.hpp>
#include <bench/setup/run.hpp>
#include <bench/store/state_store.hpp>

namespace bench::scheduler {

/// Whether workpackages of the step are jobs of a batch system.
bool is_scheduled(const setup::Run& run, const model::Step& step);

/// Whether everything that can run on this machine has ended. What is decided then gets the same
/// ids however many ran at a time.
bool is_round_over(const setup::Run& run, const store::StateStore& store);

}  // namespace bench::scheduler
