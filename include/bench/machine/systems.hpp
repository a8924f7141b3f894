#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/machine/batch_system.hpp>

namespace bench::machine {

/// What a batch system can do, as far as scripts and their submission depend on it.
struct Capabilities {
  bool queues_jobs = false;  ///< Jobs wait in its own queue; without one they run here.
  bool keeps_comments =
      false;                   ///< bench recognises a job by the UUID in its comment, not its name.
  bool has_job_steps = false;  ///< Programs side by side in a job have cores and GPUs of their own.
  bool limits_running = false;    ///< Lets only that many of the submitted jobs run at once.
  bool expands_patterns = false;  ///< `%j` and the like in the names of a script's output files.
  bool fills_allocation =
      false;  ///< Scripts run as job steps of the job that bench itself runs in.
  std::string_view step_launcher = {};  ///< Starts a program as a job step.
};

/// Variables of the user's from which the program that submits takes a setting; null: none.
struct SubmitVariables {
  const char* partition = nullptr;
  const char* account = nullptr;
  const char* qos = nullptr;
  const char* reservation = nullptr;
};

/// What a job waits for, as ids of jobs.
struct Dependency {
  std::vector<std::string> ended;      ///< However they end.
  std::vector<std::string> succeeded;  ///< With exit code 0; it never begins if one does not.

  bool empty() const { return ended.empty() && succeeded.empty(); }
};

/// How a batch system has arrays: jobs of one script that are told apart by a number.
struct ArrayKind {
  int first = 0;  ///< Number of the first task.
  /// Shell text for the line of a list that belongs to a task, counted from 1; also outside of an
  /// array.
  std::string_view line = "1";
  int most = 1;  ///< Tasks of an array, unless the batch system or the platform says otherwise.
  /// The tasks as its directive takes them, `0-9%2`. A limit of 0 is none. Null: it has no arrays.
  std::string (*range)(int first, int last, int limit) = nullptr;
  /// A dependency, which is not empty, as its directive takes it. Null: it has none.
  std::string (*after)(const Dependency& dependency) = nullptr;
  bool tasks_are_awaitable = true;  ///< A job can wait for one task of an array.
};

/// How to speak to a batch system that bench does not know. Commands are run by the shell;
/// `{{script}}`, `{{id}}` and `{{name}}` are replaced, quoted for the shell.
struct Commands {
  std::string submit;
  std::string id_pattern;  ///< Regular expression over what submit prints; group 1 is the job's id.
  std::string poll;        ///< Lists this user's jobs, one line each.
  /// Regular expression over each line of `poll`: groups `id` and `state`, and `name` if shown.
  std::string line_pattern;
  std::string cancel;  ///< One call for each job.
  /// What the batch system's states mean: `pending`, `running`, `done`, `failed`, ...
  std::map<std::string, std::string> states;
};

/// What a platform says that its batch system needs to know.
struct SystemOptions {
  std::string name;        ///< Of a system that is spoken to by commands, for messages.
  std::string directives;  ///< More lines for the head of a job script.
  Commands commands;
  int most_of_array = 1;  ///< Tasks of an array; 1: the system has none.
};

/// A batch system as platform files name it. Everybody who needs to know how systems differ asks
/// this row.
struct SystemKind {
  std::string_view name;
  Capabilities capabilities = {};
  std::unique_ptr<BatchSystem> (*make)(const SystemOptions& options) = nullptr;
  ArrayKind arrays = {};
  bool needs_commands = false;         ///< It is spoken to by the commands of the platform file.
  const char* job_variable = nullptr;  ///< The environment of its jobs has it, and no other.
  /// The names of the variables that describe a job begin so; null: they share no beginning.
  const char* job_prefix = nullptr;
  /// Shell text for the nodes of a job, in the form that `nodelist` takes; empty: not known.
  std::string_view job_nodes = {};
  /// What its program prints that submits a job, as a regular expression with a group for the id;
  /// null: not known.
  const char* submit_message = nullptr;
  SubmitVariables submit_variables = {};
  /// The beginning of the lines in a job script that hold options: `#SBATCH`; empty: not known.
  std::string_view directive = {};
  /// Options that bench sets itself, in every form: others would break how it finds a job again,
  /// follows it or counts what it takes.
  std::span<const std::string_view> own_options = {};
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

/// The absence of a batch system.
std::unique_ptr<BatchSystem> make_no_system(const SystemOptions& options);

/// `0-9`, or `0-9%2` with a limit on those that run at a time, as Slurm and PBS take it.
std::string plain_range(int first, int last, int limit);
/// `afterok:11,afterany:12:13`, as Slurm and PBS take it.
std::string after_jobs(const Dependency& dependency);

// The rows of the table, each defined in the file of its system.
extern const SystemKind slurm_kind;
extern const SystemKind slurm_allocation_kind;
extern const SystemKind flux_kind;
extern const SystemKind pbs_kind;
extern const SystemKind lsf_kind;
extern const SystemKind pjm_kind;
extern const SystemKind uge_kind;
extern const SystemKind cobalt_kind;
extern const SystemKind other_kind;

// A job id as bench keeps it: `123`, `123_4` for a task of an array, and `;name` behind it where
// the job belongs to a cluster other than the user's own. Where users write it so, an array is
// `123[]` and its task `123[4]`.

/// The array that a task belongs to (`123;c` of `123_4;c`); any other id as it is.
std::string array_of(std::string_view id);
/// One task of an array: `123_4;c` of `123;c`.
std::string task_of(std::string_view array, int task);
/// `c` of `123_4;c`; empty for the user's own cluster.
std::string cluster_of(std::string_view id);
/// `123_4` of `123_4;c`.
std::string without_cluster(std::string_view id);
/// The reverse: `123_4` and `c` become `123_4;c`.
std::string with_cluster(std::string_view id, std::string_view cluster);

/// Sets the function that is called when a program of a batch system has not answered for 2 s. The
/// call comes from another thread, while the caller of the program waits.
void tell_slow_answers(std::function<void(const std::string& program)> tell);

/// How long a program of a batch system may take for an answer, from now on in this process; 60 s
/// unless this says otherwise.
void limit_answers(double seconds);

}  // namespace bench::machine
