#pragma once

#include "harness/cost.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace bench::steps {

/// What the report of a program needs to know of its work.
struct ReportedWork {
  std::int64_t global_batch = 1;  ///< Samples of a step on all ranks.
  double flops_per_sample = 0;    ///< Of a training step; 0: unknown.
  double bytes_per_sample = 0;    ///< Read by a training step; 0: unknown.
  std::string unit = "samples";   ///< Of the field: `images`, `tokens`.
  double units_per_sample = 1;    ///< Tokens of a sequence, for example.
};

/// The work of a network that a `Cost` describes.
ReportedWork reported_work(const Cost& cost, std::int64_t global_batch,
                           const std::string& unit = "samples");

/// Prints the measured times, rates and losses of a loop that has ended, and writes the files:
///
///     measured_steps, epoch_s (with several epochs first, min, mean, max of the whole ones, and
///     epoch_1_s, ...), time_per_step_..., io_..., forward_..., ... _min_s, _mean_s, _median_s,
///     _max_s, _std_s, first_step_s, samples_per_second, samples_per_second_per_device, the same in
///     the field's unit, tflops_per_device, mfu_percent (with --peak-tflops), megabytes_per_second,
///     first_loss, final_loss
/// @returns samples per second; 0 if nothing was measured
double report_measured(Session& session, const Loop& loop, const ReportedWork& work);

/// Parts of it: the epochs' times if there are several, and the rates.
/// @param whole_epochs the first ones; one that was cut short after them does not count
void log_epochs(const Timers& timers, std::int64_t whole_epochs);
void log_rates(Session& session, const ReportedWork& work, double samples_per_second);

/// Prints peak memory, total runtime and `result=`. Returns the exit code.
int report_outcome(Session& session, const Loop& loop);
/// The same of work that cannot diverge.
/// @param interrupted a signal has ended it
int report_outcome(Session& session, bool interrupted);

}  // namespace bench::steps
