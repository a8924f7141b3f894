#pragma once

#include "ap5/cost.hpp"
#include "harness/loop.hpp"
#include "harness/report.hpp"

#include <cstdint>

namespace bench::ap5 {

steps::ReportedWork reported_work(const WganCost& cost, std::int64_t global_batch);

/// Prints the losses beside that of the generator.
/// @param loop whose steps observed the critic's loss, then the reconstruction's
void log_losses(const steps::Loop& loop);

}  // namespace bench::ap5
