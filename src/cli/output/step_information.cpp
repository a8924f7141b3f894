#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/information.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {
namespace {

std::string ids_of(const std::vector<long long>& ids) {
  std::vector<std::string> texts;
  for (const long long id : ids)
    texts.push_back(std::to_string(id));
  return join(texts, ",");
}

std::string csv_line(const std::vector<std::string>& cells, const std::string& separator) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells)
    quoted.push_back(result::csv_field(cell, separator));
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

std::string step_heading(const setup::Run& run, const model::Step& step) {
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

}  // namespace

std::string step_information(const setup::Run& run, const inspect::RunView& view,
                             const std::string& step, bool parameters) {
  std::vector<std::vector<std::string>> rows;
  std::string details;
  for (const workspace::Workpackage& workpackage : view.all()) {
    if (workpackage.step != step)
      continue;
    rows.push_back({std::to_string(workpackage.id), std::to_string(workpackage.iteration),
                    ids_of(workpackage.parents), std::string(name_of(workpackage.state)),
                    std::to_string(workpackage.attempts), workpackage.directory,
                    parameters_text(workpackage.parameters), workpackage.reason});
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

std::string step_csv(const inspect::RunView& view, const std::string& step,
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

}  // namespace bench::cli
