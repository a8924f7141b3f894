#pragma once

#include <memory>
#include <string>
#include <vector>

#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::batch {

/// The absence of a batch system.
std::unique_ptr<BatchSystem> make_no_system(const SystemOptions& options);

/// `0-9`, or `0-9%2` with a limit on those that run at a time, as Slurm and PBS take it.
std::string plain_range(int first, int last, int limit);
/// `afterok:11,afterany:12:13`, as Slurm and PBS take it.
std::string after_jobs(const Dependency& dependency);

// The rows of the table, each defined in the file of its system.
extern const SystemKind slurm;
extern const SystemKind slurm_allocation;
extern const SystemKind flux;
extern const SystemKind pbs;
extern const SystemKind lsf;
extern const SystemKind pjm;
extern const SystemKind uge;
extern const SystemKind cobalt;
extern const SystemKind other;

}  // namespace bench::batch
