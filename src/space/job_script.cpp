#include "launches.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/document/elements.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;

/// What the user named for the run, else the step, else the platform.
std::string methods_of(const RenderContext& context) {
  if (const std::string& wanted = context.run.metadata.power_source; !wanted.empty())
    return wanted;
  std::string methods = context.substitute(context.step.energy->methods);
  energy::check_methods(methods, context.step.energy->place);
  const std::string& of_platform = context.run.platform.energy;
  return methods == "auto" && !of_platform.empty() ? of_platform : methods;
}

/// The meter's options for them; nothing for a setting that a parameter leaves empty.
/// @param pack workpackages that share the job
std::string power_settings(const RenderContext& context, int pack) {
  const model::PowerSettings& power = context.step.power;
  std::string options;
  const auto add = [&](const char* option, const std::string& text, auto* check) {
    const std::string value = context.substitute(text);
    if (value.empty())
      return;
    check(value, context.step.place);
    options += fmt::format(" {} {}", option, shell_quote(value));
  };
  add("--gpu-power-limit", power.gpu_power_limit, energy::check_gpu_power_limit);
  add("--gpu-clock", power.gpu_clock, energy::check_gpu_clock);
  if (pack > 1 && !context.substitute(power.cpu_governor).empty())  // one would undo the other's
    throw Error(Id::conflict,
                "workpackages that share a job cannot each set the governor of its CPUs",
                "remove `cpu_governor` or `pack`", context.step.place);
  add("--cpu-governor", power.cpu_governor, energy::check_cpu_governor);
  return options;
}

/// Whether other job steps of an allocation may run on the same nodes.
bool shares_allocation(const RenderContext& context, const JobRequest& request) {
  return context.run.platform.capabilities().fills_allocation &&
         request.settings.at("exclusive").empty();
}

/// Whether the launcher gives each task of a node GPUs that the others do not see.
bool divides_gpus(const RenderContext& context, const JobRequest& request) {
  return context.run.platform.gpu_request == machine::GpuRequest::gpus_per_task &&
         request.resources.gpus_per_node > 0 && request.resources.tasks_per_node > 1;
}

/// Checks what parameters have made of the settings, so that nobody queues for the meter's refusal.
/// @param per_node one meter on each node sees all that the tasks use
std::string meter(const RenderContext& context, const JobRequest& request, const fs::path& out,
                  bool per_node) {
  const model::Energy& asked = *context.step.energy;
  const std::string interval = context.substitute(asked.interval);
  energy::check_interval(interval, asked.place);
  std::string options;
  if (const std::string baseline = context.substitute(asked.baseline); !baseline.empty()) {
    energy::check_baseline(baseline, asked.place);
    options += " --baseline " + shell_quote(baseline);
  }
  if (const std::string thermal = context.substitute(asked.thermal); !thermal.empty()) {
    energy::check_thermal(thermal, asked.place);
    options += " --thermal " + shell_quote(thermal);
  }
  if (per_node)
    options += " --per-node";
  const std::string settings = power_settings(context, request.pack);
  if (!per_node && !settings.empty())
    throw Error(Id::conflict,
                fmt::format("no task of step '{}' sees all GPUs of a node, so no meter can set and "
                            "restore what the tasks use",
                            context.step.name),
                fmt::format("platform {} gives GPUs to tasks: use another gpu_request, or one task "
                            "per node",
                            context.run.platform.name),
                context.step.place);
  options += settings;
  if (request.pack > 1 || shares_allocation(context, request))
    options += " --shared-node";
  return fmt::format("bench-energy --method {} --interval {}{} --record {} --regions --out {} --",
                     shell_quote(methods_of(context)), shell_quote(interval), options,
                     shell_quote((context.run.directory.path / "environment").string()),
                     shell_quote(out.string()));
}

/// What precedes a program in a script so that it is measured: the meter with the options that the
/// step asks for. This one runs where the script does.
/// @param out where the meter writes
/// @throws Error for a setting that the meter would refuse, so that nobody queues for that
std::string meter_of_commands(const RenderContext& context, const JobRequest& request,
                              const fs::path& out) {
  return meter(context, request, out, context.step.energy->per_node);
}

/// The same behind a launcher, which starts it as every task of a node. Each measures where each
/// has GPUs of its own, which the others do not see.
std::string meter_of_tasks(const RenderContext& context, const JobRequest& request,
                           const fs::path& out) {
  return meter(context, request, out,
               context.step.energy->per_node && !divides_gpus(context, request));
}

/// A time limit as batch systems take it: `HH:MM:SS`, rounded up.
std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  return fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string number_or_empty(long long value) {
  return value == 0 ? "" : std::to_string(value);
}

std::string exports(const RenderContext& context, const JobRequest& request,
                    const std::string& uuid, const workspace::EnvironmentChanges& inherited) {
  std::string lines =
      fmt::format("export BENCH_ATTEMPT={}\n", uuid) + machine::shell_commands(inherited);
  std::string path;
  for (const std::string& directory : context.run.platform.path)
    path += shell_quote(directory) + ":";
  for (const fs::path& directory : machine::program_directories())
    path += shell_quote(directory.string()) + ":";
  if (!path.empty())
    lines += fmt::format("export PATH={}\"$PATH\"\n", path);
  if (request.pack == 1)  // in a pack each has the GPUs of its own job step
    lines += machine::gpu_export(context.run.platform, request.resources);
  for (const auto& [name, value] : context.run.platform.environment)
    lines += fmt::format("export {}={}\n", name, shell_quote(value));
  const auto exported = exported_parameters(context.run, context.workpackage);
  lines += machine::shell_commands({exported.begin(), exported.end()});
  lines.pop_back();
  return lines;
}

/// Executes commands one after another, each in a shell of its own and in the environment that the
/// one before it has left, until one fails. Its arguments are the shell, its script, the file for
/// the environment, and four for each command: its directory, its files for output and errors
/// (empty: as before) and its text. It replaces itself by the last command, so that signals reach
/// it. Bash says nothing of a command that a signal ended: the last line of stderr is the reason.
constexpr const char* in_turn = R"(bench_shell=$1 bench_script=$2 bench_file=$3
shift 3
exec 3>&2 2> /dev/null
bench_place() {
  exec 2>&3 3>&-
  [ -z "$1" ] || { mkdir -p "$1" && cd "$1"; } || exit
  [ -z "$2" ] || exec >> "$2" || exit
  [ -z "$3" ] || exec 2>> "$3" || exit
}
bench_adopt() {
  bench_variables=()
  while IFS= read -r -d "" bench_one; do
    bench_variables+=("$bench_one")
  done < "$bench_file" || return
  rm -f "$bench_file"
  [ -z "$bench_one" ] || return  # half a file: the disk is full
  while IFS= read -r bench_one; do
    unset "$bench_one"
  done < <(compgen -e)
  for bench_one in "${bench_variables[@]}"; do
    export "$bench_one"
  done
}
while [ $# -gt 4 ]; do
  (bench_place "$@"; exec "$bench_shell" -c "$bench_script" "$bench_shell" "$4") || exit
  bench_adopt
  shift 4
done
bench_place "$@"
exec "$bench_shell" -c "$4")";

/// The arguments of `in_turn` for a command.
std::string arguments_of(const machine::Snippet& command, const fs::path& work) {
  const auto other_than = [&](const fs::path& file, const char* usual) {
    return shell_quote(file == work / usual ? "" : file.string());
  };
  return fmt::format("{} {} {} {}", shell_quote(command.directory.string()),
                     other_than(command.stdout_file, "stdout"),
                     other_than(command.stderr_file, "stderr"), shell_quote(command.text));
}

/// Executes the commands as `machine/local_run.cpp` does.
std::string commands_in_turn(const RenderContext& context,
                             const std::vector<machine::Snippet>& snippets) {
  const std::string shell = shell_quote(machine::command_shell());
  if (snippets.empty())
    return shell + " -c ''";
  const std::string first = arguments_of(snippets.front(), context.work());
  if (snippets.size() == 1 && first.starts_with("'' '' '' "))
    return fmt::format("{} -c {}", shell, shell_quote(snippets.front().text));
  const fs::path file = machine::environment_file(context.directory());
  std::string line =
      fmt::format("bash -c {} bench {} {} {}", shell_quote(in_turn), shell,
                  shell_quote(machine::command_script(file)), shell_quote(file.string()));
  for (const machine::Snippet& snippet : snippets)
    line += " \\\n  " + arguments_of(snippet, context.work());
  return line;
}

/// The line that executes the commands, under the meter where the step measures energy.
std::string command_line(const RenderContext& context, const JobRequest& request,
                         const std::vector<machine::Snippet>& snippets, int launches) {
  const std::string commands = commands_in_turn(context, snippets);
  return context.step.energy && launches == 0
             ? meter_of_commands(context, request, energy_directory(context, launches, 1)) + " " +
                   commands
             : commands;
}

machine::TemplateVariables common_variables(const RenderContext& context,
                                            const JobRequest& request) {
  return {{"benchmark", one_line(context.run.benchmark.name)},
          {"step", context.step.name},
          {"workpackage", std::to_string(context.workpackage.id)},
          {"nodes", std::to_string(request.resources.nodes)}};
}

/// What the job asks for beside its size. Settings that nobody gives are empty.
machine::TemplateVariables settings_variables(const RenderContext& context,
                                              const JobRequest& request,
                                              const machine::Resources& resources) {
  machine::TemplateVariables variables;
  for (const document::AttributeKind& one : document::job_settings())
    variables[one.name] = "";
  for (const auto& [name, value] : request.settings)
    variables[name] = value;
  const std::string& exclusive = variables["exclusive"];
  variables["exclusive_option"] = exclusive.empty() ? "" : "--exclusive";
  variables["constraint"] =
      machine::constraint(context.run.platform, resources, variables["constraint"]);
  return variables;
}

/// The job template of the step, or else of the platform.
const machine::JobTemplates::Template& template_of(const RenderContext& context) {
  const std::string& own = context.step.batch->job_template;
  return job_template(context.run,
                      own.empty() ? context.run.platform.job_template : context.substitute(own));
}

/// The text of a template of `templates/` that goes with the platform's.
std::string fill_part(const RenderContext& context, const char* name,
                      const machine::TemplateVariables& variables) {
  const auto& found = job_template(context.run, name);
  return machine::fill(found.text, found.file.string(), variables);
}

/// What the script does before it begins; nothing for one whose parents are done.
std::string await_parents(const RenderContext& context) {
  std::vector<std::string> words;
  for (const fs::path& sentinel : context.awaited_sentinels)
    words.push_back(shell_quote(sentinel.string()));
  if (words.empty())
    return "";
  return std::string(strip(fill_part(context, "await.sh", {{"sentinels", join(words, " ")}})));
}

}  // namespace

std::string directive_file(const machine::Platform& platform, const fs::path& file) {
  std::string name = file.string();
  if (!platform.capabilities().expands_patterns)
    return name;
  if (name.find_first_of("\\\"\n") != std::string::npos)
    return "/dev/null";
  const std::string doubled = replace_all(name, "%", "%%");
  return doubled.find_first_of(" \t'#;$") == std::string::npos ? doubled : '"' + doubled + '"';
}

std::string job_name(const Run& run, const std::string& step, std::optional<long long> workpackage,
                     const std::string& uuid) {
  const machine::Capabilities& scheduler = run.platform.capabilities();
  if (scheduler.queues_jobs && !scheduler.keeps_comments)
    // Not the beginning of the UUID, which is the time and equal for all of a minute.
    return "bench-" + sha256(uuid).substr(0, 8);
  std::string name = fmt::format("{}_{}", run.benchmark.name, step);
  if (workpackage)
    name += fmt::format("_{}", *workpackage);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.')
      c = '_';
  return name;
}

std::string job_name(const Run& run, const std::string& step, const workspace::Attempt& attempt) {
  const bool is_plain = attempt.uuid == attempt.submission;
  return job_name(run, step, is_plain ? std::optional(attempt.workpackage) : std::nullopt,
                  attempt.submission);
}

fs::path messages_of(const Run& run, const std::string& submission) {
  return run.directory.path / "submissions" / submission / "messages";
}

std::string fill_job_template(const RenderContext& context, const JobRequest& request,
                              const JobHeader& header) {
  const machine::Platform& machine = context.run.platform;
  const machine::Resources resources = request.resources.times(header.pack);
  const auto& found = template_of(context);
  check_settings(context.run, context.step, found.text, found.file.filename().string());
  const auto limit_s = static_cast<long long>(std::ceil(request.time_limit_s));
  machine::TemplateVariables variables = common_variables(context, request);
  variables.merge(machine::TemplateVariables{
      {"job_name", header.job_name},
      {"uuid", header.uuid},
      {"tasks", std::to_string(resources.tasks())},
      {"tasks_per_node", std::to_string(resources.tasks_per_node)},
      {"threads_per_task", number_or_empty(resources.threads_per_task)},
      {"gpus_per_node", number_or_empty(resources.gpus_per_node)},
      {"gpu_request", machine::gpu_option(machine, resources)},
      {"hint", machine.hint},
      {"time_limit", limit_s > 0 ? clock_text(request.time_limit_s) : ""},
      {"time_limit_s", number_or_empty(limit_s)},
      {"time_limit_minutes", number_or_empty((limit_s + 59) / 60)},
      {"array", header.array},
      {"single", header.array.empty() ? "yes" : ""},
      {"dependency", header.dependency},
      {"directives",
       std::string(strip(std::string(strip(machine.directives)) + "\n" + request.options))},
      {"stdout", header.output},
      {"stderr", header.error},
      {"work_directory", shell_quote(context.work().string())}});
  variables.merge(settings_variables(context, request, resources));
  variables.merge(machine::TemplateVariables(header.parts));
  for (const auto& [name, value] : context.workpackage.parameters)
    variables.try_emplace(name, value);
  return machine::fill(found.text, found.file.string(), variables);
}

std::string launch_prefix(const RenderContext& context, const JobRequest& request,
                          const fs::path& out) {
  const bool side_by_side =
      request.pack > 1 || context.run.platform.capabilities().fills_allocation;
  std::string line = machine::launch_line(context.run.platform, request.resources, side_by_side);
  if (context.step.energy && !out.empty())
    line = line.empty() ? meter_of_commands(context, request, out)
                        : line + " " + meter_of_tasks(context, request, out);
  return line;
}

std::string render_job_script(const RenderContext& context, const JobRequest& request,
                              const std::string& uuid,
                              const workspace::EnvironmentChanges& inherited,
                              const std::vector<machine::Snippet>& snippets, int launches) {
  machine::TemplateVariables variables = common_variables(context, request);
  variables.merge(machine::TemplateVariables{
      {"attempt", uuid},
      {"script", shell_quote((context.directory() / "job.sh").string())},
      {"sentinel", shell_quote((context.directory() / "sentinel").string())},
      {"job_nodes", fmt::format("\"{}\"", context.run.platform.system().job_nodes)},
      {"work_directory", shell_quote(context.work().string())},
      {"await_parents", await_parents(context)},
      {"exports", exports(context, request, uuid, inherited)},
      {"prologue", std::string(strip(context.run.platform.prologue))},
      {"commands", command_line(context, request, snippets, launches)},
      {"afterwards", context.step.energy ? collect_energy(context, launches) : ""}});
  machine::TemplateVariables parts = variables;
  parts["body"] = fill_part(context, "body.sh", variables);
  return fill_job_template(
      context, request,
      {.uuid = uuid,
       .job_name = job_name(context.run, context.step.name, context.workpackage.id, uuid),
       .array = "",
       .dependency = "",
       .output = directive_file(context.run.platform, context.work() / "stdout"),
       .error = directive_file(context.run.platform, context.work() / "stderr"),
       .parts = parts});
}

bool takes_dependencies(const Run& run, const model::Step& step) {
  const std::string& own = step.batch->job_template;
  if (!run.platform.system().arrays.after || own.find('$') != std::string::npos)
    return false;
  const std::set<std::string> names =
      machine::variables_in(job_template(run, own.empty() ? run.platform.job_template : own).text);
  return names.contains("body") && names.contains("array") && names.contains("dependency");
}

bool limits_running(const Run& run, const model::Step& step) {
  const std::string& own = step.batch->job_template;
  if (!run.platform.capabilities().limits_running || own.find('$') != std::string::npos)
    return run.platform.capabilities().limits_running;
  const std::set<std::string> names =
      machine::variables_in(job_template(run, own.empty() ? run.platform.job_template : own).text);
  return names.contains("array") && names.contains("dependency");
}

std::optional<std::string> render_head(const RenderContext& context, const JobRequest& request) {
  const std::string body = "# the script of a workpackage";
  std::string head = fill_job_template(context, request,
                                       {.uuid = "-",
                                        .job_name = context.step.name,
                                        .array = "",
                                        .dependency = "",
                                        .output = "/dev/null",
                                        .error = "/dev/null",
                                        .parts = {{"body", body},
                                                  {"commands", "-"},
                                                  {"exports", "-"},
                                                  {"prologue", "-"},
                                                  {"attempt", "-"},
                                                  {"script", "-"},
                                                  {"sentinel", "-"}}});
  // Without a line for the tasks of an array, only the first of them would run.
  if (head.find(body) == std::string::npos ||
      (request.pack == 1 && !machine::variables_in(template_of(context).text).contains("array")))
    return std::nullopt;
  return fmt::format("{}\n{}", request.pack, head);
}

/// One task stands for all that a workpackage asks of a node.
std::string one_task_line(const RenderContext& context, const JobRequest& request) {
  machine::Platform machine = context.run.platform;
  machine.launcher = {.command = std::string(machine.capabilities().step_launcher)};
  // So its GPUs are the node's: a step's task must not have more of them than a task of its job.
  if (machine.gpu_request == machine::GpuRequest::gpus_per_task)
    machine.gpu_request = machine::GpuRequest::gres;
  machine::Resources one = request.resources;
  one.threads_per_task = std::max(1, one.threads_per_task) * one.tasks_per_node;
  one.tasks_per_node = 1;
  return machine::launch_line(machine, one, true);
}

std::vector<std::string> script_launcher(const RenderContext& context, const JobRequest& request) {
  const machine::Capabilities& machine = context.run.platform.capabilities();
  const bool starts_steps =
      starts_programs(context) ||
      std::ranges::any_of(context.step.commands, [&](const model::Command& command) {
        return command.text.find(machine.step_launcher) != std::string::npos;
      });
  if (!machine.fills_allocation || starts_steps || request.resources.nodes > 1)
    return {};
  return split_names(one_task_line(context, request), " ");
}

machine::TemplateVariables render_dispatcher(const RenderContext& context,
                                             const JobRequest& request, int pack,
                                             const fs::path& list) {
  const bool as_step =
      context.run.platform.capabilities().has_job_steps && pack > 1 && !starts_programs(context);
  machine::TemplateVariables variables = common_variables(context, request);
  variables["list"] = shell_quote(list.string());
  variables["line"] = std::string(context.run.platform.system().arrays.line);
  variables["side_by_side"] = as_step ? one_task_line(context, request) : "env";
  // What a template has beside the body belongs to each workpackage and is done in its own script.
  return {{"body", fill_part(context, "array.sh", variables)},
          {"exports", ":"},
          {"prologue", std::string(strip(context.run.platform.prologue))}};
}

}  // namespace bench::space
