#pragma once

#include <bench/batch/systems.hpp>

namespace bench::batch {

// The rows of the table, each defined in the file of its system.
extern const SystemKind slurm;
extern const SystemKind flux;
extern const SystemKind pbs;
extern const SystemKind lsf;
extern const SystemKind pjm;
extern const SystemKind uge;
extern const SystemKind cobalt;
extern const SystemKind other;

}  // namespace bench::batch
