#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include <bench/insight/doctor.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>

namespace bench::insight {

/// The named partitions of a platform's batch system. Without names: all that accept jobs, or the
/// platform's own if the batch system lists none.
/// @throws Error if the platform has no batch system, or the batch system does not answer
std::vector<machine::Partition> partitions_of(const machine::Platform& platform,
                                              const std::vector<std::string>& names);

struct TrialSettings {
  std::vector<std::string> bench;  ///< The program that runs benchmarks.
  std::string platform;            ///< Name or file.
  double timeout_s = 300;          ///< For all jobs together.
  std::filesystem::path directory = ".";
  const std::atomic<bool>& interrupted;  ///< Ends the trial early.
};

/// Runs a job of at most one minute in each partition, all at the same time: one task started by
/// the platform's launcher, with one GPU if the partition has GPUs. Cancels jobs that do not end in
/// time, and removes all files.
/// @returns a finding for each partition, its name as the check's, in the order of `partitions`
std::vector<CheckResult> try_partitions(const machine::Platform& platform,
                                        const std::vector<machine::Partition>& partitions,
                                        const TrialSettings& settings);

}  // namespace bench::insight
