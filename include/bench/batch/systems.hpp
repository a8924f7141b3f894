#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <bench/batch/batch_system.hpp>
#include <bench/batch/command_table.hpp>

namespace bench::batch {

/// What a batch system can do, as far as scripts and their submission depend on it.
struct Capabilities {
  bool queues_jobs = false;  ///< Jobs wait in its own queue; without one they run here.
  bool keeps_comments =
      false;                   ///< bench recognises a job by the UUID in its comment, not its name.
  bool has_job_steps = false;  ///< Programs side by side in a job have cores and GPUs of their own.
  bool limits_running = false;    ///< Lets only that many of the submitted jobs run at once.
  bool expands_patterns = false;  ///< `%j` and the like in the names of a script's output files.
  std::string_view step_launcher = {};  ///< Starts a program as a job step.
};

/// Variables of the user's from which the program that submits takes a setting; null: none.
struct SubmitVariables {
  const char* partition = nullptr;
  const char* account = nullptr;
  const char* qos = nullptr;
  const char* reservation = nullptr;
};

/// What a platform says that its batch system needs to know.
struct SystemOptions {
  std::string directives;  ///< More lines for the head of a job script.
  CommandTable commands;   ///< Of a system that is spoken to by commands.
};

/// A batch system as platform files name it. Everybody who needs to know how systems differ asks
/// this row.
struct SystemKind {
  std::string_view name;
  Capabilities capabilities = {};
  std::unique_ptr<BatchSystem> (*make)(const SystemOptions& options) = nullptr;
  bool needs_commands = false;         ///< It is spoken to by the commands of the platform file.
  const char* job_variable = nullptr;  ///< The environment of its jobs has it, and no other.
  /// The names of the variables that describe a job begin so; null: they share no beginning.
  const char* job_prefix = nullptr;
  /// What its program prints that submits a job, as a regular expression with a group for the id;
  /// null: not known.
  const char* submit_message = nullptr;
  SubmitVariables submit_variables = {};
  /// Variables of one of its jobs, or of its programs, that would change what its programs do.
  bool (*misleads)(std::string_view variable) = nullptr;
};

/// All of them.
const std::vector<const SystemKind*>& system_kinds();
/// Null for an unknown name.
const SystemKind* find_system(std::string_view name);
/// The names that a platform file may have in `scheduler`.
std::vector<std::string> system_names();

/// The ids of the jobs that programs of batch systems say they have submitted, in a text that
/// commands printed; in order.
std::vector<std::string> submitted_ids(const std::string& printed);

}  // namespace bench::batch
