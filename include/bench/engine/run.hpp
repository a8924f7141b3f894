#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/platform/job_template.hpp>
#include <bench/platform/platform.hpp>
#include <bench/schedule/slurm_partitions.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::engine {

/// What the user asked for on the command line of `bench run`.
struct Request {
  std::filesystem::path input_file;
  std::set<std::string> tags;
  std::string outpath;                  ///< Empty: JUBE_BENCHMARK_OUTPATH, else the file's.
  std::string platform;                 ///< Empty: the tag that is a platform's name, else `local`.
  std::string power_source;             ///< Empty: the step's `energy` methods.
  platform::Asking asking;              ///< Empty ones: the platform's.
  std::optional<std::string> launcher;  ///< In place of the platform's, its arguments included.
  std::string budget;                   ///< As `set_budget` takes it; empty: none.
  std::optional<int> parallel;          ///< As `set_parallel` takes it.
  std::optional<std::string> comment;
  std::optional<int> id;
  std::vector<std::filesystem::path> include_path;  ///< Searched first, before the file's own.
  std::vector<std::string> only_benchmarks;  ///< Names; empty: what the file's `selection` says.
  std::vector<std::string> not_benchmarks;   ///< The same, of those that do not run.
  std::size_t max_workpackages = 1'000'000;  ///< More are refused.
};

/// The input file as it was understood: tags applied, checked, with its platform.
struct Input {
  document::Node document;
  std::vector<model::Benchmark> benchmarks;  ///< The chosen ones; none where none is left.
  std::set<std::string> tags;  ///< Active ones: of the request and of the file's `selection`.
  platform::Platform platform;
  std::filesystem::path home;   ///< Absolute directory of the input file.
  bool whole_file = true;       ///< Every benchmark of the file was chosen.
  bool nothing_chosen = false;  ///< It has benchmarks, and none was chosen.
};

/// Reads and checks the input file of a request, with the files that it takes in.
/// @throws Error with the place of the first mistake
Input read_input(const Request& request, Diagnostics& diagnostics);
/// The same without `benchmarks`: the document may be a part of a benchmark.
Input read_input_document(const Request& request, Diagnostics& diagnostics);

/// What relative file names of a benchmark start from; its outpath starts from the input file.
std::filesystem::path home_of(const model::Benchmark& benchmark, const Input& input);

/// One run of one benchmark: what every command needs of it.
struct Run {
  workspace::RunDirectory directory;  ///< Absolute.
  model::Benchmark benchmark;
  platform::Platform platform;
  /// Facts of the run by name, as in the workspace.
  std::map<std::string, std::string> facts;
  platform::JobTemplates job_templates;
  /// What the batch system has told of its partitions; asked once.
  mutable std::optional<schedule::Partitions> partitions = std::nullopt;

  const std::string& fact(const std::string& name) const;
};

/// What a benchmark of an input is going to be as a run; makes nothing.
Run plan_run(const Input& input, const model::Benchmark& benchmark, const Request& request);

/// A run that has just been made. The workspace is closed before the lock is given back.
struct NewRun {
  workspace::WriterLock lock;
  workspace::Workspace workspace;
};

/// Makes the directory and the workspace of a planned run, with its first workpackages. What cannot
/// be expanded leaves nothing behind.
/// @param notices gains what the user should know of the expansion
NewRun make_run(Run& run, const Request& request, std::vector<std::string>& notices);

/// From now on the jobs of a run are asked for with these settings; empty ones stay as they are.
void ask_otherwise(const platform::Asking& asking, Run& run, workspace::Workspace& workspace);

/// Where the platform of a run is read from again: its file, else its name where that is gone.
std::string platform_source(const Run& run);

/// Whether the input file of a run is another one than it was when the run was made.
bool input_has_changed(const Run& run);

/// The platform of a run that was loaded, asked for jobs as the run began to.
platform::Platform platform_of(const Run& run);

/// The run in a directory, from its workspace alone: works on any machine. Its platform is left
/// empty; `platform_of` gives it where work goes on.
Run load_run(const workspace::RunDirectory& directory, workspace::Workspace& workspace);

}  // namespace bench::engine
