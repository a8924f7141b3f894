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

int size_of(const model::Step& step) {
  return static_cast<int>(step.commands.size());
}

/// The commands from `begin` to `end` that are active and not empty.
std::vector<schedule::Snippet> render_snippets(const Scope& scope, int begin, int end) {
  std::vector<schedule::Snippet> snippets;
  for (int k = begin; k < end; ++k) {
    const model::Command& command = scope.step.commands[static_cast<std::size_t>(k)];
    if (!command.text.empty() && scope.holds(command.active, command.place))
      snippets.push_back(render_command(
          command, scope, fmt::format("command {} of {}", k + 1, size_of(scope.step))));
  }
  return snippets;
}

std::string exports(const Scope& scope, const std::string& uuid) {
  std::string lines = fmt::format("export BENCH_ATTEMPT={}\n", uuid);
  std::string path;
  for (const fs::path& directory : program_directories())
    path += shell_quote(directory.string()) + ":";
  if (!path.empty())
    lines += fmt::format("export PATH={}\"$PATH\"\n", path);
  for (const auto& [name, value] : scope.run.platform.environment)
    lines += fmt::format("export {}={}\n", name, shell_quote(value));
  for (const auto& [name, value] : exported_parameters(scope.run, scope.workpackage))
    lines += fmt::format("export {}={}\n", name, shell_quote(value));
  lines.pop_back();
  return lines;
}

/// A command as a part of a job script. The variables that it sets stay for the next one.
std::string script_text(const schedule::Snippet& snippet, const fs::path& work) {
  std::string text = snippet.text;
  if (!snippet.directory.empty()) {
    const std::string directory = shell_quote(snippet.directory.string());
    text = fmt::format("mkdir -p {0} && cd {0}\n{1}\ncd {2}", directory, text,
                       shell_quote(work.string()));
  }
  std::string redirections;
  if (snippet.stdout_file != work / "stdout")
    redirections += " >>" + shell_quote(snippet.stdout_file.string());
  if (snippet.stderr_file != work / "stderr")
    redirections += " 2>>" + shell_quote(snippet.stderr_file.string());
  return redirections.empty() ? text : fmt::format("{{\n{}\n}}{}", text, redirections);
}

/// The line that executes the commands, under the meter where the step measures energy.
std::string command_line(const Scope& scope) {
  std::vector<std::string> texts;
  for (const schedule::Snippet& snippet : render_snippets(scope, 0, size_of(scope.step)))
    texts.push_back(script_text(snippet, scope.work()));
  std::string commands = fmt::format("bash -e -o pipefail -c {}", shell_quote(join(texts, "\n")));
  if (!scope.step.energy)
    return commands;
  const std::string& wanted = scope.run.fact("power_source");
  return fmt::format(
      "bench-energy --method {} --interval {} --out {} -- {}",
      shell_quote(wanted.empty() ? scope.substitute(scope.step.energy->methods) : wanted),
      shell_quote(scope.substitute(scope.step.energy->interval)),
      shell_quote(scope.work().string()), commands);
}

/// As Slurm's `--time` takes it: `HH:MM:SS`, rounded up.
std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  return fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

platform::Holes holes(const Scope& scope, const std::string& uuid, double time_limit_s) {
  const model::Batch& batch = *scope.step.batch;
  const platform::Platform& machine = scope.run.platform;
  const fs::path work = scope.work();
  const std::string gpus = scope.substitute(batch.gpus_per_node);
  const bool ask = !gpus.empty() && gpus != "0";
  using platform::GpuRequest;
  return {{"benchmark", scope.run.benchmark.name},
          {"step", scope.step.name},
          {"workpackage", std::to_string(scope.workpackage.id)},
          {"job_name", fmt::format("{}_{}_{}", replace_all(scope.run.benchmark.name, " ", "_"),
                                   scope.step.name, scope.workpackage.id)},
          {"uuid", uuid},
          {"nodes", scope.substitute(batch.nodes)},
          {"tasks_per_node", scope.substitute(batch.tasks_per_node)},
          {"threads_per_task", scope.substitute(batch.threads_per_task)},
          {"gres_gpus", ask && machine.gpu_request == GpuRequest::gres ? gpus : ""},
          {"gpus_per_node", ask && machine.gpu_request == GpuRequest::gpus_per_node ? gpus : ""},
          {"time_limit", time_limit_s > 0 ? clock_text(time_limit_s) : ""},
          {"partition", machine.partition},
          {"account", machine.account},
          {"qos", machine.qos},
          {"stdout", (work / "stdout").string()},
          {"stderr", (work / "stderr").string()},
          {"sentinel", shell_quote((scope.directory() / "sentinel").string())},
          {"work_directory", shell_quote(work.string())},
          {"exports", exports(scope, uuid)},
          {"commands", command_line(scope)}};
}

std::string render_script(const Scope& scope, const std::string& uuid, double time_limit_s) {
  const std::string& own = scope.step.batch->job_template;
  fs::path file;
  const std::string text = platform::read_job_template(
      own.empty() ? scope.run.platform.job_template : scope.substitute(own), scope.run.fact("home"),
      file);
  fs::path body_file;
  const std::string body = platform::read_job_template("body.sh", file.parent_path(), body_file);
  platform::Holes values = holes(scope, uuid, time_limit_s);
  values["body"] = platform::fill(body, body_file.string(), values);
  return platform::fill(text, file.string(), values);
}

double duration_s(const Scope& scope, const std::string& text, const Place& place) {
  const std::string substituted = scope.substitute(text);
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

schedule::Snippet render_command(const model::Command& command, const Scope& scope,
                                 std::string name) {
  std::string text = scope.substitute(command.text);
  // JUBE strips them, since it goes on after the text with `&& ...`.
  text.erase(0, std::min(text.find_first_not_of(';'), text.size()));
  text.erase(text.find_last_not_of(';') + 1);
  const fs::path base = command.shared ? scope.shared() : scope.work();
  return {.text = text,
          .stdout_file = base / scope.substitute(command.stdout_file),
          .stderr_file = base / scope.substitute(command.stderr_file),
          .directory = command.work_dir.empty() ? fs::path() : scope.directory_of(command),
          .name = std::move(name)};
}

Rendered render(const Scope& scope, const Part& part, const std::string& uuid) {
  Rendered rendered;
  rendered.timeout_s = duration_s(scope, scope.step.timeout, scope.step.place);
  if (!part.script) {
    rendered.snippets = render_snippets(scope, part.begin, part.end);
    return rendered;
  }
  const model::Batch& batch = *scope.step.batch;
  const double limit_s = duration_s(scope, batch.time_limit, batch.place);
  rendered.script = render_script(scope, uuid, limit_s);
  if (limit_s > 0 && (rendered.timeout_s == 0 || limit_s < rendered.timeout_s))
    rendered.timeout_s = limit_s;
  return rendered;
}

Rendered render(const Run& run, const Workpackage& workpackage, const Variables& variables,
                const std::string& uuid, evaluate::Evaluator& evaluator) {
  const Scope scope{.run = run,
                    .step = *run.benchmark.step(workpackage.step),
                    .workpackage = workpackage,
                    .variables = variables,
                    .evaluator = evaluator};
  return render(scope,
                {.script = scope.step.batch.has_value(), .begin = 0, .end = size_of(scope.step)},
                uuid);
}

}  // namespace bench::engine
