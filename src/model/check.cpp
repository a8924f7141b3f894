#include "check.hpp"

#include "read.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

using document::Node;

namespace {

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& one : all)
    names.push_back(one.name);
  return names;
}

/// @throws Error unless `name` is one of `known`; `what` is its kind.
void require(const std::string& name, const std::vector<std::string>& known, const char* what,
             const Place& place) {
  if (std::find(known.begin(), known.end(), name) != known.end())
    return;
  throw Error(Id::unknown_name, fmt::format("unknown {} '{}'", what, name),
              known.empty() ? fmt::format("this file does not define any {}", what)
                            : suggestion(name, known),
              place);
}

/// The names of all sets that a step can use.
std::vector<std::string> usable_sets(const Benchmark& benchmark) {
  auto names = names_of(benchmark.parameter_sets);
  for (const auto& more : {names_of(benchmark.file_sets), names_of(benchmark.substitute_sets)})
    names.insert(names.end(), more.begin(), more.end());
  return names;
}

void check_use(const Benchmark& benchmark, const std::string& name, const Place& place) {
  if (depends_on_parameters(name))
    return;  // known only with the values of its parameters, and may then be no set
  const auto sets = usable_sets(benchmark);
  if (benchmark.pattern_set(name) && !std::ranges::count(sets, name))
    throw Error(Id::conflict, fmt::format("a step cannot use the pattern set '{}'", name),
                "pattern sets are for analysers", place);
  require(name, sets, "parameter, file or substitute set", place);
}

/// The commands of a batch step are one job script, so bench cannot look in between.
void check_batch(const Step& step, Diagnostics& diagnostics) {
  const auto refuse = [&](const Command& command, bool wrong, const char* attribute) {
    if (wrong)
      throw Error(
          Id::conflict,
          fmt::format("a command of the batch step '{}' cannot have `{}`", step.name, attribute),
          "its commands form one job script; move this command to a step of its own",
          command.place);
  };
  for (const Command& command : step.commands) {
    refuse(command, !command.done_file.empty(), "done_file");
    refuse(command, !command.error_file.empty(), "error_file");
    refuse(command, !command.break_file.empty(), "break_file");
    refuse(command, command.shared, "shared");
  }
  constexpr double minute_s = 60;
  if (const std::string& limit = step.batch->time_limit;
      !limit.empty() && limit.find('$') == std::string::npos &&
      parse_time_limit_s(limit, step.batch->place) < minute_s)
    diagnostics.note(
        Id::surprising_value,
        fmt::format("the time limit of step '{}' is {}, less than a minute", step.name, limit),
        "the smallest unit of Slurm and other batch systems is a minute", step.batch->place);
  if (!step.do_log_file.empty())
    diagnostics.warn(Id::no_effect,
                     fmt::format("`do_log_file` of the batch step '{}' has no effect", step.name),
                     "its `job.sh` shows what is executed", step.place);
}

void check_steps(const Benchmark& benchmark, const Node& node, Diagnostics& diagnostics) {
  const auto steps = names_of(benchmark.steps);
  const auto elements = node.all("step");
  for (std::size_t k = 0; k < benchmark.steps.size(); ++k) {
    for (const std::string& name : benchmark.steps[k].use)
      check_use(benchmark, name, place_of_use(*elements[k], name));
    for (const std::string& name : benchmark.steps[k].depend)
      require(name, steps, "step", place_of(*elements[k], "depend"));
    if (benchmark.steps[k].batch)
      check_batch(benchmark.steps[k], diagnostics);
  }
}

/// Follows `depend` depth first; `path` holds the steps on the way here.
void follow(const Benchmark& benchmark, const Step& step, std::vector<std::string>& path,
            std::set<std::string>& finished) {
  if (finished.contains(step.name))
    return;
  if (const auto first = std::find(path.begin(), path.end(), step.name); first != path.end())
    throw Error(Id::circular_reference,
                fmt::format("circular dependency of steps: {} -> {}",
                            join(std::vector<std::string>(first, path.end()), " -> "), step.name),
                "", step.place);
  path.push_back(step.name);
  for (const std::string& parent : step.depend)
    follow(benchmark, *benchmark.step(parent), path, finished);
  path.pop_back();
  finished.insert(step.name);
}

void check_depend(const Benchmark& benchmark) {
  std::vector<std::string> path;
  std::set<std::string> finished;
  for (const Step& step : benchmark.steps)
    follow(benchmark, step, path, finished);
}

void check_analysers(const Benchmark& benchmark, const Node& node) {
  const auto sets = names_of(benchmark.pattern_sets);
  const auto steps = names_of(benchmark.steps);
  for (std::size_t k = 0; k < benchmark.analysers.size(); ++k) {
    const Analyser& analyser = benchmark.analysers[k];
    for (const std::string& name : analyser.use)
      require(name, sets, "pattern set", place_of_use(*node.all("analyser")[k], name));
    for (const Analysis& analysis : analyser.analyses) {
      require(analysis.step, steps, "step", analysis.place);
      for (const AnalysedFile& file : analysis.files)
        for (const std::string& name : file.use)
          require(name, sets, "pattern set", file.place);
    }
  }
}

/// Tables, syslogs and databases share their names: the files of all are called after them.
void check_result_names(const Benchmark& benchmark) {
  std::set<std::string> names;
  const auto take = [&](const auto& outputs, const char* what) {
    for (const auto& one : outputs)
      if (!names.insert(one.name).second)
        throw Error(Id::duplicate_name, fmt::format("{} '{}' is defined twice", what, one.name),
                    "give each table, syslog and database of a benchmark a different name",
                    one.place);
  };
  for (const Result& result : benchmark.results) {
    take(result.tables, "table");
    take(result.syslogs, "syslog");
    take(result.databases, "database");
  }
}

void check_results(const Benchmark& benchmark, const Node& node) {
  const auto elements = node.all("result");
  for (std::size_t k = 0; k < benchmark.results.size(); ++k)
    for (const std::string& name : benchmark.results[k].use)
      require(name, names_of(benchmark.analysers), "analyser", place_of_use(*elements[k], name));
  check_result_names(benchmark);
}

/// JUBE takes every other word for `string`.
void check_type(const Node& node, Diagnostics& diagnostics) {
  static const std::vector<std::string> types{"int", "float", "string"};
  const std::string type = attribute(node, "type");
  if (type.empty() || std::ranges::find(types, type) != types.end())
    return;
  constexpr std::array<std::pair<std::string_view, const char*>, 4> usual{
      {{"integer", "int"}, {"double", "float"}, {"real", "float"}, {"number", "float"}}};
  const auto* known =
      std::ranges::find(usual, type, &std::pair<std::string_view, const char*>::first);
  diagnostics.unknown_name(
      fmt::format("unknown type '{}': the values of '{}' are treated as strings", type,
                  attribute(node, "name")),
      known == usual.end() ? did_you_mean(type, types)
                           : fmt::format("did you mean '{}'?", known->second),
      "known: " + join(types, ", "), place_of(node, "type"));
}

void check_name(const Node& node, Diagnostics& diagnostics) {
  const std::string name = attribute(node, "name");
  if (std::ranges::any_of(name, [](char c) { return (c & 0x80) != 0; }))
    diagnostics.warn(Id::no_effect,
                     fmt::format("${} does not insert the {} '{}'", name, node.name, name),
                     "use only ASCII letters, digits and underscores in names that `$` refers to",
                     place_of(node, "name"));
}

void check_patterns(const PatternSet& set, Diagnostics& diagnostics) {
  for (const Pattern& pattern : set.replaced) {
    const auto last = std::ranges::find(set.patterns, pattern.name, &Pattern::name);
    diagnostics.warn(
        Id::duplicate_name,
        fmt::format("pattern '{}' is defined twice in pattern set '{}'", pattern.name, set.name),
        fmt::format("the last definition is used, in line {}", last->place.line), pattern.place);
  }
  for (const Pattern& pattern : set.patterns)
    if (pattern.text.empty() && !pattern.derived)
      diagnostics.warn(Id::surprising_value,
                       fmt::format("pattern '{}' is empty and matches nothing", pattern.name), "",
                       pattern.place);
}

void check_integers(const Parameter& parameter, Diagnostics& diagnostics) {
  if (parameter.type != ValueType::integer)
    return;
  for (const std::string& value : written_values(parameter))
    if (const auto integer = read_integer(value); integer && !integer->is_whole)
      diagnostics.warn(
          Id::surprising_value,
          fmt::format("parameter '{}' has type int and the value '{}'", parameter.name, value),
          fmt::format("tables show {}; use type float", integer->digits), parameter.place);
}

/// Warns about integers with a fraction, patterns without a text, and patterns that a later one of
/// the same name replaces.
void check_values(const Benchmark& benchmark, Diagnostics& diagnostics) {
  for (const PatternSet& set : benchmark.pattern_sets)
    check_patterns(set, diagnostics);
  for (const ParameterSet& set : benchmark.parameter_sets)
    for (const Parameter& parameter : set.parameters)
      check_integers(parameter, diagnostics);
}

using Names = std::set<std::string>;

bool is_global(const Place& place, const Node& root) {
  return std::ranges::find(root.children, place, &Node::place) != root.children.end();
}

/// What there is, and whether it is used, by one benchmark at least where several share it.
class Usage {
 public:
  /// @param used names, which may hold parameters
  template <class Named>
  void add(const std::vector<Named>& all, const Names& used, const char* what, const char* who) {
    for (const Named& one : all) {
      const auto [position, is_new] = positions_.try_emplace(one.place, entries_.size());
      if (is_new)
        entries_.push_back(
            {fmt::format("{} '{}' is not used by any {}", what, one.name, who), one.place, false});
      Entry& entry = entries_[position->second];
      entry.used = entry.used || std::ranges::any_of(used, [&](const std::string& use) {
                     return may_name(use, one.name);
                   });
    }
  }

  void add(const Benchmark& benchmark) {
    Names by_steps, by_analysers, by_results;
    for (const Step& step : benchmark.steps)
      by_steps.insert(step.use.begin(), step.use.end());
    for (const Analyser& analyser : benchmark.analysers)
      by_analysers.merge(analyser.pattern_sets());
    for (const Result& result : benchmark.results)
      by_results.insert(result.use.begin(), result.use.end());
    add(benchmark.parameter_sets, by_steps, "parameter set", "step");
    add(benchmark.file_sets, by_steps, "file set", "step");
    add(benchmark.substitute_sets, by_steps, "substitute set", "step");
    add(benchmark.pattern_sets, by_analysers, "pattern set", "analyser");
    if (!benchmark.results.empty())  // else they are for `bench result --tidy`
      add(benchmark.analysers, by_results, "analyser", "result");
  }

  void warn(const Node& root, bool whole_file, Diagnostics& diagnostics) const {
    for (const Entry& entry : entries_)
      if (!entry.used && (whole_file || !is_global(entry.place, root)))
        diagnostics.warn(Id::no_effect, entry.message, "", entry.place);
  }

 private:
  struct Entry {
    std::string message;
    Place place;
    bool used;
  };
  std::vector<Entry> entries_;
  std::map<Place, std::size_t> positions_;  ///< Of what stands at a place, in `entries_`.
};

}  // namespace

void check_definitions(const Node& parent, Diagnostics& diagnostics) {
  for (const char* kind : {"parameterset", "patternset"})
    for (const Node* set : parent.all(kind))
      for (const Node& one : set->children) {
        check_type(one, diagnostics);
        check_name(one, diagnostics);
      }
}

void check(const Benchmark& benchmark, const Node& node, Diagnostics& diagnostics) {
  if (benchmark.steps.empty())
    diagnostics.warn(Id::nothing_to_run,
                     fmt::format("benchmark '{}' has no step, so nothing runs", benchmark.name),
                     "add `step: {name: ..., do: ...}`, or choose other tags", node.place);
  check_steps(benchmark, node, diagnostics);
  check_depend(benchmark);
  check_analysers(benchmark, node);
  check_results(benchmark, node);
  check_decisions(benchmark);
  check_values(benchmark, diagnostics);
  check_columns(benchmark, diagnostics);
  check_calculations(benchmark);
}

void check_unused(const std::vector<Benchmark>& benchmarks, const Node& root, bool whole_file,
                  Diagnostics& diagnostics) {
  Usage usage;
  for (const Benchmark& benchmark : benchmarks)
    usage.add(benchmark);
  usage.warn(root, whole_file, diagnostics);
}

}  // namespace bench::model
