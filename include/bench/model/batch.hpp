#pragma once

#include <string>
#include <vector>

#include <bench/base/error.hpp>

namespace bench::model {

/// A text that is handed on to the batch system, and may hold parameters.
struct JobSetting {
  std::string name;  ///< One of `language::job_settings`; empty: a further option.
  std::string text;
  Place place;
};

/// The resources and settings that a batch step requests. They are texts, since they may hold
/// parameters; empty: not given.
struct Batch {
  std::string nodes = "1";
  std::string tasks_per_node = "1";
  std::string threads_per_task;
  std::string gpus_per_node;
  std::string time_limit;
  std::string job_template;  ///< Name or path of another job template than the platform's.
  bool array = true;  ///< Workpackages that ask for the same go to the batch system as one array.
  std::string pack = "1";        ///< How many workpackages share a job.
  bool kill_on_bad_exit = true;  ///< A task that fails ends the others of its program.
  /// Workpackages that ask for equally many nodes get the same ones.
  bool same_nodes = false;
  std::vector<JobSetting> settings;  ///< Those that are given, in the order of the table.
  std::vector<JobSetting> options;   ///< In the order of the file.
  Place place;

  /// Whether a job may run more than one workpackage.
  bool may_pack() const { return pack != "1"; }
  /// Null if it is not given.
  const JobSetting* setting(const std::string& wanted) const;
};

/// The longest run time of a job.
/// @throws Error if it is not a duration, or a number without a unit: minutes to Slurm
double parse_time_limit_s(const std::string& text, const Place& place);

}  // namespace bench::model
