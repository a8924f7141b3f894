#include "check.hpp"
#include "read.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::model {

using document::Node;

namespace {

/// `NAME` of `FUNCTION(NAME)`; empty for another text.
std::string argument_of(std::string_view text, std::string_view function) {
  if (!text.starts_with(function))
    return "";
  text = strip(text.substr(function.size()));
  if (!text.starts_with('(') || !text.ends_with(')'))
    return "";
  const std::string name(strip(text.substr(1, text.size() - 2)));
  const bool good = std::ranges::all_of(
      name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; });
  return good ? name : "";
}

/// `ci_halfwidth(rate) < 1%`
void read_condition(const Node& node, Repetition& repetition) {
  const Place& place = place_of(node, "until");
  repetition.text = attribute(node, "until");
  const auto sides = split(repetition.text, "<");
  const std::string name = argument_of(strip(sides.front()), "ci_halfwidth");
  if (sides.size() != 2 || name.empty())
    throw Error(Id::invalid_expression,
                fmt::format("invalid condition '{}' in until", repetition.text),
                "write ci_halfwidth(NAME) < 1%, or a limit in the unit of NAME", place);
  std::string_view limit = strip(sides[1]);
  repetition.value = name;
  repetition.relative = limit.ends_with('%');
  if (repetition.relative)
    limit.remove_suffix(1);
  const auto number = parse_number(strip(limit));
  if (!number || !(*number > 0) || !std::isfinite(*number))
    throw Error(Id::invalid_value,
                fmt::format("the limit in '{}' must be a positive number", repetition.text),
                "write 1% for one percent of the mean", place);
  repetition.until_place = place;
  repetition.limit = repetition.relative ? *number / 100 : *number;
}

void read_budget(const Node& node, Repetition& repetition) {
  const std::string text = attribute(node, "budget");
  if (text.empty())
    return;
  const auto number_before = [&](std::string_view unit) -> std::optional<double> {
    if (!text.ends_with(unit))
      return std::nullopt;
    const auto number =
        parse_number(strip(std::string_view(text).substr(0, text.size() - unit.size())));
    return number && *number > 0 && std::isfinite(*number) ? number : std::nullopt;
  };
  repetition.budget_node_hours = number_before("nh");
  repetition.budget_wh = number_before("Wh");
  if (const auto kilo = number_before("kWh")) {
    constexpr double watt_hours = 1000;
    repetition.budget_wh = *kilo * watt_hours;
  }
  if (!repetition.budget_node_hours && !repetition.budget_wh)
    throw Error(Id::invalid_value, fmt::format("invalid budget '{}'", text),
                "use node hours or energy: 2nh, 500Wh", place_of(node, "budget"));
  repetition.budget_place = place_of(node, "budget");
}

/// `max(NAME)` or `min(NAME)`.
struct Goal {
  bool maximise = true;
  std::string value;  ///< Empty: the text is none.
};

Goal read_goal(const Node& node) {
  const std::string text = attribute(node, "for");
  const bool maximise = !text.starts_with("min");
  return {.maximise = maximise, .value = argument_of(text, maximise ? "max" : "min")};
}

void read_race(const Node& node, Repetition& repetition) {
  if (!one_of_or_none<bool>(node, "stop", {{"dominated", true}})) {
    for (const char* name : {"for", "per"})
      if (node.find(name))
        throw Error(Id::no_effect, fmt::format("`{}` of iterations has no effect", name),
                    "add `stop: dominated`, or remove it", place_of(node, name));
    return;
  }
  const Goal goal = read_goal(node);
  if (goal.value != repetition.value)
    throw Error(Id::missing_key,
                fmt::format("`stop` does not say what is best of {}", repetition.value),
                fmt::format("add `for: max({0})` or `for: min({0})`", repetition.value),
                place_of(node, "stop"));
  repetition.race = {.maximise = goal.maximise,
                     .per = split_names(attribute(node, "per")),
                     .per_place = place_of(node, "per")};
}

Repetition build_repetition(const Node& node) {
  Repetition repetition;
  read_condition(node, repetition);
  read_budget(node, repetition);
  read_race(node, repetition);
  return repetition;
}

/// The patterns that analysers have for a step.
std::set<std::string> patterns_of(const Benchmark& benchmark, const Step& step) {
  std::set<std::string> names;
  const auto add = [&](const std::vector<std::string>& sets) {
    for (const std::string& set : sets)
      for (const Pattern& pattern : benchmark.pattern_set(set)->patterns)
        names.insert(pattern.name);
  };
  for (const Analyser& analyser : benchmark.analysers)
    for (const Analysis& analysis : analyser.analyses)
      if (analysis.step == step.name) {
        add(analyser.use);
        for (const AnalysedFile& file : analysis.files)
          add(file.use);
      }
  return names;
}

/// @param what the attribute that names the value
void check_value(const Benchmark& benchmark, const Step& step, const char* what,
                 const std::string& value, const Place& place) {
  const std::set<std::string> patterns = patterns_of(benchmark, step);
  const std::string base(numbers::without_suffix(value));
  if (patterns.contains(value) || patterns.contains(base))
    return;
  const energy::Figure* const figure = energy::figure_of(base);
  const bool is_of_meter = figure && figure->is_value();
  if (is_of_meter && step.energy) {
    if (figure->is_text())
      throw Error(Id::invalid_value,
                  fmt::format("`{}` of step '{}' needs a number, but '{}' is a text", what,
                              step.name, value),
                  "name a pattern or figure that is a number", place);
    return;
  }
  std::vector<std::string> known(patterns.begin(), patterns.end());
  std::string hint = suggestion(value, known, "its patterns: ");
  if (is_of_meter) {
    hint = "add `energy: true` to the batch step";
  } else if (step.energy) {
    for (const energy::Figure& one : energy::figures())
      if (one.is_value() && one.has_fixed_name())
        known.emplace_back(one.name);
    if (std::string near = did_you_mean(value, known); !near.empty())
      hint = std::move(near);
  }
  throw Error(Id::unknown_name,
              fmt::format("`{}` of step '{}' needs '{}', which no analyser of the step finds", what,
                          step.name, value),
              hint, place);
}

/// @param what the element that names it
void check_parameter(const std::set<std::string>& known, const Step& step, const char* what,
                     const std::string& name, const Place& place) {
  if (!known.contains(name))
    throw Error(
        Id::unknown_name,
        fmt::format("`{}` of step '{}' names '{}', which is not a parameter of the step", what,
                    step.name, name),
        suggestion(name, std::vector<std::string>(known.begin(), known.end()), "its parameters: "),
        place);
}

void check_repetition(const Benchmark& benchmark, const Step& step) {
  const Repetition& repetition = *step.repetition;
  if (repetition.race)
    for (const std::string& name : repetition.race->per)
      check_parameter(parameter_names(benchmark, step), step, "per", name,
                      repetition.race->per_place);
  check_value(benchmark, step, "until", repetition.value, repetition.until_place);
  if (repetition.budget_wh && !step.energy)
    throw Error(Id::missing_key,
                fmt::format("step '{}' has a budget of energy and does not measure any", step.name),
                "add `energy: true` to the batch step, or give the budget in node hours",
                repetition.budget_place);
}

/// Nothing can be said of sizes that are texts.
void check_sizes(const Benchmark& benchmark, const Step& step) {
  for (const std::string& use : step.use)
    for (const ParameterSet* set : possible_sets(benchmark, use))
      for (const Parameter& parameter : set->parameters) {
        if (std::ranges::find(step.prune->larger, parameter.name) == step.prune->larger.end())
          continue;
        for (const std::string& value : written_values(parameter))
          if (value.find('$') == std::string::npos && !parse_number(value))
            throw Error(Id::invalid_value,
                        fmt::format("value '{}' of parameter '{}' is not a number, and `prune` of "
                                    "step '{}' compares it",
                                    value, parameter.name, step.name),
                        "name parameters in `larger` whose values are numbers", parameter.place);
      }
}

void check_prune(const Benchmark& benchmark, const Step& step) {
  for (const Command& command : step.commands)
    if (command.shared)
      throw Error(Id::conflict,
                  fmt::format("step '{}' has `prune` and a shared command: larger values would "
                              "wait for smaller ones to end, and these for them",
                              step.name),
                  "run the shared command in a step of its own", step.prune->place);
  const std::set<std::string> known = parameter_names(benchmark, step);
  for (const std::string& name : step.prune->larger)
    check_parameter(known, step, "prune", name, step.prune->larger_place);
  for (const std::string& name : step.prune->per.value_or(std::vector<std::string>{}))
    check_parameter(known, step, "prune", name, step.prune->per_place);
  check_sizes(benchmark, step);
}

/// Its parents have run with a value of theirs, so that the step must have the parameter itself.
void check_search(const Benchmark& benchmark, const Step& step) {
  const Search& search = *step.search;
  check_parameter(own_parameter_names(benchmark, step), step, "search", search.parameter,
                  search.parameter_place);
  for (const std::string& parent : step.depend)
    if (parameter_names(benchmark, *benchmark.step(parent)).contains(search.parameter))
      throw Error(Id::conflict,
                  fmt::format("step '{}' searches '{}', which it inherits from step '{}'",
                              step.name, search.parameter, parent),
                  "search in that step, or give this one a parameter of its own",
                  search.parameter_place);
  check_value(benchmark, step, "search", search.value, search.value_place);
}

}  // namespace

void read_iterations(const Node& node, Step& step) {
  step.iterations = whole_number(node, "iterations", 1);
  const Node* found = only_one(node, "iterations");
  if (!found)
    return;
  const Node& element = *found;
  step.iterations = whole_number(element, "min", 2);
  if (!element.find("until"))
    throw Error(Id::missing_key,
                fmt::format("`iterations` of step '{}' do not say until when", step.name),
                "add `until: ci_halfwidth(NAME) < 1%`, or write a number", element.place);
  step.repetition = build_repetition(element);
  step.repetition->most =
      element.find("max") ? whole_number(element, "max", 1) : std::max(20, step.iterations);
  if (step.repetition->most < step.iterations)
    throw Error(Id::conflict,
                fmt::format("max is {} and min is {}", step.repetition->most, step.iterations),
                "max must be at least min", place_of(element, "max"));
}

Prune build_prune(const Node& node) {
  Prune prune;
  prune.place = node.place;
  prune.larger_place = place_of(node, "larger");
  prune.per_place = place_of(node, "per");
  one_of<bool>(node, "when", {{"oom", true}});
  prune.larger = split_names(attribute(node, "larger"));
  if (prune.larger.empty())
    throw Error(Id::missing_key,
                "prune does not say with which parameters the need of memory grows",
                "add `larger: NAME`", node.place);
  if (node.find("per"))
    prune.per = split_names(attribute(node, "per"));
  for (const std::string& name : prune.per.value_or(std::vector<std::string>{}))
    if (std::ranges::find(prune.larger, name) != prune.larger.end())
      throw Error(Id::conflict, fmt::format("prune has '{}' both in `larger` and in `per`", name),
                  "those in `per` are equal, so that none is larger: remove one of the two",
                  prune.per_place);
  return prune;
}

Search build_search(const Node& node) {
  Search search;
  search.parameter_place = place_of(node, "parameter");
  search.value_place = place_of(node, "for");
  search.parameter = attribute(node, "parameter");
  const Goal goal = read_goal(node);
  search.maximise = goal.maximise;
  search.value = goal.value;
  if (search.parameter.empty() || search.value.empty())
    throw Error(Id::missing_key, "search needs a parameter and what is best at its value",
                "add `parameter: NAME` and `for: max(NAME)`", node.place);
  std::vector<long long> ends;
  for (const std::string& text : split_names(attribute(node, "between")))
    if (const auto number = parse_integer(text); number && *number > 0)
      ends.push_back(*number);
  constexpr long long most = 1'000'000'000'000;
  if (ends.size() != 2 || ends[0] > ends[1] || ends[1] > most)
    throw Error(Id::invalid_value,
                fmt::format("invalid range '{}' in between", attribute(node, "between")),
                "write two whole numbers from 1 up: between: [1, 4096]", place_of(node, "between"));
  search.multiple_of = whole_number(node, "multiple_of", 1);
  search.from = ends[0];
  search.to = ends[1] - ends[1] % search.multiple_of;
  if (search.from % search.multiple_of != 0)
    throw Error(Id::invalid_value,
                fmt::format("the search begins at {}, which is not a multiple of {}", search.from,
                            search.multiple_of),
                "begin `between` with a multiple", place_of(node, "between"));
  return search;
}

void check_decisions(const Benchmark& benchmark) {
  for (const Step& step : benchmark.steps) {
    if (step.repetition)
      check_repetition(benchmark, step);
    if (step.prune)
      check_prune(benchmark, step);
    if (step.search)
      check_search(benchmark, step);
  }
}

}  // namespace bench::model
