#include "render.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/platform/job_template.hpp>

namespace bench::engine {
namespace {

namespace fs = std::filesystem;
using workspace::Workpackage;

/// What every part of a rendering needs.
struct Context {
  const Run& run;
  const model::Step& step;
  const Workpackage& workpackage;
  const Variables& variables;
  evaluate::Evaluator& evaluator;
  fs::path directory;

  std::string substitute(const std::string& text) const {
    return evaluate::substitute(text, lookup_in(variables, workpackage.parameters));
  }
};

bool holds(const Context& context, const std::string& expression, const Place& place) {
  if (expression == "true")
    return true;
  const std::vector<std::string> texts{context.substitute(expression)};
  const auto outcome = context.evaluator.evaluate_truth(texts).front();
  if (!outcome.ok)
    throw Error(fmt::format("active is no expression: {}", outcome.error),
                fmt::format("evaluated was: {}", texts[0]), place);
  return outcome.value == "True";
}

/// The commands to execute, substituted, without those that are not active or empty.
std::vector<schedule::Snippet> render_snippets(const Context& context) {
  std::vector<schedule::Snippet> snippets;
  const fs::path work = context.directory / "work";
  for (const model::Command& command : context.step.commands) {
    if (command.text.empty() || !holds(context, command.active, command.place))
      continue;
    std::string text = context.substitute(command.text);
    // JUBE strips them, since it goes on after the text with `&& ...`.
    text.erase(0, std::min(text.find_first_not_of(';'), text.size()));
    text.erase(text.find_last_not_of(';') + 1);
    snippets.push_back({.text = text,
                        .stdout_file = work / context.substitute(command.stdout_file),
                        .stderr_file = work / context.substitute(command.stderr_file)});
  }
  return snippets;
}

std::string exports(const Context& context, const std::string& uuid) {
  std::string lines = fmt::format("export BENCH_ATTEMPT={}\n", uuid);
  std::string path;
  for (const fs::path& directory : program_directories())
    path += shell_quote(directory.string()) + ":";
  if (!path.empty())
    lines += fmt::format("export PATH={}\"$PATH\"\n", path);
  for (const auto& [name, value] : context.run.platform.environment)
    lines += fmt::format("export {}={}\n", name, shell_quote(value));
  for (const auto& [name, value] : exported_parameters(context.run, context.workpackage))
    lines += fmt::format("export {}={}\n", name, shell_quote(value));
  lines.pop_back();
  return lines;
}

/// The line that executes the commands, under the meter where the step measures energy.
std::string command_line(const Context& context) {
  std::vector<std::string> texts;
  for (const schedule::Snippet& snippet : render_snippets(context))
    texts.push_back(snippet.text);
  const std::string commands =
      fmt::format("bash -e -o pipefail -c {}", shell_quote(join(texts, "\n")));
  if (!context.step.energy)
    return commands;
  const std::string& wanted = context.run.fact("power_source");
  return fmt::format(
      "bench-energy --method {} --interval {} --out {} -- {}",
      shell_quote(wanted.empty() ? context.substitute(context.step.energy->methods) : wanted),
      shell_quote(context.substitute(context.step.energy->interval)),
      shell_quote((context.directory / "work").string()), commands);
}

/// As Slurm's `--time` takes it: `HH:MM:SS`, rounded up.
std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  return fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

platform::Holes holes(const Context& context, const std::string& uuid, double time_limit_s) {
  const model::Batch& batch = *context.step.batch;
  const platform::Platform& machine = context.run.platform;
  const fs::path work = context.directory / "work";
  const std::string gpus = context.substitute(batch.gpus_per_node);
  const bool ask = !gpus.empty() && gpus != "0";
  using platform::GpuRequest;
  return {{"benchmark", context.run.benchmark.name},
          {"step", context.step.name},
          {"workpackage", std::to_string(context.workpackage.id)},
          {"job_name", fmt::format("{}_{}_{}", replace_all(context.run.benchmark.name, " ", "_"),
                                   context.step.name, context.workpackage.id)},
          {"uuid", uuid},
          {"nodes", context.substitute(batch.nodes)},
          {"tasks_per_node", context.substitute(batch.tasks_per_node)},
          {"threads_per_task", context.substitute(batch.threads_per_task)},
          {"gres_gpus", ask && machine.gpu_request == GpuRequest::gres ? gpus : ""},
          {"gpus_per_node", ask && machine.gpu_request == GpuRequest::gpus_per_node ? gpus : ""},
          {"time_limit", time_limit_s > 0 ? clock_text(time_limit_s) : ""},
          {"partition", machine.partition},
          {"account", machine.account},
          {"qos", machine.qos},
          {"stdout", (work / "stdout").string()},
          {"stderr", (work / "stderr").string()},
          {"sentinel", shell_quote((context.directory / "sentinel").string())},
          {"work_directory", shell_quote(work.string())},
          {"exports", exports(context, uuid)},
          {"commands", command_line(context)}};
}

std::string render_script(const Context& context, const std::string& uuid, double time_limit_s) {
  const std::string& own = context.step.batch->job_template;
  fs::path file;
  const std::string text = platform::read_job_template(
      own.empty() ? context.run.platform.job_template : context.substitute(own),
      context.run.fact("home"), file);
  fs::path body_file;
  const std::string body = platform::read_job_template("body.sh", file.parent_path(), body_file);
  platform::Holes values = holes(context, uuid, time_limit_s);
  values["body"] = platform::fill(body, body_file.string(), values);
  return platform::fill(text, file.string(), values);
}

double duration_s(const Context& context, const std::string& text, const Place& place) {
  const std::string substituted = context.substitute(text);
  return substituted.empty() ? 0 : parse_duration_s(substituted, place);
}

}  // namespace

std::vector<fs::path> program_directories() {
  const fs::path here = executable_directory();
  std::vector<fs::path> directories;
  std::error_code absent;
  for (const fs::path& candidate :
       {here, here / "steps", here.parent_path() / "libexec" / "bench" / "steps"})
    if (fs::is_directory(candidate, absent))
      directories.push_back(candidate);
  return directories;
}

Rendered render(const Run& run, const Workpackage& workpackage, const Variables& variables,
                const std::string& uuid, evaluate::Evaluator& evaluator) {
  const Context context{.run = run,
                        .step = *run.benchmark.step(workpackage.step),
                        .workpackage = workpackage,
                        .variables = variables,
                        .evaluator = evaluator,
                        .directory = run.directory.path / workpackage.directory};
  Rendered rendered;
  rendered.timeout_s = duration_s(context, context.step.timeout, context.step.place);
  if (!context.step.batch) {
    rendered.snippets = render_snippets(context);
    return rendered;
  }
  const model::Batch& batch = *context.step.batch;
  const double limit_s = duration_s(context, batch.time_limit, batch.place);
  rendered.script = render_script(context, uuid, limit_s);
  if (limit_s > 0 && (rendered.timeout_s == 0 || limit_s < rendered.timeout_s))
    rendered.timeout_s = limit_s;
  return rendered;
}

}  // namespace bench::engine
