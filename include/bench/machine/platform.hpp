#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {

/// Whether a machine still accepts jobs.
enum class Status { unknown, live, historic };

/// One fact about a machine, as its platform file states it.
struct Fact {
  double value = 0;
  std::string source;
  bool unconfirmed = false;  ///< No reliable source; never used in computations.
};
using MaybeFact = std::optional<Fact>;

/// An accelerator as it is sold; an MI250 is one, though it shows as two devices.
struct Accelerator {
  std::string name;
  MaybeFact memory_gb;
  MaybeFact memory_bandwidth_tb_per_s;
  MaybeFact peak_fp16_tflops;  ///< Dense, as all peaks.
  MaybeFact peak_bf16_tflops;
  MaybeFact peak_fp32_tflops;
  MaybeFact power_limit_w;
  std::string power_scope;  ///< Scope of the limit: `device`, `module` or `package`.
};

/// Hardware of a node of the machine.
struct Machine {
  MaybeFact nodes;
  MaybeFact modules_per_node;  ///< Accelerators as sold.
  MaybeFact devices_per_node;  ///< Devices as the scheduler and the programs see them.
  MaybeFact sockets;
  MaybeFact cores_per_node;  ///< Physical cores that jobs can use.
  MaybeFact threads_per_core;
  MaybeFact numa_domains;
  MaybeFact memory_gb;
  std::string processor;
  std::string network;
  std::string local_disk;
  Accelerator accelerator;
  std::vector<std::string> notes;  ///< Traps and contradictions between sources.
  /// Where the texts above are from, by their keys in the file: `machine.processor`, ...
  std::map<std::string, std::string> sources;
  std::map<std::string, std::string> unconfirmed;  ///< The same of unconfirmed texts.
};

/// How GPUs are requested.
enum class GpuRequest {
  none,           ///< Not at all: whole nodes, or no GPUs.
  gres,           ///< `--gres=gpu:N`, or `gpu:TYPE:N`.
  gpus_per_node,  ///< `--gpus-per-node=N`, or `TYPE:N`.
  gpus_per_task,  ///< `--gpus-per-task=N`: N is the number per node divided by the tasks.
  constraint      ///< `--constraint=WORD`: nodes that have them, whole.
};

/// How tasks are bound to cores.
struct Binding {
  enum class Mode { none, cores, sockets, mask_cpu, map_cpu };
  Mode mode = Mode::none;
  /// Of mask_cpu and map_cpu: one per device, in the order of the devices.
  std::vector<std::string> per_device;
  bool needs_whole_node = false;  ///< The masks are wrong if other jobs have cores of the node.
  std::string gpu_select;         ///< Variable that gives a task its devices; empty: none.
};

/// How a program is started on all tasks of a job.
struct Launcher {
  std::string command;    ///< For example `srun` or `jsrun`; empty: the program itself.
  std::string arguments;  ///< Always given, for example `--mpi=pspmix`.
  Binding binding;
};

/// How often the batch system is queried.
struct Polling {
  double interval_s = 15;        ///< Shortest time between two queries.
  int jobs_per_question = 5000;  ///< Most ids in one query.
  double sentinel_grace_s = 5;   ///< How long the sentinel of an ended job may take to appear.
  int max_array_size = 0;        ///< 0: as the scheduler says.
};

/// Settings of a job submission, which options of `bench run` replace.
struct SubmissionDefaults {
  std::string partition;  ///< Empty: the scheduler's default.
  std::string account;
  std::string qos;
  std::string reservation;
};

/// A machine or a kind of machine, for which bench writes job scripts.
struct Platform {
  std::string name;               ///< Also a tag that selects it.
  std::vector<std::string> tags;  ///< Further ones.
  std::string extends;  ///< Name or file of the platform that this one extends; empty: none.
  std::string description;
  std::string site;
  Status status = Status::unknown;
  std::string scheduler = "none";  ///< One of system_names().
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
  bool exclusive = false;  ///< Whole nodes are requested.
  std::string hint;        ///< For `--hint`; empty: none.
  std::string directives;  ///< Further lines for the head of the job script.
  /// Directories of programs for this machine, absolute: first on the PATH of job scripts.
  std::vector<std::string> path;
  std::string prologue;  ///< Shell lines before the commands, for example `module load ...`.
  std::vector<std::pair<std::string, std::string>> environment;  ///< Exported in the job script.
  Launcher launcher;
  std::string container;  ///< What goes before a program that runs in a container; empty: unknown.
  std::string energy;     ///< Power sources, as `bench-energy --method` takes them.
  Commands commands;
  Polling polling;
  Machine machine;
  /// Keys of the unconfirmed settings above, with their sources. A key is
  /// written with its groups, as in `launcher.binding.mode` or `environment.UCX_TLS`.
  std::map<std::string, std::string> unconfirmed;
  std::map<std::string, std::string> sources;  ///< The same of settings with a source.
  std::filesystem::path file;

  /// The batch system that `scheduler` names.
  const SystemKind& system() const;
  const Capabilities& capabilities() const { return system().capabilities; }
};

/// `share/bench` of the installation or build directory that this program is in. In a build
/// directory `platforms`, `templates` and `references` are links to the sources.
/// @throws Error if there is none
std::filesystem::path share_directory();

/// The user's own directory for settings of bench: `$XDG_CONFIG_HOME/bench`, else
/// `~/.config/bench`; empty without a home.
std::filesystem::path user_directory();

/// Where `platforms` and `templates` are looked for, in this order: `beside` (the directory of the
/// input file), the user's (`$XDG_CONFIG_HOME/bench`, else `~/.config/bench`), the site's
/// (`$BENCH_DATA`, directories separated by `:`, and `/etc/bench`), the shipped one.
/// @throws Error for a directory of BENCH_DATA that does not exist
std::vector<std::filesystem::path> data_directories(const std::filesystem::path& beside = {});

/// A platform file.
struct FoundPlatform {
  std::string name;
  std::filesystem::path file;
  std::string place;  ///< Who put it there: `run`, `user`, `site`, `system` or `bench`.
  std::vector<std::filesystem::path> hidden;  ///< Files of the name in later directories.
};

/// All of them by name, from `platforms` in `data_directories` and, after the user's, from the
/// directories of `$BENCH_PLATFORM_PATH` themselves.
/// @throws Error for a directory of a variable that does not exist
std::vector<FoundPlatform> find_platforms(const std::filesystem::path& beside = {});

/// The names of all platform files, sorted, each once.
std::vector<std::string> platform_names(const std::filesystem::path& beside = {});

/// The name of the platform with this name or tag; empty if there is none. A platform's own
/// name wins over another's tag. Reads no file if the tag is a platform's name, otherwise one line
/// of each file.
std::string platform_of_tag(const std::string& tag, const std::filesystem::path& beside = {});

/// Variables for the batch system's programs that have no effect here, each with the setting that
/// takes precedence: `SBATCH_PARTITION` and `partition gpu`.
std::vector<std::pair<std::string, std::string>> idle_variables(const Platform& platform);

/// True for the path of a platform file (`./fox.yaml`), false for the name of a platform.
bool is_platform_file(const std::string& name);

/// Reads a platform file: one that is named by its path, else `NAME.yaml` in `beside` or the first
/// file of `find_platforms`. Settings that it leaves out come from the platform
/// that it `extends`, if any. `$NAME` of the environment is expanded in the settings of
/// `SubmissionDefaults`; one that is not set makes the setting empty. `BENCH_PARTITION`,
/// `BENCH_ACCOUNT` and `BENCH_QOS` replace settings of the file; the batch system's own variables,
/// such as `SBATCH_ACCOUNT`, apply where neither gives a value.
/// @throws Error with a suggestion if the platform does not exist; with the place for an unknown
/// key or word in the file
Platform load_platform(const std::string& name, const std::filesystem::path& beside = {});

/// A platform, or why its file cannot be used.
struct LoadedPlatform {
  FoundPlatform found;
  std::optional<Platform> platform;
  std::optional<Error> error;
};

/// `load_platform` of all that `find_platforms` finds.
std::vector<LoadedPlatform> load_platforms(const std::filesystem::path& beside = {});

/// The batch system of a platform; one that has no jobs where it names none.
/// @throws Error for commands that do not fit together
std::unique_ptr<BatchSystem> batch_system_of(const Platform& platform);

/// The batch system of the jobs that commands of steps submit themselves: the platform's where it
/// has one, else the one whose words submitted_ids knows.
std::unique_ptr<BatchSystem> batch_system_of_commands(const Platform& platform);

/// How a platform file names the values of a setting.
template <class T>
using Words = std::map<std::string, T>;

const Words<Status>& status_words();
const Words<GpuRequest>& gpu_request_words();
const Words<Binding::Mode>& binding_words();

/// @returns the word for `value`; every value has one
template <class T>
std::string word_of(const Words<T>& words, T value) {
  for (const auto& [word, meaning] : words)
    if (meaning == value)
      return word;
  return "";
}

}  // namespace bench::machine
