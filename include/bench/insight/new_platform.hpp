#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include <bench/insight/doctor.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>

namespace bench::insight {

/// A fact about a machine and the program that reported it.
struct Fact {
  std::string value;
  std::string source;
  bool guessed = false;  ///< Not observed on the compute nodes, or inferred from common practice.

  bool is_known() const { return !value.empty(); }
};

/// Everything that one node reveals about a machine.
struct Survey {
  bool has_slurm = false;  ///< Otherwise only the node is described.
  std::string cluster;
  std::string host;  ///< The node on which the survey ran.
  Fact partition;
  Fact gpu_request;  ///< A value of `gpu_request`.
  Fact gpu_type;
  Fact nodes;
  Fact devices_per_node;
  Fact sockets;
  Fact cores_per_node;
  Fact threads_per_core;
  Fact numa_domains;
  Fact memory_gb;
  Fact processor;
  Fact accelerator;
  bool is_nvidia = false;  ///< `accelerator`, as nvidia-smi says.
  Fact accelerator_memory_gb;
  Fact power_limit_w;
  std::vector<std::string> accounts;
  std::vector<std::string> notes;
};

/// Queries scontrol and sinfo if Slurm is installed, lscpu, nvidia-smi and rocm-smi, for at most 5
/// s each.
/// @param partition empty: the default one
/// @param node_only ignores Slurm
/// @throws Error if Slurm does not answer, or has no such partition
Survey survey(const std::string& partition, bool node_only = false);

/// A platform file with all known facts and their sources. Guesses are `unconfirmed` and have a
/// comment.
std::string platform_file(const std::string& name, const Survey& survey);

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
