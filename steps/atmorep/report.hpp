#pragma once

#include "atmorep/sizes.hpp"
#include "harness/cost.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"

#include <cstdint>

namespace bench::atmorep {

/// Prints what `steps::report_measured` does, and `first_squared_error=` and
/// `final_squared_error=`: of the ensemble's mean, the one number that each pass observed.
void report_training(steps::Session& session, const steps::Loop& loop, const Sizes& sizes,
                     const steps::Cost& cost, std::int64_t global_batch);

}  // namespace bench::atmorep
