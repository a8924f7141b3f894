#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include <bench/base/unique_fd.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/input.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::space {

/// One run of one benchmark.
struct Run {
  workspace::RunDirectory directory;  ///< Absolute.
  model::Benchmark benchmark;
  machine::Platform platform;
  RunMetadata metadata;
  machine::JobTemplates job_templates;
  /// Partitions of the batch system; none until `ask_partitions`.
  std::optional<machine::Partitions> partitions = std::nullopt;
};

/// The run that a benchmark of an input will become; creates nothing.
Run plan_run(const Input& input, const model::Benchmark& benchmark, const Request& request);

/// The next run in the same outpath, of the same benchmark with the same settings; creates nothing.
/// @throws Error if the platform is gone
Run plan_repetition(const Run& run);

/// Gives a run with steps in random order a seed for it, unless it has one.
void draw_order_seed(Run& run);

/// Changes the submission settings of a run; empty ones stay as they are.
void ask_otherwise(const machine::SubmissionDefaults& asking, Run& run,
                   workspace::Workspace& workspace);

/// The steps that are submitted while their parents run. They stay the same for a run, since the
/// workspace knows which parents have had the children of these.
std::set<std::string> chained_steps(const Run& run);

/// Writes one fact of a run into its workspace, as its metadata holds it.
void store_fact(const std::string& name, const Run& run, workspace::Workspace& workspace);

/// The file of the run's platform, or its name if the file is gone.
std::string platform_source(const Run& run);

/// What has become of the file that a run was made from.
enum class InputState {
  unchanged,
  changed,
  unknown  ///< It is gone, or not readable by this user.
};
InputState input_state(const Run& run);

/// The platform of a loaded run, with the submission settings of the run.
machine::Platform platform_of(const Run& run);

/// `jube_platform_...`: the name, and what the platform file says of its nodes and devices, as
/// plain decimal numbers. A device is what programs see as one: where a module shows as two, each
/// has half of its memory and peak. Empty where the file says nothing, or nobody has confirmed it.
/// A run records them: a later analysis must not depend on the platform file, which may have
/// changed or be absent.
Variables platform_variables(const machine::Platform& platform);

/// When a run began, in seconds since 1970; none if that is unknown. Runs of older versions and of
/// JUBE recorded only the local time of their machine. The first claim of a workpackage comes soon
/// after it and is right in every time zone; without one, the local time is taken as that of here.
std::optional<double> start_unix_s(const RunMetadata& metadata,
                                   const workspace::Workspace& workspace);

/// The run in a directory, from its workspace alone: works on any machine. Its platform is left
/// empty; `platform_of` returns it.
Run load_run(const workspace::RunDirectory& directory, workspace::Workspace& workspace);

/// A budget in node hours: `50nh`, or `3200ch` core hours or `200gh` GPU hours on a platform that
/// knows how many of them a node has.
/// @throws Error for a text that is none of these, or that the platform cannot convert
double parse_budget_h(const std::string& text, const machine::Platform& platform);

/// Gives a run a budget. Jobs are then submitted only while the time of all jobs, at most their
/// limits for those that have not ended, stays within it.
/// @throws Error as `parse_budget_h`, and where the platform has no batch system
void set_budget(const std::string& text, Run& run);

/// Lets `number` workpackages of a run run here at a time, as far as their steps allow.
/// @param number 0: as many as there are cores
/// @throws Error for a negative number
void set_parallel(int number, Run& run);

/// How many workpackages of a run may run here at a time; none where `-j` was not given.
std::optional<int> parallel_of(const Run& run);

/// Asks the batch system about its partitions, unless the run has its answer already.
void ask_partitions(machine::BatchSystem& system, Run& run);

/// The partition of this name, or the default one for an empty name; null where the batch system
/// has not been asked, did not answer, or chooses among several.
const machine::Partition* partition_of(const Run& run, const std::string& wanted);

/// Opens a regular file that a run has written: in the run directory, with no link that leads out
/// of it, or in a `work_dir` elsewhere. There it must belong to the run's owner, so that somebody
/// else's run cannot show files of its reader.
/// @returns an invalid descriptor for all other files
UniqueFd open_output(const Run& run, const std::filesystem::path& file);

}  // namespace bench::space
