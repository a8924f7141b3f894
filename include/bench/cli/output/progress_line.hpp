#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bench/workspace/workpackage.hpp>

namespace bench::cli {

/// The progress of a step: `train: 9 of 60 done, 1 failed, 2 running, 48 ready, about 3 min 20 s
/// left`. A line wider than `columns` loses its states from `ready` to `running`, then the middle
/// of the name.
/// @param left the time, or empty
std::string progress_line(const std::string& name, const workspace::StepCounts& counts,
                          const std::string& left, std::size_t columns);

/// The progress of all steps: `total: 48 ready, 2 running, elapsed 1 min 05 s, 9 of 60 done, 1
/// failed, 3 min 20 s left`, without what there is none of. Where that is wider than `columns`,
/// parts are left out from the left: what has failed and the time left stay longest.
/// @param elapsed, left times, or empty
/// @param fd descriptor whose colours the line has
std::string overall_line(const workspace::StepCounts& sum, const std::string& elapsed,
                         const std::string& left, std::size_t columns, int fd);

/// What is said at the end of a run on a terminal: `16 of 18 done, 2 failed in 1 min 05 s; why:
/// bench why runs/000003 7`.
/// @param why the command that explains the first failure; empty: there is none
std::string run_summary(const workspace::StepCounts& sum, double elapsed_s, const std::string& why,
                        int fd);

}  // namespace bench::cli
