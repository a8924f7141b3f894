#include "launches.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/systems.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;
using machine::GpuRequest;
using model::JobSetting;

int number(const RenderContext& context, const std::string& text, const char* what, int otherwise,
           int minimum) {
  const std::string substituted(strip(context.substitute(text)));
  if (substituted.empty())
    return otherwise;
  const auto parsed = parse_integer(substituted);
  constexpr int most = 10'000'000;
  if (!parsed || *parsed < minimum || *parsed > most)
    throw Error(Id::invalid_value,
                fmt::format("{} of step '{}' must be an integer of at least {}: {}", what,
                            context.step.name, minimum, substituted),
                "", context.step.batch->place);
  return static_cast<int>(*parsed);
}

/// Why the workpackages of a pack would share cores or GPUs; empty: each has its own.
std::string shared_in_pack(const RenderContext& context, const machine::Resources& resources) {
  const machine::Platform& machine = context.run.platform;
  if (!machine.capabilities().has_job_steps)
    return fmt::format("{} has no job steps", machine.scheduler);
  if (starts_programs(context) && !machine::starts_job_steps(machine.launcher.command))
    return fmt::format("{} does not start job steps", machine.launcher.command);
  if (!starts_programs(context) && resources.nodes > 1)
    return "without $jube_starter a job step has one node only";
  const bool asks =
      machine.gpu_request != GpuRequest::none && machine.gpu_request != GpuRequest::constraint;
  if (resources.gpus_per_node > 0 && !asks)
    return fmt::format("platform {} allocates GPUs only with whole nodes", machine.name);
  return "";
}

void check_fact(const machine::MaybeFact& fact, int wanted, const std::string& what,
                const RenderContext& context) {
  if (fact && !fact->unconfirmed && wanted > fact->value)
    throw Error(
        Id::machine_limit,
        fmt::format("step '{}' requests {} {}; platform {} has {}", context.step.name, wanted, what,
                    context.run.platform.name, fact->value),
        "`bench platforms show " + context.run.platform.name + "` shows what is known about it",
        context.step.batch->place);
}

/// Job steps do not share a core, so that each takes whole ones.
void separate(const RenderContext& context, JobRequest& request) {
  if (const std::string why = shared_in_pack(context, request.resources); !why.empty())
    throw Error(
        Id::conflict,
        fmt::format("the workpackages of a pack of step '{}' would share cores and GPUs: {}",
                    context.step.name, why),
        "remove `pack`", context.step.batch->place);
  const int of_core = threads_per_core(context.run, request.settings.at("partition")).value_or(1);
  if (of_core <= 1)
    return;
  machine::Resources& resources = request.resources;
  const int threads = std::max(1, resources.threads_per_task);
  resources.threads_per_task = (threads + of_core - 1) / of_core * of_core;
}

/// No shell reads a directive, so what is meant for one is a mistake, and a batch system may take
/// the rest of the line for a comment.
constexpr std::string_view of_shells = "`$\\;<>#";

/// What a value has that a directive cannot hold; empty: nothing.
/// @param further characters that are refused
std::string unfit_part(const std::string& value, std::string_view further) {
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n')
      return "a line break";
    if (code < 0x20 || code == 0x7f)
      return "a control character";
    if (of_shells.find(c) != std::string_view::npos || further.find(c) != std::string_view::npos)
      return c == ' ' ? "a space" : fmt::format("'{}'", c);
  }
  return "";
}

std::string hint_for(const std::string& value, const std::string& step) {
  const auto names = evaluate::names_in(value);
  return names.empty() ? ""
                       : fmt::format("'{}' is not a parameter of step '{}'", names.front(), step);
}

/// `setting` or `options`, as messages name it.
std::string name_of(const JobSetting& setting) {
  return setting.name.empty() ? "options" : setting.name;
}

std::string value_of(const RenderContext& context, const JobSetting& setting,
                     std::string_view further) {
  const std::string value(strip(context.substitute(setting.text)));
  if (const std::string part = unfit_part(value, further); !part.empty())
    throw Error(Id::invalid_value,
                fmt::format("`{}` of step '{}' contains {}, which a directive cannot hold: {}",
                            name_of(setting), context.step.name, part, one_line(value)),
                hint_for(value, context.step.name), setting.place);
  return value;
}

/// `yes` for true, empty for false.
std::string flag_of(const std::string& value, const JobSetting& setting, const model::Step& step) {
  const std::string word = to_lower(value);
  if (word != "true" && word != "false")
    throw Error(Id::invalid_value,
                fmt::format("`{}` of step '{}' must be true or false, not '{}'", setting.name,
                            step.name, value),
                "", setting.place);
  return word == "true" ? "yes" : "";
}

/// `--gres` of `--gres=gpu:4` and of `--gres gpu:4`.
std::string option_name(const std::string& option) {
  return option.substr(0, option.find_first_of("= \t"));
}

void check_option(const std::string& value, const JobSetting& option,
                  const RenderContext& context) {
  const std::string of_step = fmt::format("`options` of step '{}'", context.step.name);
  if (!value.starts_with('-') || value.find_first_not_of('-') == std::string::npos)
    throw Error(Id::invalid_value, fmt::format("{} must begin with a dash: '{}'", of_step, value),
                "write one option per item, such as --switches=1", option.place);
  const std::string name = option_name(value);
  const auto& own = context.run.platform.system().own_options;
  // A short option may have its value attached: -J1.
  const bool is_own = std::ranges::any_of(own, [&](std::string_view one) {
    return name == one || (one.size() == 2 && !name.starts_with("--") && name.starts_with(one));
  });
  if (is_own)
    throw Error(Id::conflict,
                fmt::format("{} cannot set {}, which bench sets itself", of_step, name),
                "remove it", option.place);
}

/// The settings of a workpackage's job: those of its step, parameters inserted, and the platform's
/// where the step says nothing.
/// @throws Error with the place of a value that a directive cannot hold
JobSettings job_settings_of(const RenderContext& context) {
  const machine::Platform& machine = context.run.platform;
  JobSettings settings{{"partition", machine.asking.partition},
                       {"account", machine.asking.account},
                       {"qos", machine.asking.qos},
                       {"reservation", machine.asking.reservation},
                       {"constraint", machine.constraint},
                       {"exclusive", machine.exclusive ? "yes" : ""},
                       {"memory", machine.memory}};
  for (const JobSetting& setting : context.step.batch->settings) {
    const std::string value = value_of(context, setting, " \t'\"");
    if (!value.empty())
      settings[setting.name] =
          setting.name == "exclusive" ? flag_of(value, setting, context.step) : value;
  }
  if (!context.wanted_nodes.empty())
    settings["nodelist"] = context.wanted_nodes;
  if (!context.avoided_nodes.empty() && settings["nodelist"].empty()) {
    std::string& exclude = settings["exclude"];
    exclude += (exclude.empty() ? "" : ",") + context.avoided_nodes;
  }
  return settings;
}

/// The further options of the step as directives of the platform's batch system, a line each.
/// @throws Error with the place of an option that is none, that a directive cannot hold, or that
/// bench sets itself
std::string option_lines(const RenderContext& context) {
  const machine::SystemKind& system = context.run.platform.system();
  std::vector<std::string> lines;
  for (const JobSetting& option : context.step.batch->options) {
    const std::string value = value_of(context, option, "");
    if (value.empty())
      continue;
    check_option(value, option, context);
    if (!system.capabilities.queues_jobs)
      continue;
    if (system.directive.empty())
      throw Error(Id::unsupported,
                  fmt::format("`options` of step '{}': bench does not know the directives of "
                              "platform {}",
                              context.step.name, context.run.platform.name),
                  "write them into the job template", option.place);
    lines.push_back(fmt::format("{} {}", system.directive, value));
  }
  return join(lines, "\n");
}

std::string template_name(const Run& run, const model::Step& step) {
  const std::string& own = step.batch->job_template;
  return own.empty() ? run.platform.job_template : own;
}

/// Whether the template, or the command that submits, takes the setting.
bool is_taken(const Run& run, const std::string& name, const std::set<std::string>& variables) {
  if (variables.contains(name) || (name == "exclusive" && variables.contains("exclusive_option")))
    return true;
  return name == "account" &&
         run.platform.commands.submit.find("BENCH_ACCOUNT") != std::string::npos;
}

/// Names of parameters in a template that look as if they were inserted there.
void warn_of_names(const Run& run, const model::Step& step, const std::string& text,
                   const std::string& file, Diagnostics& diagnostics) {
  const std::set<std::string> parameters = model::parameter_names(run.benchmark, step);
  const std::string_view directive = run.platform.system().directive;
  Place place{.file = file};
  for (const std::string& line : split(text, "\n")) {
    ++place.line;
    const bool is_directive = !directive.empty() && line.starts_with(directive);
    if (!is_directive && strip(line).starts_with('#'))
      continue;
    for (const std::string& name : evaluate::names_in(line)) {
      if (!parameters.contains(name) ||
          (!is_directive && text.find(name + "=") != std::string::npos))
        continue;
      const auto at = std::min(line.find("$" + name), line.find("${" + name));
      place.column = static_cast<int>(at == std::string::npos ? 0 : at) + 1;
      diagnostics.warn(
          Id::shadowed_name,
          fmt::format("'${}' is the name of a parameter of step '{}', but stays as written in a "
                      "job template",
                      name, step.name),
          "write {{" + name + "}} for its value", place);
    }
  }
}

/// @param variables those of the job template
void check_same_nodes(const Run& run, const model::Step& step,
                      const std::set<std::string>& variables, const std::string& name) {
  const machine::Platform& machine = run.platform;
  if (machine.capabilities().fills_allocation)
    throw Error(Id::no_effect,
                fmt::format("`same_nodes` of step '{}' has no effect in an allocation: job steps "
                            "get whichever of its nodes are free",
                            step.name),
                "remove it, and allocate as many nodes as a workpackage takes", step.batch->place);
  if (!machine.capabilities().queues_jobs)
    return;
  const auto refuse = [&](const std::string& why) {
    throw Error(Id::unsupported,
                fmt::format("`same_nodes` of step '{}' does not work here: {}", step.name, why),
                "remove it, or name the nodes in `nodelist` or `options`", step.batch->place);
  };
  if (machine.system().job_nodes.empty())
    refuse(fmt::format("bench does not know how {} names the nodes of a job", machine.scheduler));
  if (!variables.contains("nodelist") || !variables.contains("body"))
    refuse(fmt::format("the job template {} has no lines with {{{{nodelist?}}}} and {{{{body}}}}",
                       name));
}

/// Beside the benchmark first, then beside the platform's file.
std::vector<fs::path> template_directories(const Run& run) {
  const fs::path beside = run.platform.file.parent_path();
  return {run.metadata.home, fs::path(run.metadata.home) / "templates", beside,
          beside.parent_path() / "templates"};
}

}  // namespace

std::optional<int> threads_per_core(const Run& run, const std::string& partition) {
  const machine::MaybeFact& known = run.platform.machine.threads_per_core;
  if (known && !known->unconfirmed)
    return static_cast<int>(known->value);
  const machine::Partition* const found = partition_of(run, partition);
  return found ? found->threads_per_core : std::nullopt;
}

bool starts_programs(const RenderContext& context) {
  return uses_launcher(context.step) && !context.run.platform.launcher.command.empty();
}

JobRequest job_request_of(const RenderContext& context) {
  const model::Batch& batch = *context.step.batch;
  JobRequest request;
  request.resources = {
      .nodes = number(context, batch.nodes, "nodes", 1, 1),
      .tasks_per_node = number(context, batch.tasks_per_node, "tasks_per_node", 1, 1),
      .threads_per_task = number(context, batch.threads_per_task, "threads_per_task", 0, 0),
      .gpus_per_node = number(context, batch.gpus_per_node, "gpus_per_node", 0, 0),
      .kill_on_bad_exit = batch.kill_on_bad_exit};
  request.settings = job_settings_of(context);
  request.options = option_lines(context);
  machine::Resources& resources = request.resources;
  if (batch.threads_per_task.empty() && resources.gpus_per_node > 0)
    resources.threads_per_task = machine::cores_of_gpus(
        context.run.platform, resources.gpus_per_node, resources.tasks_per_node);
  request.pack = number(context, batch.pack, "pack", 1, 1);
  if (request.pack > 1 && context.run.platform.capabilities().queues_jobs)
    separate(context, request);
  const machine::Machine& machine = context.run.platform.machine;
  check_fact(machine.nodes, resources.nodes, "nodes", context);
  check_fact(machine.devices_per_node, resources.gpus_per_node * request.pack, "GPUs on a node",
             context);
  const std::string limit = context.substitute(batch.time_limit);
  if (!limit.empty())
    request.time_limit_s = model::parse_time_limit_s(limit, batch.place);
  // Where the commands are one job, the step's `timeout` is a limit on it like the other.
  if (const std::string timeout = context.substitute(context.step.timeout); !timeout.empty()) {
    const double timeout_s = parse_duration_s(timeout, context.step.place);
    if (request.time_limit_s == 0 || timeout_s < request.time_limit_s)
      request.time_limit_s = timeout_s;
  }
  if (context.step.retry)
    request.time_limit_s *=
        std::pow(context.step.retry->time_limit_factor, context.workpackage.timeouts);
  return request;
}

machine::SubmissionDefaults asking_of(const JobSettings& settings) {
  const auto value = [&settings](std::string_view name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string() : found->second;
  };
  return {.partition = value("partition"),
          .account = value("account"),
          .qos = value("qos"),
          .reservation = value("reservation")};
}

void check_settings(const Run& run, const model::Step& step, const std::string& text,
                    const std::string& name) {
  const std::set<std::string> variables = machine::variables_in(text);
  if (step.batch->same_nodes)
    check_same_nodes(run, step, variables, name);
  if (!run.platform.capabilities().queues_jobs)
    return;
  for (const JobSetting& setting : step.batch->settings) {
    if (is_taken(run, setting.name, variables))
      continue;
    const std::string written = setting.name == "exclusive" ? to_lower(setting.text) : setting.text;
    if (written.empty() || written == "false")
      continue;
    throw Error(
        Id::unsupported,
        fmt::format("the job template {} has no line for `{}` of step '{}'", name, setting.name,
                    step.name),
        fmt::format("write the directive of the batch system in `options`, or add a line with "
                    "{{{{{}?}}}} to a template of your own",
                    setting.name),
        setting.place);
  }
  if (!step.batch->options.empty() && !variables.contains("directives"))
    throw Error(
        Id::unsupported,
        fmt::format("the job template {} has no line for `options` of step '{}'", name, step.name),
        "add a line {{directives?}} to it", step.batch->options.front().place);
}

void check_templates(const Run& run, Diagnostics& diagnostics) {
  for (const model::Step& step : run.benchmark.steps) {
    if (!step.batch || template_name(run, step).find('$') != std::string::npos)
      continue;
    const auto& found = job_template(run, template_name(run, step));
    check_settings(run, step, found.text, found.file.filename().string());
    warn_of_names(run, step, found.text, found.file.string(), diagnostics);
    if (const auto& file = run.platform.file; !run.platform.directives.empty())
      warn_of_names(run, step, std::string(strip(run.platform.directives)),
                    file.string() + " (directives)", diagnostics);
  }
}

const machine::JobTemplates::Template& job_template(const Run& run, const std::string& name) {
  return run.job_templates.read(name, template_directories(run));
}

}  // namespace bench::space
