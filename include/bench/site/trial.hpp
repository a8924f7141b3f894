#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include <bench/batch/partition.hpp>
#include <bench/doctor/checks.hpp>
#include <bench/platform/platform.hpp>

namespace bench::site {

/// Partitions of a platform's batch system: those with these names; without names all that it lists
/// and that take jobs, or the platform's own where it lists none.
/// @throws Error if the platform has no batch system, or this does not answer
std::vector<batch::Partition> partitions_of(const platform::Platform& platform,
                                            const std::vector<std::string>& names);

struct TrialSettings {
  std::vector<std::string> bench;  ///< The program that runs benchmarks.
  std::string platform;            ///< Name or file.
  double timeout_s = 300;          ///< For all jobs together.
  std::filesystem::path directory = ".";
  const std::atomic<bool>& interrupted;  ///< Ends the trial early.
};

/// Runs a job of one minute at most in each partition, all at the same time: one task, which the
/// platform's launcher starts, with one GPU where the partition has GPUs. Jobs that have not ended
/// in time are cancelled, and all files removed.
/// @returns a finding for each partition, its name as the check's, in the order of `partitions`
std::vector<doctor::Finding> try_partitions(const platform::Platform& platform,
                                            const std::vector<batch::Partition>& partitions,
                                            const TrialSettings& settings);

}  // namespace bench::site
