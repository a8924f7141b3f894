#include "launches.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/file_operation.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/render.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/space/variables.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

namespace {

namespace fs = std::filesystem;
using machine::FileOperation;
using workspace::Workpackage;

/// Where an entry's relative paths begin.
fs::path base_of(const model::FileEntry& entry, const RenderContext& context) {
  if (entry.internal)
    return context.default_work();
  const fs::path home = context.run.metadata.home;
  return entry.base.empty() ? home : (home / entry.base).lexically_normal();
}

FileOperation place_files(const model::FileEntry& entry, const RenderContext& context) {
  machine::PlaceFiles operation{.action = entry.action == model::FileEntry::Action::copy
                                              ? machine::PlaceFiles::Action::copy
                                              : machine::PlaceFiles::Action::link,
                                .run = context.run.directory.path,
                                .base = base_of(entry, context),
                                .source_dir = context.substitute(entry.source_dir),
                                .paths = {},
                                .names = {},
                                .target_dir = context.substitute(entry.target_dir),
                                .work = context.work(),
                                .place = entry.place};
  for (const std::string& path : entry.paths)
    operation.paths.push_back(context.substitute(path));
  for (const std::string& name : entry.names)
    operation.names.push_back(context.substitute(name));
  return operation;
}

FileOperation substitute_file(const model::SubstituteSet& set, const model::SubstitutedFile& file,
                              const RenderContext& context) {
  machine::SubstituteFile operation{.run = context.run.directory.path,
                                    .in = context.work() / context.file_name(file.in),
                                    .out = context.work() / context.file_name(file.out),
                                    .append = file.append,
                                    .replacements = {},
                                    .place = file.place};
  for (const model::Substitution& substitution : set.substitutions)
    operation.replacements.push_back({.source = context.substitute(substitution.source),
                                      .dest = context.substitute(substitution.dest),
                                      .regex = substitution.regex,
                                      .place = substitution.place});
  return operation;
}

/// What earlier attempts may have printed in a `work_dir` that no other workpackage has. In one
/// that several share, it is theirs, too.
std::vector<fs::path> earlier_outputs(const RenderContext& context, const Graph& graph) {
  const workspace::Workpackage& own = context.workpackage;
  if (context.step.work_dir.empty() || own.attempts < 2)
    return {};
  const fs::path work = context.work();
  const auto works_there = [&](const workspace::Workpackage& other) {
    return other.id != own.id && !context.run.benchmark.step(other.step)->work_dir.empty() &&
           graph.variables_of(other).at("jube_wp_abspath") == work.string();
  };
  if (std::ranges::any_of(graph.all(), works_there))
    return {};
  std::set<fs::path> files{work / "stdout", work / "stderr"};
  for (const model::Command& command : context.step.commands)
    if (!command.shared)
      for (const std::string& name : {command.stdout_file, command.stderr_file})
        files.insert(work / context.file_name(name));
  std::erase_if(files, [&](const fs::path& file) { return !is_written_below(work, file); });
  return {files.begin(), files.end()};
}

/// Everything that fills a workpackage's directory: snippets for the `prepare` commands of its file
/// sets, with what comes before each of them.
/// @param operations so far; afterwards those that follow the last snippet
std::vector<machine::Snippet> render_files(const RenderContext& context,
                                           std::vector<FileOperation>& operations) {
  std::vector<machine::Snippet> snippets;
  const model::Benchmark& benchmark = context.run.benchmark;
  const auto names = context.used_sets();
  for (const std::string& name : names) {
    const model::FileSet* set = benchmark.file_set(name);
    if (!set)
      continue;
    for (const model::FileEntry& entry : set->entries) {
      const bool prepares = entry.action == model::FileEntry::Action::prepare;
      if (!prepares && context.holds(entry.active, entry.place)) {
        operations.push_back(place_files(entry, context));
      } else if (prepares && !entry.command.text.empty() &&
                 context.holds(entry.command.active, entry.command.place)) {
        snippets.push_back(render_command(entry.command, context,
                                          fmt::format("`prepare` of file set '{}'", set->name)));
        snippets.back().before = std::exchange(operations, {});
      }
    }
  }
  for (const std::string& name : names)
    if (const model::SubstituteSet* set = benchmark.substitute_set(name))
      for (const model::SubstitutedFile& file : set->files)
        operations.push_back(substitute_file(*set, file, context));
  return snippets;
}

/// Has every command of the attempt note itself in the step's `do_log_file` before it runs, if the
/// step has one: a shell script that repeats what was executed. Of the environment it holds what
/// differs from bench's own, no more: the rest may hold secrets.
void log_commands(const RenderContext& context, machine::Job& job) {
  const std::string name = context.substitute(context.step.do_log_file);
  if (name.empty())
    return;
  // As in JUBE: a plain name lies beside `work`, one with a slash is relative to here.
  const fs::path file =
      name.find('/') == std::string::npos ? context.directory() / name : fs::absolute(name);
  for (machine::Snippet& snippet : job.snippets) {
    if (snippet.text.empty())
      continue;
    const fs::path& directory = snippet.directory.empty() ? job.work_directory : snippet.directory;
    const std::string command =
        fmt::format("cd {}\n{}\n", shell_quote(directory.string()), snippet.text);
    snippet.before.push_back(
        machine::LogCommand{.run = context.run.directory.path, .file = file, .command = command});
  }
}

/// The whole environment of the attempt.
Environment environment_of(const RenderContext& context, bool script, const std::string& uuid,
                           const EnvironmentChanges& inherited) {
  Environment environment = script ? script_environment() : machine::base_environment();
  machine::apply(inherited, environment);
  for (const auto& [name, value] : exported_parameters(context.run, context.workpackage))
    set_variable(environment, name, value);
  set_variable(environment, "BENCH_ATTEMPT", uuid);
  return environment;
}

}  // namespace

FileOperation make_directory(const RenderContext& context, const Graph& graph) {
  const workspace::Workpackage& workpackage = context.workpackage;
  const fs::path directory = context.directory();
  const fs::path work = context.default_work();
  machine::MakeDirectory operation{.run = context.run.directory.path,
                                   .directory = directory,
                                   .set_aside_as = {},
                                   .shared = context.shared(),
                                   .work = context.work(),
                                   .outputs = earlier_outputs(context, graph),
                                   .links = {}};
  if (workpackage.retries > 0)
    operation.set_aside_as =
        operation.run / "retried" /
        fmt::format("{}.{}", directory.filename().string(), workpackage.retries);
  // Relative, so that they survive a move of the run.
  for (const long long id : workpackage.parents) {
    const workspace::Workpackage& parent = graph.at(id);
    operation.links.emplace_back(fs::path("../..") / parent.directory / "work", work / parent.step);
  }
  if (!operation.shared.empty())
    operation.links.emplace_back(fs::path("../..") / operation.shared.filename(),
                                 work / context.substitute(context.step.shared));
  return operation;
}

std::shared_ptr<const RenderContext> context_of(const Run& run, const Graph& graph,
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
  const bool shared = next_segment(run.benchmark, context->step, workpackage.progress).shared;
  context->variables = shared ? graph.shared_variables_of(context->workpackage)
                              : graph.variables_of(context->workpackage, cycle);
  return context;
}

machine::Job attempt_on_disk(const Run& run, const Workpackage& workpackage,
                             const std::string& uuid) {
  const model::Step& step = *run.benchmark.step(workpackage.step);
  const ExecutionSegment segment = next_segment(run.benchmark, step, workpackage.progress);
  machine::Job job;
  job.workpackage = workpackage.id;
  job.uuid = uuid;
  job.directory = run.directory.path / workpackage.directory;
  job.work_directory = job.directory / "work";
  job.sentinel = job.directory / "sentinel";
  job.keep_environment = keeps_environment(step, segment, workpackage.progress);
  if (segment.script)
    job.script = job.directory / "job.sh";
  job.has_own_share = segment.script && run.platform.capabilities().fills_allocation;
  return job;
}

Prepared prepare(const RenderContext& context, const Graph& graph, const std::string& uuid,
                 const EnvironmentChanges& inherited) {
  const Workpackage& workpackage = context.workpackage;
  const ExecutionSegment segment =
      next_segment(context.run.benchmark, context.step, workpackage.progress);
  machine::Job job = attempt_on_disk(context.run, workpackage, uuid);
  job.work_directory = context.work();
  job.environment = environment_of(context, segment.script, uuid, inherited);
  Rendered rendered = render(context, segment, uuid, inherited);
  job.timeout_s = rendered.timeout_s;
  if (workpackage.progress.cycle > 0 &&
      (workpackage.parameters != graph.at(workpackage.id).parameters ||
       !kept_cycle_parameters(job.directory).empty()))
    keep_cycle_parameters(job.directory, workpackage.parameters);
  std::vector<machine::FileOperation> operations;
  if (segment.files)
    operations.push_back(make_directory(context, graph));
  if (job.keep_environment)
    operations.push_back(machine::KeepBaseEnvironment{job.directory});
  if (segment.files)
    job.snippets = render_files(context, operations);
  if (segment.script) {
    for (const machine::FileOperation& operation : operations)
      machine::perform(operation, job.environment, context.evaluator);
    // An earlier attempt's sentinel would keep this one from beginning.
    std::error_code absent;
    std::filesystem::remove(job.sentinel, absent);
    if (!segment.files)
      remove_earlier_energy(context);
    write_file_atomically(job.script, rendered.script);
    job.script_launcher = script_launcher(context, rendered.request);
    return {std::move(job), rendered.request};
  }
  if (rendered.snippets.empty())
    rendered.snippets.emplace_back();
  rendered.snippets.front().before = std::move(operations);
  job.snippets.insert(job.snippets.end(), std::make_move_iterator(rendered.snippets.begin()),
                      std::make_move_iterator(rendered.snippets.end()));
  log_commands(context, job);
  return {.job = std::move(job), .request = {}};
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

Environment script_environment() {
  Environment environment = machine::base_environment();
  const auto own = std::ranges::find(environment, "BASH_ENV", &Environment::value_type::first);
  const std::string file = own == environment.end() ? "" : own->second;
  const auto quiet = machine::share_directory() / "templates" / "bash_env.sh";
  if (file.empty() || file == quiet)  // a bench in a job script of another one has it already
    return environment;
  set_variable(environment, "BENCH_BASH_ENV", file);
  set_variable(environment, "BASH_ENV", quiet.string());
  return environment;
}

}  // namespace bench::space
