#pragma once

#include <cstddef>
#include <string>

#include <bench/workspace/workpackage.hpp>

namespace bench::cli {

/// Where the workpackages of a step are: `train: 9 of 60 done, 1 failed, 2 running, 48 pending,
/// about 3 min 20 s left`, without what there is none of. Where that is wider than `columns`, what
/// pends and runs is left out, then the middle of the name; what has failed and the time stay.
/// @param left the time, or empty
std::string progress_line(const std::string& name, const workspace::StepCounts& counts,
                          const std::string& left, std::size_t columns);

}  // namespace bench::cli
