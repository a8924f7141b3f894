#include "atmorep/report.hpp"

#include "atmorep/sizes.hpp"
#include "harness/cost.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <numeric>

namespace bench::atmorep {
namespace {

double mean_observed(const steps::StepResult& step) {
  return std::accumulate(step.observed.begin(), step.observed.end(), 0.0) /
         static_cast<double>(step.observed.size());
}

}  // namespace

void report_training(steps::Session& session, const steps::Loop& loop, const Sizes& sizes,
                     const steps::Cost& cost, std::int64_t global_batch) {
  steps::ReportedWork work = steps::reported_work(cost, global_batch, "tokens");
  work.units_per_sample = static_cast<double>(sizes.field_count() * sizes.field_tokens());
  steps::report_measured(session, loop, work);
  if (loop.results().empty())
    return;
  steps::log_value("first_squared_error", mean_observed(loop.results().front()));
  steps::log_value("final_squared_error", mean_observed(loop.results().back()));
}

}  // namespace bench::atmorep
