#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>

namespace bench::platform {

/// Who starts the job scripts of a platform.
enum class Scheduler {
  none,  ///< bench itself, here.
  slurm
};

/// How GPUs are asked for.
enum class GpuRequest {
  none,           ///< Not at all: whole nodes, or no GPUs.
  gres,           ///< `--gres=gpu:N`
  gpus_per_node,  ///< `--gpus-per-node=N`
};

/// A machine, or a kind of machine, that job scripts are written for.
struct Platform {
  std::string name;  ///< Also the tag that selects it.
  std::string description;
  Scheduler scheduler = Scheduler::none;
  std::string job_template;  ///< File name in `templates/`.
  GpuRequest gpu_request = GpuRequest::none;
  std::string partition;  ///< Empty: the scheduler's default.
  std::string account;
  std::string qos;
  std::vector<std::pair<std::string, std::string>> environment;  ///< Exported in the job script.
  std::filesystem::path file;
};

/// The directory that holds `platforms`, `templates` and `examples`: `$BENCH_DATA`, or beside the
/// installed program (`../share/bench`), or the source tree that it was built from.
/// @throws Error if there is none
std::filesystem::path data_directory();

/// The names of all platform files, sorted.
std::vector<std::string> platform_names();

/// Reads `platforms/<name>.yaml`. `$NAME` of the environment is expanded in `partition`, `account`
/// and `qos`; an unset one gives an empty text.
/// @throws Error with a did-you-mean if there is no such platform; with the place for an unknown
///         key or word in the file
Platform load_platform(const std::string& name);

}  // namespace bench::platform
