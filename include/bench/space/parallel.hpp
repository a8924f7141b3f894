#pragma once

#include <optional>

#include <bench/space/run.hpp>

namespace bench::setup {

/// Lets `number` workpackages of a run run here at a time, as far as their steps allow.
/// @param number 0: as many as there are cores
/// @throws Error for a negative number
void set_parallel(int number, Run& run);

/// How many workpackages of a run may run here at a time; none where `-j` was not given.
std::optional<int> parallel_of(const Run& run);

}  // namespace bench::setup
