#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <bench/batch/partition.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/platform/job_template.hpp>
#include <bench/platform/platform.hpp>
#include <bench/setup/input.hpp>
#include <bench/setup/metadata.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::setup {

/// One run of one benchmark: what every command needs of it.
struct Run {
  workspace::RunDirectory directory;  ///< Absolute.
  model::Benchmark benchmark;
  platform::Platform platform;
  RunMetadata metadata;
  platform::JobTemplates job_templates;
  /// What the batch system says of its partitions; none: nobody has asked it (`ask_partitions`).
  std::optional<batch::Partitions> partitions = std::nullopt;
};

/// What a benchmark of an input is going to be as a run; makes nothing.
Run plan_run(const Input& input, const model::Benchmark& benchmark, const Request& request);

/// From now on the jobs of a run are asked for with these settings; empty ones stay as they are.
void ask_otherwise(const platform::SubmissionDefaults& asking, Run& run,
                   workspace::Workspace& workspace);

/// Writes one fact of a run into its workspace, as its metadata holds it.
void store_fact(const std::string& name, const Run& run, workspace::Workspace& workspace);

/// Where the platform of a run is read from again: its file, else its name where that is gone.
std::string platform_source(const Run& run);

/// Whether the input file of a run is another one than it was when the run was made.
bool input_has_changed(const Run& run);

/// The platform of a run that was loaded, asked for jobs as the run began to.
platform::Platform platform_of(const Run& run);

/// The run in a directory, from its workspace alone: works on any machine. Its platform is left
/// empty; `platform_of` gives it where work goes on.
Run load_run(const workspace::RunDirectory& directory, workspace::Workspace& workspace);

}  // namespace bench::setup
