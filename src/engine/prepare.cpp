#include "prepare.hpp"

#include "cycle_parameters.hpp"
#include "directory.hpp"
#include "do_log.hpp"
#include "environment.hpp"
#include "file_sets.hpp"
#include "render.hpp"
#include "substitute_sets.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/time.hpp>

namespace bench::engine {
namespace {

using schedule::Snippet;
using workspace::Workpackage;
using SharedScope = std::shared_ptr<const Scope>;
using FileWork = std::function<void(const Environment&)>;

/// File work in the order in which it was added, as one. Called again after an error, it continues
/// with the work that failed.
class FileWorks {
 public:
  void add(FileWork work) { works_.push_back(std::move(work)); }
  FileWork take() {
    return [works = std::exchange(works_, {}),
            next = std::size_t{0}](const Environment& environment) mutable {
      for (; next < works.size(); ++next)
        works[next](environment);
    };
  }

 private:
  std::vector<FileWork> works_;
};

/// Everything that makes a workpackage's directory: snippets for the `prepare` commands, with the
/// file work between them; what comes after the last one is left in `works`.
std::vector<Snippet> render_files(const SharedScope& scope, FileWorks& works) {
  std::vector<Snippet> snippets;
  const model::Benchmark& benchmark = scope->run.benchmark;
  const auto names = scope->used_sets();
  for (const std::string& name : names) {
    const model::FileSet* set = benchmark.file_set(name);
    if (!set)
      continue;
    for (const model::FileEntry& entry : set->entries) {
      if (entry.action != model::FileEntry::Action::prepare) {
        works.add([scope, &entry](const Environment& environment) {
          place_files(entry, *scope, environment);
        });
      } else if (!entry.command.text.empty() &&
                 scope->holds(entry.command.active, entry.command.place)) {
        snippets.push_back(render_command(entry.command, *scope,
                                          fmt::format("`prepare` of file set '{}'", set->name)));
        snippets.back().before = works.take();
      }
    }
  }
  for (const std::string& name : names)
    if (const model::SubstituteSet* set = benchmark.substitute_set(name))
      for (const model::SubstitutedFile& file : set->files)
        works.add([scope, set, &file](const Environment&) { substitute_file(*set, file, *scope); });
  return snippets;
}

/// The whole environment of the attempt.
Environment environment_of(const Scope& scope, bool script, const std::string& uuid,
                           const workspace::EnvironmentChanges& inherited) {
  Environment environment = script ? script_environment() : base_environment();
  apply(inherited, environment);
  for (const auto& [name, value] : exported_parameters(scope.run, scope.workpackage))
    set_variable(environment, name, value);
  set_variable(environment, "BENCH_ATTEMPT", uuid);
  return environment;
}

}  // namespace

std::shared_ptr<const Scope> scope_of(const Run& run, const Graph& graph,
                                      const Workpackage& workpackage,
                                      evaluate::Evaluator& evaluator) {
  const int cycle = workpackage.progress.cycle;
  auto scope = std::make_shared<Scope>(Scope{.run = run,
                                             .step = *run.benchmark.step(workpackage.step),
                                             .workpackage = workpackage,
                                             .variables = {},
                                             .evaluator = evaluator});
  scope->workpackage.parameters = graph.parameters_in_cycle(workpackage, cycle);
  const bool shared = part_at(run.benchmark, scope->step, workpackage.progress).shared;
  scope->variables = shared ? graph.shared_variables_of(scope->workpackage)
                            : graph.variables_of(scope->workpackage, cycle);
  return scope;
}

schedule::Job attempt_on_disk(const Run& run, const Workpackage& workpackage,
                              const std::string& uuid) {
  const model::Step& step = *run.benchmark.step(workpackage.step);
  const Part part = part_at(run.benchmark, step, workpackage.progress);
  schedule::Job job;
  job.workpackage = workpackage.id;
  job.uuid = uuid;
  job.directory = run.directory.path / workpackage.directory;
  job.work_directory = job.directory / "work";
  job.sentinel = job.directory / "sentinel";
  job.keep_environment = keeps_environment(step, part, workpackage.progress);
  if (part.script)
    job.script = job.directory / "job.sh";
  return job;
}

Prepared prepare(const SharedScope& scope, const Graph& graph, const std::string& uuid,
                 const workspace::EnvironmentChanges& inherited) {
  const Workpackage& workpackage = scope->workpackage;
  const Part part = part_at(scope->run.benchmark, scope->step, workpackage.progress);
  schedule::Job job = attempt_on_disk(scope->run, workpackage, uuid);
  job.work_directory = scope->work();
  job.environment = environment_of(*scope, part.script, uuid, inherited);
  Rendered rendered = render(*scope, part, uuid, inherited);
  job.timeout_s = rendered.timeout_s;
  if (workpackage.progress.cycle > 0 &&
      (workpackage.parameters != graph.at(workpackage.id).parameters ||
       !kept_cycle_parameters(job.directory).empty()))
    keep_cycle_parameters(job.directory, workpackage.parameters);
  FileWorks works;
  if (part.files)
    works.add([scope, &graph](const Environment&) { make_directory(*scope, graph); });
  if (job.keep_environment)
    works.add([scope](const Environment&) { keep_base(scope->directory()); });
  if (part.files)
    job.snippets = render_files(scope, works);
  if (part.script) {
    works.take()(job.environment);
    // An earlier attempt's sentinel would keep this one from beginning.
    std::error_code absent;
    std::filesystem::remove(job.sentinel, absent);
    write_file_atomically(job.script, rendered.script);
    return {std::move(job), rendered.geometry};
  }
  if (rendered.snippets.empty())
    rendered.snippets.emplace_back();
  rendered.snippets.front().before = works.take();
  job.snippets.insert(job.snippets.end(), std::make_move_iterator(rendered.snippets.begin()),
                      std::make_move_iterator(rendered.snippets.end()));
  log_commands(*scope, job);
  return {.job = std::move(job), .geometry = {}};
}

void write_marker(const Run& run, const Workpackage& workpackage, bool success,
                  const std::string& reason) {
  const std::filesystem::path& directory = run.directory.path;
  const auto file = directory / workpackage.directory / (success ? "done" : "error");
  try {
    write_all(open_to_write(directory, file, O_TRUNC), success ? local_time_now() : reason, file);
  } catch (const Error&) {
    // A full disk must not turn a finished workpackage into a failed run: the database knows.
  }
}

}  // namespace bench::engine
