#include "command.hpp"
#include "runs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/table.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using workspace::Workspace;
using Access = Workspace::Access;

struct InfoOptions {
  RunChoice choice;
  std::vector<std::string> steps;
  std::vector<long long> workpackages;
  std::string separator = ",";
  bool parameters = false;
  // Whether the option was given, with or without values.
  bool of_steps = false;
  bool of_workpackages = false;
  bool csv = false;
};

/// Everything about one run that is not its table.
std::string run_information(const space::Run& run, const workspace::Workspace& workspace) {
  constexpr std::array shown{
      "benchmark",    "comment",    "started",     "accepted",     "tags",          "platform",
      "budget_nh",    "order_seed", "parallel",    "power_source", "input_file",    "input_sha256",
      "git_revision", "host",       "load",        "system",       "cpu",           "topology",
      "clocks",       "firmware",   "cpus_usable", "cpus_allowed", "memory_bytes",  "gpus",
      "gpu_driver",   "container",  "modules",     "environment",  "bench_version", "jube_version",
      "uuid"};
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      text += fmt::format("{:>14}: {}\n", name, hanging(value, 16));
  };
  add("id", std::to_string(run.directory.id));
  add("directory", short_path(run.directory.path));
  add("last change", insight::last_change(workspace));
  const auto facts = space::shown_facts(run.metadata);
  for (const char* name : shown)
    if (const auto fact = facts.find(name); fact != facts.end())
      add(name, fact->second);
  text += "\n" + status_table(workspace.counts());
  std::string failures;
  for (const workspace::Workpackage& workpackage : workspace.workpackages())
    if (workpackage.state == workspace::State::failed)
      failures += fmt::format("workpackage {} ({}) failed: {}\n", workpackage.id, workpackage.step,
                              workpackage.reason);
    else if (workpackage.state == workspace::State::skipped)
      failures += fmt::format("workpackage {} ({}) was skipped: {}\n", workpackage.id,
                              workpackage.step, workpackage.reason);
  return text + failures;
}

std::string csv_line(const std::vector<std::string>& cells, const std::string& separator) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells)
    quoted.push_back(results::csv_field(cell, separator));
  return join(quoted, separator) + "\n";
}

std::string value_in(const workspace::Parameters& parameters, const std::string& name) {
  const std::string* const value = workspace::value_of(parameters, name);
  return value ? *value : "";
}

/// Adds the names that are not there yet, in order.
void add_names(const workspace::Parameters& parameters, std::vector<std::string>& names) {
  for (const auto& [name, value] : parameters)
    if (std::ranges::find(names, name) == names.end())
      names.push_back(name);
}

std::string step_heading(const space::Run& run, const model::Step& step) {
  std::vector<std::vector<std::string>> rows{{"step:", step.name}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty())
      rows.push_back({name, value});
  };
  add("depends on:", join(step.depend, ", "));
  add("uses:", join(step.use, ", "));
  if (step.repetition)
    add("iterations:", fmt::format("{} to {}, until {}", step.iterations, step.most_iterations(),
                                   step.repetition->text));
  else if (step.iterations > 1)
    add("iterations:", std::to_string(step.iterations));
  if (step.search)
    add("search:", fmt::format("{} from {} to {}", step.search->parameter, step.search->from,
                               step.search->to));
  if (step.cycles > 1)
    add("cycles:", std::to_string(step.cycles));
  add("where:", step.where);
  add("shared directory:", step.shared);
  add("run:", short_path(run.directory.path));
  return aligned_lines(rows);
}

/// A step and its workpackages.
/// @param parameters whether the parameters of each are shown
std::string step_information(const space::Run& run, const insight::RunView& view,
                             const std::string& step, bool parameters) {
  std::vector<std::vector<std::string>> rows;
  std::string details;
  for (const workspace::Workpackage& workpackage : view.all()) {
    if (workpackage.step != step)
      continue;
    rows.push_back({std::to_string(workpackage.id), std::to_string(workpackage.iteration),
                    fmt::format("{}", fmt::join(workpackage.parents, ",")),
                    std::string(name_of(workpackage.state)), std::to_string(workpackage.attempts),
                    workpackage.directory, parameters_text(workpackage.parameters),
                    workpackage.reason});
    if (!parameters)
      continue;
    details += fmt::format("\nworkpackage {}\n", workpackage.id);
    std::vector<std::vector<std::string>> lines;
    for (const auto& [name, value] : workpackage.parameters)
      lines.push_back({name + ":", hanging(value, 4)});
    details += aligned_lines(lines, "  ");
  }
  std::string text = step_heading(run, *run.benchmark.step(step)) + "\n";
  if (rows.empty())
    return text + "no workpackages\n";
  return text +
         text_table({"id", "iteration", "parents", "state", "attempts", "directory", "parameters",
                     "reason"},
                    rows) +
         details;
}

/// The workpackages of a step as lines of `id`, its parameters and JUBE's variables, separated; a
/// text that holds the separator, a quote or a newline is quoted as in RFC 4180.
std::string step_csv(const insight::RunView& view, const std::string& step,
                     const std::string& separator) {
  std::vector<std::string> names;
  std::vector<std::string> internal;
  std::vector<const workspace::Workpackage*> members;
  for (const workspace::Workpackage& workpackage : view.all())
    if (workpackage.step == step) {
      members.push_back(&workpackage);
      add_names(workpackage.parameters, names);
    }
  if (!members.empty())
    add_names(view.internal_variables(*members.front()), internal);
  std::vector<std::string> headings{"id"};
  headings.insert(headings.end(), names.begin(), names.end());
  headings.insert(headings.end(), internal.begin(), internal.end());
  std::string text = csv_line(headings, separator);
  for (const workspace::Workpackage* workpackage : members) {
    std::vector<std::string> cells{std::to_string(workpackage->id)};
    for (const std::string& name : names)
      cells.push_back(value_in(workpackage->parameters, name));
    const auto variables = view.internal_variables(*workpackage);
    for (const std::string& name : internal)
      cells.push_back(value_in(variables, name));
    text += csv_line(cells, separator);
  }
  return text;
}

using Lines = std::vector<std::vector<std::string>>;

std::string related(const insight::RunView& view, const std::vector<long long>& ids) {
  std::vector<std::string> texts;
  for (const long long id : ids)
    texts.push_back(fmt::format("{} ({})", id, view.at(id).step));
  return join(texts, ", ");
}

void add_attempt(const workspace::Attempt& attempt, Lines& lines) {
  lines.push_back({"attempt:", std::to_string(attempt.number)});
  if (!attempt.host.empty())
    lines.push_back({"host:", attempt.host});
  if (!attempt.job_id.empty())
    lines.push_back({"job:", attempt.job_id});
  // What JUBE has run tells no beginning.
  if (const double started = attempt.started_unix_s.value_or(attempt.claimed_unix_s); started > 0)
    lines.push_back({"started:", local_time_at(started)});
  if (attempt.ended_unix_s)
    lines.push_back({"ended:", local_time_at(*attempt.ended_unix_s)});
  if (attempt.exit_code)
    lines.push_back({"exit code:", std::to_string(*attempt.exit_code)});
}

std::string section(const std::string& title, const Lines& lines) {
  return lines.empty() ? "" : "\n" + title + "\n" + aligned_lines(lines, "  ");
}

std::string workpackage_information(const insight::RunView& view, const space::Run& run,
                                    const workspace::Workspace& workspace, long long id) {
  const workspace::Workpackage& workpackage = view.at(id);
  Lines lines{{"workpackage:", std::to_string(id)},
              {"step:", workpackage.step},
              {"iteration:", std::to_string(workpackage.iteration)},
              {"state:", std::string(name_of(workpackage.state))}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty())
      lines.push_back({name, hanging(value, 4)});
  };
  add("reason:", workpackage.reason);
  add("directory:", short_path(run.directory.path / workpackage.directory));
  add("parents:", related(view, workpackage.parents));
  add("children:", related(view, view.children(id)));
  if (workpackage.progress.cycle > 0)
    add("cycle:", std::to_string(workpackage.progress.cycle));
  if (const workspace::Attempt* attempt = view.attempt(id))
    add_attempt(*attempt, lines);
  Lines parameters;
  for (const auto& [name, value] : workpackage.parameters)
    parameters.push_back({name + ":", hanging(value, 4)});
  Lines environment;
  for (const auto& [name, value] : workspace.environment(id))
    environment.push_back(
        {value ? name + " set to" : name + " unset", value ? hanging(*value, 4) : ""});
  return aligned_lines(lines) + section("parameters", parameters) +
         section("environment changes", environment);
}

std::vector<std::string> overview_row(const workspace::RunDirectory& run) {
  const Workspace workspace = Workspace::open(run.path, Access::read);
  return {std::to_string(run.id),
          workspace.fact("benchmark"),
          insight::started(workspace),
          insight::last_change(workspace),
          workspace.fact("comment"),
          workspace.fact("tags"),
          std::string(name_of(insight::run_state(run, workspace.counts())))};
}

int show_overview(const std::string& directory) {
  const std::vector<workspace::RunDirectory> runs = workspace::select_runs(directory, {"all"});
  std::vector<std::vector<std::string>> rows;
  for (const workspace::RunDirectory& run : runs)
    if (runs.size() == 1)
      rows.push_back(overview_row(run));
    else
      skip_if_unsound(run, [&] { rows.push_back(overview_row(run)); });
  print(text_table({"id", "name", "started", "last change", "comment", "tags", "status"}, rows));
  return rows.empty() ? failure : 0;
}

void show_steps(const space::Run& run, const insight::RunView& view, const InfoOptions& options) {
  std::vector<std::string> steps = options.steps;
  if (steps.empty())
    for (const model::Step& step : run.benchmark.steps)
      steps.push_back(step.name);
  for (const std::string& step : steps) {
    check_step(run, step);
    print(options.csv ? step_csv(view, step, options.separator)
                      : step_information(run, view, step, options.parameters) + "\n");
  }
}

void show_workpackages(const space::Run& run, const insight::RunView& view,
                       const Workspace& workspace, const InfoOptions& options) {
  std::vector<long long> ids = options.workpackages;
  if (ids.empty())
    for (const workspace::Workpackage& workpackage : view.all())
      ids.push_back(workpackage.id);
  for (const long long id : ids)
    print(workpackage_information(view, run, workspace, id) + "\n");
}

void show(const workspace::RunDirectory& directory, const InfoOptions& options) {
  Workspace workspace = Workspace::open(directory.path, Access::read);
  const space::Run run = space::load_run(directory, workspace);
  if (!options.of_steps && !options.of_workpackages && !options.csv) {
    print(run_information(run, workspace));
    return;
  }
  const insight::RunView view(run, workspace);
  if (options.of_steps || options.csv)
    show_steps(run, view, options);
  if (options.of_workpackages)
    show_workpackages(run, view, workspace, options);
}

}  // namespace

std::function<int()> declare_info(CLI::App& app) {
  const auto options = std::make_shared<InfoOptions>();
  options->choice.declare(app);
  constexpr int any_number = CLI::detail::expected_max_vector_size;
  CLI::Option* steps =
      app.add_option("-s,--step", options->steps, "these steps and their workpackages, or all")
          ->type_name("STEP")
          ->expected(0, any_number);
  app.add_flag("-p,--parametrization", options->parameters,
               "with -s: the parameters of each workpackage, one per line");
  CLI::Option* csv = app.add_option("-c,--csv-parametrization", options->separator,
                                    "with -s: the parameters as csv, with this separator")
                         ->type_name("SEP")
                         ->expected(0, 1);
  CLI::Option* workpackages =
      app.add_option("-w,--workpackage", options->workpackages, "these workpackages, or all")
          ->type_name("ID")
          ->expected(0, any_number);
  return [options, steps, csv, workpackages] {
    // An option without values gives an empty text.
    std::erase(options->steps, "");
    options->of_steps = steps->count() > 0;
    options->of_workpackages = workpackages->count() > 0;
    options->csv = csv->count() > 0;
    if (options->separator.empty())
      options->separator = ",";
    const bool overview = options->choice.ids.empty() && !options->of_steps &&
                          !options->of_workpackages && !options->csv;
    if (overview)
      return show_overview(options->choice.directory);
    return for_each_run(options->choice.runs(),
                        [&](const workspace::RunDirectory& run) { show(run, *options); });
  };
}

}  // namespace bench::cli
