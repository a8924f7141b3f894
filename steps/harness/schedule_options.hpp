#pragma once

#include "harness/rate_schedule.hpp"

#include <string>

namespace CLI {
class App;
}

namespace bench::steps {

/// Adds `--learning-rate`, `--lr-schedule` and what belongs to the shapes: `--lr-warmup`,
/// `--lr-first`, `--lr-milestones`, `--lr-factor`, `--lr-decay`, `--lr-end` and `--lr-power`.
/// @param schedule holds the defaults, and afterwards what the user wrote
/// @param unit of its progress, in the plural: epochs, samples
void add_schedule_options(CLI::App& app, RateSchedule& schedule, const std::string& unit);

/// Checks the options of `add_schedule_options`, once the command line was read.
/// @throws UsageError if they contradict each other
void check_schedule_options(const CLI::App& app, const RateSchedule& schedule);

}  // namespace bench::steps
