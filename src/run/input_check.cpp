#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/build.hpp>
#include <bench/model/columns.hpp>
#include <bench/results/analyse.hpp>
#include <bench/results/format.hpp>
#include <bench/run/input_check.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/input.hpp>

namespace bench::run {
namespace {

namespace fs = std::filesystem;
using NameSet = std::set<std::string>;

void check_patterns(const model::Benchmark& benchmark) {
  NameSet used;
  for (const model::Analyser& analyser : benchmark.analysers)
    used.merge(analyser.pattern_sets());
  for (const std::string& name : used)
    for (const model::Pattern& pattern : benchmark.pattern_set(name)->patterns)
      results::check_expression(pattern);
}

void check_formats(const model::Benchmark& benchmark) {
  for (const model::Result& result : benchmark.results)
    for (const model::Column* column : model::columns_of(result))
      results::check_format(column->format, model::meaning_of(benchmark, result, column->name).type,
                            column->place);
}

/// Warns about filters that Python cannot read, whatever the values are: a number and a word stand
/// for them.
void check_filters(const model::Benchmark& benchmark, Diagnostics& diagnostics) {
  std::vector<std::string> expressions;
  std::vector<std::pair<std::string, Place>> owners;
  const auto add = [&](const auto& outputs, const char* what) {
    for (const auto& output : outputs) {
      if (output.filter.empty())
        continue;
      owners.emplace_back(fmt::format("{} '{}'", what, output.name), output.place);
      for (const std::string value : {"1", "_"})
        expressions.push_back(
            evaluate::substitute(output.filter, [&](std::string_view) { return &value; }));
    }
  };
  for (const model::Result& result : benchmark.results) {
    add(result.tables, "table");
    add(result.syslogs, "syslog");
    add(result.databases, "database");
  }
  const auto outcomes = evaluate::Evaluator().check_syntax(expressions);
  for (std::size_t k = 0; k < owners.size(); ++k)
    if (const auto& [owner, place] = owners[k]; !outcomes[2 * k].ok && !outcomes[2 * k + 1].ok)
      diagnostics.warn(
          Id::invalid_expression,
          fmt::format("invalid expression in the filter of {}: {}", owner, outcomes[2 * k].error),
          "", place);
}

/// The values of the steps that depend on outputs, as far as the file shows them: those steps are
/// expanded only when their parents have run.
void check_late_values(const model::Benchmark& benchmark) {
  std::vector<evaluate::Request> requests;
  std::vector<const model::Parameter*> scripts;
  const auto check = [&](const model::Parameter& parameter) {
    const bool is_constant = evaluate::names_in(parameter.text).empty();
    for (const std::string& value : model::written_values(parameter))
      if (const auto error = space::type_error(parameter, value);
          error && evaluate::names_in(value).empty())
        throw Error(*error);
    if (is_constant && parameter.mode == evaluate::Mode::python && !reaches_outside(parameter)) {
      requests.push_back({parameter.mode, parameter.text});
      scripts.push_back(&parameter);
    }
  };
  for (const model::Step& step : benchmark.steps)
    if (depends_on_outputs(benchmark, step))
      for (const model::Parameter* parameter : model::possible_parameters(benchmark, step))
        check(*parameter);
  if (scripts.empty())
    return;
  const auto outcomes = evaluate::Evaluator().evaluate(requests);
  for (std::size_t k = 0; k < scripts.size(); ++k)
    if (!outcomes[k].ok)
      throw Error(Id::invalid_expression,
                  fmt::format("parameter '{}': {}", scripts[k]->name, outcomes[k].error),
                  fmt::format("evaluated expression: {}", scripts[k]->text), scripts[k]->place);
}

/// Whether a name of a file is known before anything runs.
bool is_fixed(const std::string& name, const NameSet& parameters) {
  return std::ranges::none_of(evaluate::names_in(name), [&](const std::string& one) {
    return one.starts_with("jube_") || parameters.contains(one);
  });
}

class SourceCheck {
 public:
  SourceCheck(const model::Benchmark& benchmark, fs::path home, Diagnostics& diagnostics)
      : benchmark_(benchmark), home_(std::move(home)), diagnostics_(diagnostics) {
    for (const model::ParameterSet& set : benchmark.parameter_sets)
      for (const model::Parameter& parameter : set.parameters)
        parameters_.insert(parameter.name);
  }

  void check() const {
    for (const model::Step& step : benchmark_.steps)
      check(step);
  }

 private:
  /// What a `prepare` leaves is not known, so that the sources behind one are not looked for.
  void check(const model::Step& step) const {
    if (step.active == "false")
      return;
    const bool first = &step == benchmark_.steps.data() && step.depend.empty() &&
                       step.active == "true" && !runs_scripts(step);
    for (const std::string& name : step.use)
      if (const model::FileSet* set = benchmark_.file_set(name))
        for (const model::FileEntry& entry : set->entries) {
          if (entry.action == model::FileEntry::Action::prepare)
            return;
          if (!entry.internal && entry.active == "true")
            check(entry, first);
        }
  }

  /// Whether parameters of the step run a script, which may make a file.
  bool runs_scripts(const model::Step& step) const {
    const auto is_script = [](const model::Parameter* parameter) {
      return parameter->mode == evaluate::Mode::shell || parameter->mode == evaluate::Mode::perl;
    };
    return std::ranges::any_of(model::possible_parameters(benchmark_, step), is_script);
  }

  /// An earlier step or a parameter may make the file, or the step may be inactive, so that not
  /// every one is sure to be missed.
  void check(const model::FileEntry& entry, bool first) const {
    for (const std::string& path : entry.paths) {
      if (!is_fixed(entry.source_dir, parameters_) || !is_fixed(path, parameters_))
        continue;
      const fs::path named = fs::path(expand_user_and_environment(entry.source_dir)) /
                             expand_user_and_environment(path);
      const fs::path base = entry.base.empty() ? home_ : (home_ / entry.base).lexically_normal();
      if (named.string().find('$') != std::string::npos || !files_matching(base, named).empty())
        continue;
      const std::string message = fmt::format("no file matches '{}'", named.string());
      const std::string hint = fmt::format("looked in {}", base.string());
      if (first)
        throw Error(Id::missing_file, message, hint, entry.place);
      diagnostics_.warn(Id::missing_file, message, hint, entry.place);
    }
  }

  const model::Benchmark& benchmark_;
  fs::path home_;
  Diagnostics& diagnostics_;
  NameSet parameters_;
};

}  // namespace

void check_input(const space::Input& input, Diagnostics& diagnostics) {
  for (const model::Benchmark& benchmark : input.benchmarks) {
    model::check_names(benchmark, diagnostics);
    check_patterns(benchmark);
    check_formats(benchmark);
    check_filters(benchmark, diagnostics);
    check_late_values(benchmark);
    SourceCheck(benchmark, space::home_of(benchmark, input), diagnostics).check();
  }
}

}  // namespace bench::run
