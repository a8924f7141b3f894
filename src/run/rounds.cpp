#include "rounds.hpp"

#include <algorithm>

#include <bench/model/benchmark.hpp>
#include <bench/run/state_store.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::sweep {

bool is_round_over(const setup::Run& run, const store::StateStore& store) {
  return std::ranges::all_of(run.benchmark.steps, [&](const model::Step& step) {
    const workspace::StepCounts& counts = store.counts_of(step);
    return job::is_scheduled(run, step) || counts.ready + counts.running == 0;
  });
}

}  // namespace bench::sweep
