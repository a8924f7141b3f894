#include "ap5/report.hpp"

#include "ap5/cost.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/report.hpp"

#include <cstdint>

namespace bench::ap5 {

steps::ReportedWork reported_work(const WganCost& cost, std::int64_t global_batch) {
  return {.global_batch = global_batch,
          .flops_per_sample = static_cast<double>(cost.training_flops_per_sample()),
          .bytes_per_sample = static_cast<double>(cost.step_bytes_per_sample())};
}

void log_losses(const steps::Loop& loop) {
  if (loop.results().empty())
    return;
  steps::log_value("final_critic_loss", loop.results().back().observed[0]);
  steps::log_value("first_reconstruction_loss", loop.results().front().observed[1]);
  steps::log_value("final_reconstruction_loss", loop.results().back().observed[1]);
}

}  // namespace bench::ap5
