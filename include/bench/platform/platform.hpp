#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/batch/systems.hpp>
#include <bench/platform/machine.hpp>

namespace bench::platform {

/// How GPUs are asked for.
enum class GpuRequest {
  none,           ///< Not at all: whole nodes, or no GPUs.
  gres,           ///< `--gres=gpu:N`, or `gpu:TYPE:N`.
  gpus_per_node,  ///< `--gpus-per-node=N`, or `TYPE:N`.
  gpus_per_task,  ///< `--gpus-per-task=N`: N is what the step asks per node over its tasks.
  constraint      ///< `--constraint=WORD`: nodes that have them, whole.
};

/// How tasks are bound to cores.
struct Binding {
  enum class Mode { none, cores, sockets, mask_cpu, map_cpu };
  Mode mode = Mode::none;
  /// Of mask_cpu and map_cpu: one per device, in the order of the devices.
  std::vector<std::string> per_device;
  bool needs_whole_node = false;  ///< The masks are wrong where others have cores of the node.
  std::string gpu_select;         ///< Variable that gives a task its devices; empty: none.
};

/// How a program is started on all tasks of a job.
struct Launcher {
  std::string command;    ///< For example `srun` or `jsrun`; empty: the program itself.
  std::string arguments;  ///< Always given, for example `--mpi=pspmix`.
  Binding binding;
};

/// How to speak to a batch system that bench does not know. Commands are run by the shell;
/// `{{script}}`, `{{id}}` and `{{name}}` are holes.
struct Commands {
  std::string submit;
  std::string id_pattern;  ///< Regular expression over what submit prints; group 1 is the job's id.
  std::string poll;        ///< Lists this user's jobs, one line each.
  /// Regular expression over each line of `poll`: groups `id` and `state`, and `name` if shown.
  std::string line_pattern;
  std::string cancel;
  /// What the batch system's states mean: `pending`, `running`, `done`, `failed`, ...
  std::map<std::string, std::string> states;
};

/// How the batch system is asked.
struct Polling {
  double interval_s = 15;        ///< Longest time between two questions while bench waits.
  int jobs_per_question = 5000;  ///< Ids in one question at most.
  double sentinel_grace_s = 5;   ///< How long a file may take to appear here.
  int max_array_size = 0;        ///< 0: as the scheduler says.
};

/// How the jobs of a platform are asked for: the settings that a user may give otherwise.
struct SubmissionDefaults {
  std::string partition;  ///< Empty: the scheduler's default.
  std::string account;
  std::string qos;
  std::string reservation;
};

/// A machine, or a kind of machine, that job scripts are written for.
struct Platform {
  std::string name;               ///< Also a tag that selects it.
  std::vector<std::string> tags;  ///< Further ones.
  std::string extends;            ///< Name or file of the one that this is like; empty: none.
  std::string description;
  std::string site;
  Status status = Status::unknown;
  std::string scheduler = "none";  ///< One of batch::system_names().
  std::string job_template;        ///< File name in `templates/`.
  SubmissionDefaults asking;
  bool account_required = false;
  bool qos_required = false;
  GpuRequest gpu_request = GpuRequest::none;
  std::string gpu_type;  ///< Word in the GPU request; empty: none.
  /// Variable that lists the GPUs of a job, where its batch system does not set it; empty: none.
  std::string gpu_variable;
  std::string constraint;  ///< Word for `--constraint`; empty: none.
  std::string memory;      ///< For `--mem`; empty: the default.
  bool exclusive = false;  ///< Whole nodes are asked for.
  std::string hint;        ///< For `--hint`; empty: none.
  std::string directives;  ///< Further lines for the head of the job script.
  std::string prologue;    ///< Shell lines before the commands, for example `module load ...`.
  std::vector<std::pair<std::string, std::string>> environment;  ///< Exported in the job script.
  Launcher launcher;
  std::string container;  ///< What goes before a program that runs in a container; empty: unknown.
  std::string energy;     ///< Power sources, as `bench-energy --method` takes them.
  Commands commands;
  Polling polling;
  Machine machine;
  /// Keys of the settings above that nobody has confirmed, with what is known of them. A key is
  /// written with its groups, as in `launcher.binding.mode` or `environment.UCX_TLS`.
  std::map<std::string, std::string> unconfirmed;
  std::map<std::string, std::string> sources;  ///< The same of settings with a source.
  std::filesystem::path file;

  /// What `scheduler` is.
  const batch::SystemKind& system() const;
  const batch::Capabilities& capabilities() const { return system().capabilities; }
};

/// The shipped directory that holds `platforms`, `templates` and `examples`: beside the installed
/// program (`../share/bench`), or the source tree that it was built from.
/// @throws Error if there is none
std::filesystem::path data_directory();

/// Where `platforms` and `templates` are looked for, in this order: `beside` (the directory of the
/// input file), the user's (`$XDG_CONFIG_HOME/bench`, else `~/.config/bench`), the site's
/// (`$BENCH_DATA`, directories separated by `:`, and `/etc/bench`), the shipped one.
/// @throws Error for a directory of BENCH_DATA that does not exist
std::vector<std::filesystem::path> data_directories(const std::filesystem::path& beside = {});

/// The names of all platform files, sorted, each once.
std::vector<std::string> platform_names(const std::filesystem::path& beside = {});

/// The name of the platform that is called so or has this tag; empty if none is. A platform's own
/// name wins over another's tag. Looks into no file where the tag is a platform's name, else at one
/// line of each.
std::string platform_of_tag(const std::string& tag, const std::filesystem::path& beside = {});

/// Variables of the user's that the batch system would obey, and that do not decide here: by name,
/// with what does, as `SBATCH_PARTITION` and `partition gpu`.
std::vector<std::pair<std::string, std::string>> idle_variables(const Platform& platform);

/// Whether a platform is named by its file (`./fox.yaml`), not by its name.
bool is_platform_file(const std::string& name);

/// Reads a platform file: one that is named by its path, else `NAME.yaml` in `beside` or the first
/// `platforms/NAME.yaml` of `data_directories`. What it does not say is as in the platform that it
/// `extends`, if it does. `$NAME` of the environment is expanded in the settings of
/// `SubmissionDefaults`; one that is not set makes the setting empty. `BENCH_PARTITION`,
/// `BENCH_ACCOUNT` and `BENCH_QOS` are taken instead of what the file says; the batch system's own
/// variables, such as `SBATCH_ACCOUNT`, where neither says anything.
/// @throws Error with a did-you-mean if there is no such platform; with the place for an unknown
///         key or word in the file
Platform load_platform(const std::string& name, const std::filesystem::path& beside = {});

}  // namespace bench::platform
