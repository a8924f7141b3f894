#include "directory.hpp"
#include "do_log.hpp"
#include "file_sets.hpp"
#include "substitute_sets.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/time.hpp>
#include <bench/job/cycle_parameters.hpp>
#include <bench/job/environment.hpp>
#include <bench/job/prepare.hpp>
#include <bench/job/render.hpp>

namespace bench::job {
namespace {

using execute::Snippet;
using workspace::Workpackage;
using SharedScope = std::shared_ptr<const RenderContext>;
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
std::vector<Snippet> render_files(const SharedScope& context, FileWorks& works) {
  std::vector<Snippet> snippets;
  const model::Benchmark& benchmark = context->run.benchmark;
  const auto names = context->used_sets();
  for (const std::string& name : names) {
    const model::FileSet* set = benchmark.file_set(name);
    if (!set)
      continue;
    for (const model::FileEntry& entry : set->entries) {
      if (entry.action != model::FileEntry::Action::prepare) {
        works.add([context, &entry](const Environment& environment) {
          place_files(entry, *context, environment);
        });
      } else if (!entry.command.text.empty() &&
                 context->holds(entry.command.active, entry.command.place)) {
        snippets.push_back(render_command(entry.command, *context,
                                          fmt::format("`prepare` of file set '{}'", set->name)));
        snippets.back().before = works.take();
      }
    }
  }
  for (const std::string& name : names)
    if (const model::SubstituteSet* set = benchmark.substitute_set(name))
      for (const model::SubstitutedFile& file : set->files)
        works.add(
            [context, set, &file](const Environment&) { substitute_file(*set, file, *context); });
  return snippets;
}

/// The whole environment of the attempt.
Environment environment_of(const RenderContext& context, bool script, const std::string& uuid,
                           const workspace::EnvironmentChanges& inherited) {
  Environment environment = script ? script_environment() : base_environment();
  apply(inherited, environment);
  for (const auto& [name, value] : workflow::exported_parameters(context.run, context.workpackage))
    set_variable(environment, name, value);
  set_variable(environment, "BENCH_ATTEMPT", uuid);
  return environment;
}

}  // namespace

std::shared_ptr<const RenderContext> context_of(const setup::Run& run, const workflow::Graph& graph,
                                                const Workpackage& workpackage,
                                                evaluate::Evaluator& evaluator) {
  const int cycle = workpackage.progress.cycle;
  auto context =
      std::make_shared<RenderContext>(RenderContext{.run = run,
                                                    .step = *run.benchmark.step(workpackage.step),
                                                    .workpackage = workpackage,
                                                    .variables = {},
                                                    .evaluator = evaluator});
  context->workpackage.parameters = graph.parameters_in_cycle(workpackage, cycle);
  const bool shared = part_at(run.benchmark, context->step, workpackage.progress).shared;
  context->variables = shared ? graph.shared_variables_of(context->workpackage)
                              : graph.variables_of(context->workpackage, cycle);
  return context;
}

execute::Job attempt_on_disk(const setup::Run& run, const Workpackage& workpackage,
                             const std::string& uuid) {
  const model::Step& step = *run.benchmark.step(workpackage.step);
  const Part part = part_at(run.benchmark, step, workpackage.progress);
  execute::Job job;
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

Prepared prepare(const SharedScope& context, const workflow::Graph& graph, const std::string& uuid,
                 const workspace::EnvironmentChanges& inherited) {
  const Workpackage& workpackage = context->workpackage;
  const Part part = part_at(context->run.benchmark, context->step, workpackage.progress);
  execute::Job job = attempt_on_disk(context->run, workpackage, uuid);
  job.work_directory = context->work();
  job.environment = environment_of(*context, part.script, uuid, inherited);
  Rendered rendered = render(*context, part, uuid, inherited);
  job.timeout_s = rendered.timeout_s;
  if (workpackage.progress.cycle > 0 &&
      (workpackage.parameters != graph.at(workpackage.id).parameters ||
       !kept_cycle_parameters(job.directory).empty()))
    keep_cycle_parameters(job.directory, workpackage.parameters);
  FileWorks works;
  if (part.files)
    works.add([context, &graph](const Environment&) { make_directory(*context, graph); });
  if (job.keep_environment)
    works.add([context](const Environment&) { keep_base(context->directory()); });
  if (part.files)
    job.snippets = render_files(context, works);
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
  log_commands(*context, job);
  return {.job = std::move(job), .geometry = {}};
}

void write_marker(const setup::Run& run, const Workpackage& workpackage, bool success,
                  const std::string& reason) {
  const std::filesystem::path& directory = run.directory.path;
  const auto file = directory / workpackage.directory / (success ? "done" : "error");
  try {
    write_all(open_to_write(directory, file, O_TRUNC), success ? local_time_now() : reason, file);
  } catch (const Error&) {
    // A full disk must not turn a finished workpackage into a failed run: the database knows.
  }
}

}  // namespace bench::job
