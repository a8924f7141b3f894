#include "render.hpp"

#include "job_script.hpp"
#include "starters.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>

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

/// Of a job script: with `$jube_starter`, each its own where several programs are measured.
std::vector<schedule::Snippet> render_batch_snippets(Scope scope, const Geometry& geometry,
                                                     int starters) {
  scope.variables["jube_starter"] = starter(scope, geometry, scope.work());
  if (starters == 1)
    return render_snippets(scope, 0, size_of(scope.step));
  for (int number = 1; number <= starters; ++number)
    scope.variables[starter_variable(number)] =
        starter(scope, geometry, scope.work() / energy_directory(number));
  model::Step numbered = scope.step;
  int count = 0;
  for (model::Command& command : numbered.commands)
    if (scope.holds(command.active, command.place))
      command.text = with_numbered_starters(command.text, count);
  const Scope of_programs{.run = scope.run,
                          .step = numbered,
                          .workpackage = scope.workpackage,
                          .variables = scope.variables,
                          .evaluator = scope.evaluator};
  return render_snippets(of_programs, 0, size_of(numbered));
}

double duration_s(const Scope& scope, const std::string& text, const Place& place) {
  const std::string substituted = scope.substitute(text);
  return substituted.empty() ? 0 : parse_duration_s(substituted, place);
}

}  // namespace

const std::vector<fs::path>& program_directories() {
  static const std::vector<fs::path> found = [] {
    const fs::path here = executable_directory();
    std::vector<fs::path> directories;
    std::error_code absent;
    for (const fs::path& candidate :
         {here, here / "steps", here.parent_path() / "libexec" / "bench" / "steps"})
      if (fs::is_directory(candidate, absent))
        directories.push_back(candidate);
    return directories;
  }();
  return found;
}

schedule::Snippet render_command(const model::Command& command, const Scope& scope,
                                 std::string name) {
  std::string text = scope.substitute(command.text);
  // JUBE strips them, since it goes on after the text with `&& ...`.
  text.erase(0, std::min(text.find_first_not_of(';'), text.size()));
  text.erase(text.find_last_not_of(';') + 1);
  const fs::path base = command.shared ? scope.shared() : scope.work();
  return {.text = text,
          .stdout_file = base / scope.file_name(command.stdout_file),
          .stderr_file = base / scope.file_name(command.stderr_file),
          .directory = command.work_dir.empty() ? fs::path() : scope.directory_of(command),
          .name = std::move(name)};
}

double timeout_of(const Scope& scope, const Part& part) {
  return part.script ? geometry_of(scope).time_limit_s
                     : duration_s(scope, scope.step.timeout, scope.step.place);
}

Rendered render(const Scope& scope, const Part& part, const std::string& uuid,
                const workspace::EnvironmentChanges& inherited) {
  Rendered rendered;
  if (!part.script) {
    rendered.timeout_s = timeout_of(scope, part);
    rendered.snippets = render_snippets(scope, part.begin, part.end);
    return rendered;
  }
  rendered.geometry = geometry_of(scope);
  const int starters = measured_starters(scope);
  rendered.script =
      render_job_script(scope, rendered.geometry, uuid, inherited,
                        render_batch_snippets(scope, rendered.geometry, starters), starters);
  rendered.timeout_s = rendered.geometry.time_limit_s;
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
