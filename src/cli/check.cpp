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
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/document/read_options.hpp>
#include <bench/document/tag_effect.hpp>
#include <bench/model/benchmark.hpp>
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

  void add(const engine::Preview& preview) {
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

void show_space(setup::Run run, Diagnostics& diagnostics) {
  std::vector<std::string> notices;
  std::map<std::string, StepSpace> spaces;
  std::size_t all = 0;
  for (const engine::Preview& one : engine::preview(run, diagnostics, notices)) {
    spaces[one.workpackage.step].add(one);
    ++all;
  }
  print(fmt::format("benchmark {}: {}, {}, platform {}\n", run.benchmark.name,
                    plural(run.benchmark.steps.size(), "step"), plural(all, "workpackage"),
                    run.platform.name));
  for (const model::Step& step : run.benchmark.steps)
    print(step_text(step, spaces[step.name]));
  for (const std::string& notice : notices)
    print("dropped: " + notice + "\n");
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

void show_tags(const setup::Request& request, const setup::Input& input) {
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

int check_file(const setup::Request& request, bool strict, bool lenient) {
  Diagnostics diagnostics = telling_diagnostics(strict, !lenient);
  const setup::Input input = setup::read_input(request, diagnostics);
  engine::check_input(input, diagnostics);
  for (const model::Benchmark& benchmark : input.benchmarks)
    show_space(setup::plan_run(input, benchmark, request), diagnostics);
  show_tags(request, input);
  print(fmt::format("\n{}: no error{}\n", request.input_file.string(),
                    diagnostics.warnings().empty()
                        ? ""
                        : ", " + plural(diagnostics.warnings().size(), "warning")));
  return 0;
}

}  // namespace

std::function<int()> declare_check(CLI::App& app) {
  struct Options {
    InputChoice input;
    std::string file;
    bool strict = false;
    bool lenient = false;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->file, "input file, or a directory that `bench export` wrote")
      ->required();
  options->input.declare(app);
  options->input.declare_max_workpackages(app);
  declare_strictness(app, options->strict, options->lenient);
  return [options] {
    return check_file(options->input.request_for(options->file), options->strict, options->lenient);
  };
}

}  // namespace bench::cli
