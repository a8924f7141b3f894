#include "prepare.hpp"

#include <fstream>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>

namespace bench::engine {
namespace {

namespace fs = std::filesystem;
using workspace::Workpackage;

void make_fresh_directory(const fs::path& directory) {
  std::error_code failure;
  fs::remove_all(directory, failure);
  if (failure)
    throw Error(fmt::format("cannot remove {}, left by an interrupted attempt: {}",
                            directory.string(), failure.message()));
  make_directories(directory / "work");
}

/// `work/<step>` leads to the work directory of the parent, by a relative link that survives a
/// move of the run.
void link_parents(const Graph& graph, const Workpackage& workpackage, const fs::path& work) {
  for (const long long id : workpackage.parents) {
    const Workpackage& parent = graph.at(id);
    std::error_code failure;
    fs::create_symlink(fs::path("../..") / parent.directory / "work", work / parent.step, failure);
    if (failure)
      throw Error(
          fmt::format("cannot link {}: {}", (work / parent.step).string(), failure.message()));
  }
}

/// This process's environment, the programs that belong to bench on PATH, the exported parameters
/// and the mark by which a later bench knows the processes of this attempt.
Environment environment_of(const Run& run, const Workpackage& workpackage,
                           const std::string& uuid) {
  static const Environment base = [] {
    Environment environment = current_environment();
    std::string path;
    for (const fs::path& directory : program_directories())
      path += directory.string() + ":";
    const char* old = std::getenv("PATH");
    set_variable(environment, "PATH", path + (old ? old : "/usr/bin:/bin"));
    return environment;
  }();
  Environment environment = base;
  for (const auto& [name, value] : exported_parameters(run, workpackage))
    set_variable(environment, name, value);
  set_variable(environment, "BENCH_ATTEMPT", uuid);
  return environment;
}

}  // namespace

schedule::Job attempt_on_disk(const Run& run, const Workpackage& workpackage,
                              const std::string& uuid) {
  schedule::Job job;
  job.workpackage = workpackage.id;
  job.uuid = uuid;
  job.directory = run.directory.path / workpackage.directory;
  job.work_directory = job.directory / "work";
  job.sentinel = job.directory / "sentinel";
  if (run.benchmark.step(workpackage.step)->batch)
    job.script = job.directory / "job.sh";
  return job;
}

schedule::Job prepare(const Run& run, const Graph& graph, const Workpackage& workpackage,
                      const std::string& uuid, evaluate::Evaluator& evaluator) {
  const Variables variables = graph.variables_of(workpackage);
  Rendered rendered = render(run, workpackage, variables, uuid, evaluator);
  schedule::Job job = attempt_on_disk(run, workpackage, uuid);
  make_fresh_directory(job.directory);
  link_parents(graph, workpackage, job.work_directory);
  if (job.is_batch())
    write_file_atomically(job.script, rendered.script);
  job.snippets = std::move(rendered.snippets);
  job.timeout_s = rendered.timeout_s;
  job.environment = environment_of(run, workpackage, uuid);
  return job;
}

void write_marker(const Run& run, const Workpackage& workpackage, bool success,
                  const std::string& reason) {
  // A full disk must not turn a finished workpackage into a failed run: the database knows.
  std::ofstream file(run.directory.path / workpackage.directory / (success ? "done" : "error"));
  file << (success ? local_time_now() : reason);
}

}  // namespace bench::engine
