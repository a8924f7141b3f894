#include "command.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/document/tags.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/table.hpp>
#include <bench/run/input_check.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {
namespace {

/// The values of one parameter of a step: the first ones, and how many there are.
class Values {
 public:
  explicit Values(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void add(const std::string& value) {
    if (seen_.insert(value).second && first_.size() < shown)
      first_.push_back(replace_all(value, "\n", "\\n"));
  }
  std::vector<std::string> line() const {
    return {name_, plural(seen_.size(), "value"),
            join(first_, ", ") + (seen_.size() > shown ? ", ..." : "")};
  }

 private:
  static constexpr std::size_t shown = 8;
  std::string name_;
  std::vector<std::string> first_;
  std::unordered_set<std::string> seen_;
};

/// What is counted of one step.
struct StepSpace {
  std::size_t workpackages = 0;
  int at_once = 1;
  std::unordered_set<long long> combinations;
  std::vector<Values> parameters;

  void add(const run::Preview& preview) {
    const workspace::Workpackage& workpackage = preview.workpackage;
    ++workpackages;
    at_once = preview.at_once;
    combinations.insert(workpackage.combination);
    for (std::size_t k = 0; k < workpackage.parameters.size(); ++k) {
      const auto& [name, value] = workpackage.parameters[k];
      // Nearly always all workpackages of a step have the same parameters in the same order.
      const bool here = k < parameters.size() && parameters[k].name() == name;
      auto known = here ? parameters.begin() + static_cast<std::ptrdiff_t>(k)
                        : std::ranges::find(parameters, name, &Values::name);
      if (known == parameters.end())
        known = parameters.insert(parameters.end(), Values(name));
      known->add(value);
    }
  }
};

std::string step_text(const model::Step& step, const StepSpace& space) {
  std::string text =
      fmt::format("step {}: {}", step.name, plural(space.combinations.size(), "combination"));
  if (step.repetition)
    text += fmt::format(", {} to {} iterations until {}", step.iterations, step.most_iterations(),
                        step.repetition->text);
  else if (step.iterations > 1)
    text += fmt::format(", {} iterations", step.iterations);
  if (step.search)
    text += fmt::format(", search of {} from {} to {}", step.search->parameter, step.search->from,
                        step.search->to);
  if (space.workpackages != space.combinations.size())
    text += fmt::format(", {}", plural(space.workpackages, "workpackage"));
  if (!step.depend.empty())
    text += ", after " + join(step.depend, ", ");
  if (space.workpackages > 1 && space.at_once > 0)
    text += space.at_once == 1 ? ", one at a time" : fmt::format(", {} at a time", space.at_once);
  std::vector<std::vector<std::string>> lines;
  for (const Values& values : space.parameters)
    lines.push_back(values.line());
  return text + "\n" + aligned_lines(lines, "  ");
}

/// The combinations of each step, and an example of each parameter's values.
std::string space_text(space::Run run, Diagnostics& diagnostics) {
  std::vector<std::string> notices;
  std::map<std::string, StepSpace> spaces;
  std::size_t all = 0;
  for (const run::Preview& one : run::preview(run, diagnostics, notices)) {
    spaces[one.workpackage.step].add(one);
    ++all;
  }
  std::string text = fmt::format("benchmark {}: {}, {}, platform {}\n", run.benchmark.name,
                                 plural(run.benchmark.steps.size(), "step"),
                                 plural(all, "workpackage"), run.platform.name);
  for (const model::Step& step : run.benchmark.steps)
    text += step_text(step, spaces[step.name]);
  for (const std::string& notice : notices)
    text += "dropped: " + notice + "\n";
  return text;
}

/// `3: parameter n, step a, ...`
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 4;
  if (names.empty())
    return "";
  const std::size_t count = std::min(shown, names.size());
  return fmt::format("{}: {}{}", names.size(), join(std::span(names.data(), count), ", "),
                     names.size() > shown ? ", ..." : "");
}

void show_tags(const space::Request& request, const space::Input& input) {
  Diagnostics told_already;
  const document::ReadOptions options{
      .tags = input.tags, .include_path = request.include_path, .library = {}};
  const document::Node whole = document::read_file(request.input_file, told_already, options);
  std::set<std::string> active = input.tags;
  active.insert(input.platform.name);
  std::vector<std::vector<std::string>> rows;
  for (const document::TagEffect& effect : document::tag_effects(whole, active))
    rows.push_back({effect.tag, effect.active ? "yes" : "no", names_text(effect.adds),
                    names_text(effect.removes)});
  if (!rows.empty())
    print("\n" + text_table({"tag", "active", "adds", "removes"}, rows));
}

struct CheckOptions {
  InputChoice input;
  std::string file;
  std::string style;
  bool strict = false;
  bool lenient = false;
};

/// Checks what `run` would do with the file; `show` gets what is to be seen of each benchmark.
space::Input check(const space::Request& request, Diagnostics& diagnostics,
                   const std::function<void(const std::string&)>& show) {
  space::Input input = space::read_input(request, diagnostics);
  run::check_input(input, diagnostics);
  for (const model::Benchmark& benchmark : input.benchmarks)
    show(space_text(space::plan_run(input, benchmark, request), diagnostics));
  return input;
}

int show_space(const CheckOptions& options) {
  const space::Request request = options.input.request_for(options.file);
  Diagnostics diagnostics = telling_diagnostics(options.strict, !options.lenient);
  const space::Input input = check(request, diagnostics, print);
  show_tags(request, input);
  print(fmt::format("\n{}: no error{}\n", request.input_file.string(),
                    diagnostics.warnings().empty()
                        ? ""
                        : ", " + plural(diagnostics.warnings().size(), "warning")));
  return 0;
}

/// What is wrong with the file, for programs: a table of the warnings and, as its last row, the
/// error that ends the check.
int list_findings(const CheckOptions& options) {
  using results::text_cell;
  results::Table table = results::table_with(
      "findings", {"severity", "id", "file", "line", "column", "message", "hint"});
  const auto add = [&](Severity severity, Id id, const std::string& message,
                       const std::string& hint, const Place& place) {
    const auto number = [](int at) {
      return at > 0 ? results::count_cell(static_cast<std::size_t>(at)) : results::Cell{};
    };
    table.rows.push_back({text_cell(std::string(name_of(severity))),
                          text_cell(std::string(name_of(id))), text_cell(place.file),
                          number(place.line), number(place.column), text_cell(message),
                          text_cell(hint)});
  };
  const auto add_warning = [&](const Warning& warning) {
    add(warning.is_note ? Severity::note : Severity::warning, warning.id, warning.message,
        warning.hint, warning.place);
  };
  Diagnostics diagnostics(options.strict, add_warning, !options.lenient);
  int code = 0;
  try {
    check(options.input.request_for(options.file), diagnostics, [](const std::string&) {});
  } catch (const Error& error) {
    add(Severity::error, error.id(), error.message(), error.hint(), error.place());
    code = failure;
  }
  print_table(table, options.style);
  return code;
}

}  // namespace

std::function<int()> declare_check(CLI::App& app) {
  const auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->file, "input file, or a directory that `bench export` wrote")
      ->required();
  options->input.declare(app);
  options->input.declare_max_workpackages(app);
  declare_style(app, options->style, "print only what is wrong, as one table");
  declare_strictness(app, options->strict, options->lenient);
  return
      [options] { return options->style.empty() ? show_space(*options) : list_findings(*options); };
}

}  // namespace bench::cli
