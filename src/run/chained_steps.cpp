#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/chained_steps.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>

namespace bench::run {
namespace {

using evaluate::Mode;
using model::Step;

/// ` (in.yaml:12)`; empty where the place is unknown.
std::string in_brackets(const Place& place) {
  return place.known()
             ? fmt::format(" ({}:{})", std::filesystem::path(place.file).filename().string(),
                           place.line)
             : "";
}

bool has_batch_parent(const space::Run& run, const Step& step) {
  return std::ranges::any_of(step.depend, [&](const std::string& parent) {
    return space::is_scheduled(run, *run.benchmark.step(parent));
  });
}

/// The steps on which a step depends, directly or indirectly.
void add_ancestors(const model::Benchmark& benchmark, const Step& step,
                   std::set<std::string>& names) {
  for (const std::string& parent : step.depend)
    if (names.insert(parent).second)
      add_ancestors(benchmark, *benchmark.step(parent), names);
}

/// Whether a Python expression may read a file. The evaluator has `os` and `subprocess` at hand.
bool may_read(const std::string& expression) {
  static const Regex words(
      R"(\b(open|import|__import__|exec|eval|compile|getattr|globals|os|subprocess)\b)");
  return words.search(expression).has_value();
}

/// The JUBE variable in a text that refers to directories of the run; empty if there is none.
std::string variable_of_run(const std::string& text) {
  for (const std::string& name : evaluate::names_in(text))
    if (name.starts_with("jube_wp_") || name == "jube_benchmark_rundir" ||
        name == "jube_benchmark_id" || name == "jube_benchmark_padid")
      return name;
  return "";
}

/// Checks whether the batch system can make jobs of the step wait for others.
std::string jobs_chain_blocker(const space::Run& run, const Step& step) {
  if (!space::is_scheduled(run, step))
    return "it is not a batch step";
  if (!run.platform.system().arrays.after)
    return fmt::format("{} cannot make jobs depend on the success of others",
                       run.platform.system().name);
  if (!space::takes_dependencies(run, step))
    return "its job template has no lines with {{body}}, {{array?}} and {{dependency?}}, or "
           "depends on a parameter";
  if (step.batch->same_nodes)
    return "`same_nodes` makes its jobs wait until the first of them has begun" +
           in_brackets(step.batch->place);
  if (step.prune)
    return "`prune` needs results to decide which of its workpackages run" +
           in_brackets(step.prune->place);
  for (const auto& [is_given, name] :
       {std::pair(step.procs > 0, "procs"), std::pair(!step.max_async.empty(), "max_async"),
        std::pair(!step.work_dir.empty(), "work_dir"), std::pair(!step.shared.empty(), "shared")})
    if (is_given)
      return fmt::format("`{}` limits how many of its jobs run at a time{}", name,
                         in_brackets(step.place));
  return "";
}

/// The exit code of a parent's job must reflect the outcome of exactly one workpackage.
std::string parents_chain_blocker(const space::Run& run, const Step& step) {
  for (const std::string& name : step.depend) {
    const Step& parent = *run.benchmark.step(name);
    if (!parent.batch || !space::is_scheduled(run, parent))
      continue;
    if (parent.batch->may_pack())
      return fmt::format("a job of step '{}' runs several workpackages: `pack`{}", name,
                         in_brackets(parent.batch->place));
    if (parent.cycles > 1)
      return fmt::format("step '{}' has a job for each of its `cycles`{}", name,
                         in_brackets(parent.place));
  }
  return "";
}

/// Whether a step that uses or inherits a parameter evaluates its text itself.
bool is_evaluated(const model::Benchmark& benchmark, const Step& step,
                  const model::Parameter& parameter, bool is_own) {
  for (const std::string& parent : step.depend)
    if (const auto* inherited =
            space::definition_of(benchmark, *benchmark.step(parent), parameter.name))
      return space::is_reevaluated(*inherited, is_own ? &parameter : nullptr) ||
             parameter.update_mode == model::UpdateMode::cycle;
  return true;
}

std::string parameter_chain_blocker(const model::Parameter& parameter) {
  std::vector<std::string> texts = parameter.values;
  texts.push_back(parameter.text);
  const auto reads = std::ranges::any_of(texts, may_read);
  if (parameter.mode == Mode::shell || parameter.mode == Mode::perl ||
      (parameter.mode == Mode::python && reads))
    return fmt::format("parameter '{}' is a script that may read files of the parents{}",
                       parameter.name, in_brackets(parameter.place));
  return "";
}

std::string parameters_chain_blocker(const model::Benchmark& benchmark, const Step& step) {
  std::set<std::string> sources;
  add_ancestors(benchmark, step, sources);
  sources.insert(step.name);
  for (const std::string& source : sources)
    for (const model::Parameter* parameter :
         model::possible_parameters(benchmark, *benchmark.step(source)))
      if (is_evaluated(benchmark, step, *parameter, source == step.name))
        if (std::string found = parameter_chain_blocker(*parameter); !found.empty())
          return found;
  std::vector<std::string> expressions{step.where, step.active};
  for (const model::Command& command : step.commands)
    expressions.push_back(command.active);
  for (const std::string& expression : expressions)
    if (may_read(expression))
      return fmt::format("the expression '{}' may read files of the parents{}", expression,
                         in_brackets(step.place));
  return "";
}

std::string file_set_chain_blocker(const model::FileSet& set) {
  for (const model::FileEntry& entry : set.entries) {
    if (entry.action == model::FileEntry::Action::prepare)
      return fmt::format("`prepare` of file set '{}' may read files of the parents{}", set.name,
                         in_brackets(entry.command.place));
    if (entry.internal)
      return fmt::format("file set '{}' copies or links files from the work directory{}", set.name,
                         in_brackets(entry.place));
    std::vector<std::string> texts = entry.paths;
    texts.push_back(entry.source_dir);
    for (const std::string& text : texts)
      if (const std::string name = variable_of_run(text); !name.empty())
        return fmt::format("file set '{}' refers to ${}{}", set.name, name,
                           in_brackets(entry.place));
  }
  return "";
}

std::string substitutions_chain_blocker(const model::SubstituteSet& set,
                                        const std::set<std::string>& ancestors) {
  for (const model::SubstitutedFile& file : set.files) {
    const std::string path = std::filesystem::path(file.in).lexically_normal().string();
    const bool is_linked = ancestors.contains(path.substr(0, path.find('/')));
    if (is_linked || !variable_of_run(file.in).empty())
      return fmt::format("substitution '{}' reads {}{}", set.name, file.in,
                         in_brackets(file.place));
  }
  return "";
}

std::string files_chain_blocker(const model::Benchmark& benchmark, const Step& step) {
  std::set<std::string> ancestors;
  add_ancestors(benchmark, step, ancestors);
  for (const std::string& use : step.use) {
    for (const model::FileSet& set : benchmark.file_sets)
      if (model::may_name(use, set.name))
        if (std::string found = file_set_chain_blocker(set); !found.empty())
          return found;
    for (const model::SubstituteSet& set : benchmark.substitute_sets)
      if (model::may_name(use, set.name))
        if (std::string found = substitutions_chain_blocker(set, ancestors); !found.empty())
          return found;
  }
  return "";
}

}  // namespace

std::string chain_blocker(const space::Run& run, const Step& step) {
  std::string found = jobs_chain_blocker(run, step);
  if (found.empty())
    found = parents_chain_blocker(run, step);
  if (found.empty())
    found = parameters_chain_blocker(run.benchmark, step);
  if (found.empty())
    found = files_chain_blocker(run.benchmark, step);
  return found;
}

bool chain_steps(space::Run& run, std::vector<std::string>& notices) {
  if (!run.platform.capabilities().queues_jobs) {
    notices.push_back(
        fmt::format("--chain has no effect: platform {} has no batch system", run.platform.name));
    return false;
  }
  if (run.metadata.chained)
    return true;
  std::vector<std::string> names;
  bool any_follows = false;
  for (const Step& step : run.benchmark.steps) {
    if (!has_batch_parent(run, step))
      continue;
    any_follows = true;
    const std::string blocker = chain_blocker(run, step);
    if (blocker.empty())
      names.push_back(step.name);
    else
      notices.push_back(fmt::format(
          "step '{}' is not chained and starts when its parents are done: {}", step.name, blocker));
  }
  if (!any_follows)
    notices.emplace_back("--chain has no effect: no step depends on a batch step");
  if (names.empty())
    return false;
  run.metadata.chained = join(names, ",");
  return true;
}

}  // namespace bench::run
