#include "shell_names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/build.hpp>
#include <bench/model/columns.hpp>

namespace bench::model {
namespace {

using Names = std::set<std::string>;

/// Every parameter and pattern of the file.
Names all_names(const Benchmark& benchmark) {
  Names names;
  for (const ParameterSet& set : benchmark.parameter_sets)
    for (const Parameter& parameter : set.parameters)
      names.insert(parameter.name);
  for (const PatternSet& set : benchmark.pattern_sets)
    for (const Pattern& pattern : set.patterns)
      names.insert(pattern.name);
  return names;
}

/// A Python expression without what is in quotes, where a `$` may be meant as it is.
std::string without_literals(const std::string& expression) {
  std::string rest;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char quote = expression[at];
    rest += quote;
    if (quote != '\'' && quote != '"')
      continue;
    for (++at; at < expression.size() && expression[at] != quote; ++at)
      at += expression[at] == '\\' ? 1 : 0;
    rest += quote;
  }
  return rest;
}

/// A command without its texts in single quotes, where the shell inserts nothing.
std::string without_single_quotes(const std::string& command) {
  std::string rest;
  bool doubled = false;
  for (std::size_t at = 0; at < command.size(); ++at) {
    if (command[at] == '\\')
      rest += command[at++];
    else if (command[at] == '"')
      doubled = !doubled;
    else if (command[at] == '\'' && !doubled)
      at = std::min(command.find('\'', at + 1), command.size());
    if (at < command.size())
      rest += command[at];
  }
  return rest;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string near_of(const std::string& name, const Names& known) {
  return did_you_mean(name, std::vector<std::string>(known.begin(), known.end()));
}

/// Whether a name is more likely that of an environment variable than of a parameter.
bool is_of_environment(const std::string& name) {
  return to_lower(name) != name;
}

/// `gr` of `größe`.
std::string ascii_front(const std::string& word) {
  return std::string(word.begin(),
                     std::ranges::find_if(word, [](char c) { return (c & 0x80) != 0; }));
}

class Check {
 public:
  Check(const Benchmark& benchmark, Diagnostics& diagnostics)
      : benchmark_(benchmark), diagnostics_(diagnostics), everywhere_(all_names(benchmark)) {
    for (const Step& step : benchmark.steps)
      for (const Command& command : step.commands) {
        bare_words_.merge(bare_words(command.text));
        defines_unseen_ = defines_unseen_ || defines_unseen(command.text);
      }
    for (const FileSet& set : benchmark.file_sets)
      for (const FileEntry& entry : set.entries)
        bare_words_.merge(bare_words(entry.command.text));
  }

  void check() {
    for (const Step& step : benchmark_.steps)
      check_step(step);
    for (const Analyser& analyser : benchmark_.analysers)
      check_analyser(analyser);
    for (const Result& result : benchmark_.results)
      check_result(result);
  }

 private:
  void check_step(const Step& step) {
    const Names known = parameter_names(benchmark_, step);
    const std::string of_step = fmt::format("of step '{}'", step.name);
    check_expression(step.where, "`where` " + of_step, step.place, known);
    check_expression(step.active, "`active` " + of_step, step.place, known);
    for (const Command& command : step.commands)
      check_command(command, step, known);
    if (step.batch)
      check_batch(*step.batch, of_step, known);
    for (const std::string& use : step.use)
      check_file_name(use, "`use`", step, step.place, known);
    check_file_name(step.shared, "`shared`", step, step.place, known);
    check_file_name(step.do_log_file, "`do_log_file`", step, step.place, known);
    for_each_used(benchmark_.file_sets, step,
                  [&](const FileSet& set) { check_file_set(set, step, known); });
    for_each_used(benchmark_.substitute_sets, step,
                  [&](const SubstituteSet& set) { check_substitutions(set, step, known); });
  }

  template <class Set, class Use>
  static void for_each_used(const std::vector<Set>& sets, const Step& step, const Use& use) {
    for (const Set& set : sets)
      if (std::ranges::any_of(step.use,
                              [&](const std::string& name) { return may_name(name, set.name); }))
        use(set);
  }

  void check_file_set(const FileSet& set, const Step& step, const Names& known) {
    const std::string of_set = fmt::format(" of file set '{}'", set.name);
    for (const FileEntry& entry : set.entries) {
      if (entry.action == FileEntry::Action::prepare) {
        check_command(entry.command, step, known);
        continue;
      }
      check_expression(entry.active, "`active`" + of_set, entry.place, known);
      std::vector<std::string> names{entry.source_dir, entry.target_dir};
      names.insert(names.end(), entry.paths.begin(), entry.paths.end());
      names.insert(names.end(), entry.names.begin(), entry.names.end());
      for (const std::string& name : names)
        check_file_name(name, fmt::format("'{}'", name) + of_set, step, entry.place, known);
    }
  }

  /// No shell reads it: a name that neither a parameter nor the environment has stays in it. Which
  /// names the environment has is not asked, since it may be another where the run continues.
  void check_file_name(const std::string& text, const std::string& what, const Step& step,
                       const Place& place, const Names& known) {
    for (const std::string& name : evaluate::names_in(text)) {
      if (known.contains(name) || name.starts_with("jube_"))
        continue;
      const std::string near = near_of(name, known);
      if (near.empty() && is_of_environment(name))
        continue;
      diagnostics_.unknown_name(
          fmt::format("{} uses '{}', which is not a parameter of step '{}'", what, name, step.name),
          near, fmt::format("write `$${}` for an environment variable", name), place);
    }
  }

  /// No shell reads them: a name that nothing has would be a part of the value.
  void check_batch(const Batch& batch, const std::string& of_step, const Names& known) {
    for (const JobSetting& setting : batch.settings)
      check_expression(setting.text, fmt::format("`{}` of `batch` {}", setting.name, of_step),
                       setting.place, known);
    for (const JobSetting& option : batch.options)
      check_expression(option.text, "`options` of `batch` " + of_step, option.place, known);
  }

  void check_expression(const std::string& text, const std::string& what, const Place& place,
                        const Names& known) {
    for (const std::string& name : evaluate::names_in(text))
      if (!known.contains(name) && !name.starts_with("jube_"))
        tell(
            fmt::format("{} uses '{}', which is not a parameter of the step", what, name),
            near_of(name, known), place,
            !everywhere_.contains(name) && holds(evaluate::names_in(without_literals(text)), name));
  }

  /// What cannot be evaluated is an error; the rest may be meant as it is.
  void tell(const std::string& message, const std::string& near, const Place& place,
            bool is_error) {
    if (is_error)
      throw Error(Id::unknown_name, message, near, place);
    diagnostics_.unknown_name(message, near, "", place);
  }

  void check_command(const Command& command, const Step& step, const Names& known) {
    check_expression(command.active, fmt::format("`active` of a command of step '{}'", step.name),
                     command.place, known);
    for (const auto& [attribute, name] : {std::pair("stdout", &command.stdout_file),
                                          {"stderr", &command.stderr_file},
                                          {"done_file", &command.done_file},
                                          {"error_file", &command.error_file},
                                          {"break_file", &command.break_file}})
      check_file_name(*name, fmt::format("`{}` of a command", attribute), step, command.place,
                      known);
    check_shell_text(command, step, known);
  }

  /// A name that is unknown may be the shell's.
  void check_shell_text(const Command& command, const Step& step, const Names& known) {
    const auto names = evaluate::names_in(command.text);
    const auto unquoted = evaluate::names_in(without_single_quotes(command.text));
    for (const std::string& name : names) {
      if (!is_unknown(name, known))
        continue;
      const std::string near = misspelt(name, known);
      // A file that a command reads may define it, as may the environment of a job.
      if (near.empty() && !step.batch &&
          (defines_unseen_ || std::getenv(name.c_str()) || !holds(unquoted, name)))
        continue;
      diagnostics_.unknown_name(
          fmt::format("a command of step '{}' uses '{}', which is not a parameter", step.name,
                      name),
          near.empty() ? "" : fmt::format("{} Write `$${}` for a shell variable", near, name),
          stays_as_it_is(name), command.place);
    }
    for (const std::string& name : broken_names(command.text))
      if (const std::string own = ascii_front(name);
          !known.contains(own) && !bare_words_.contains(own))
        diagnostics_.warn(
            Id::shadowed_name,
            fmt::format("'${}' in a command of step '{}' is not a valid shell variable", name,
                        step.name),
            "use ASCII letters, digits and underscores", command.place);
    for (const std::string& name : loop_variables(command.text))
      if (known.contains(name) && holds(names, name))
        diagnostics_.warn(
            Id::shadowed_name,
            fmt::format("the shell variable '{}' has the name of a parameter, whose value is "
                        "inserted for ${}",
                        name, name),
            fmt::format("rename one of them, or write $${} for the shell variable", name),
            command.place);
  }

  void check_substitutions(const SubstituteSet& set, const Step& step, const Names& known) {
    for (const SubstitutedFile& file : set.files)
      for (const std::string& name : std::set{file.in, file.out})
        check_file_name(name, fmt::format("'{}' of substitute set '{}'", name, set.name), step,
                        file.place, known);
    for (const Substitution& substitution : set.substitutions)
      check_substitution(substitution, step, known);
  }

  /// What is written into a file, a job script most of all, keeps a name that nothing has.
  void check_substitution(const Substitution& substitution, const Step& step, const Names& known) {
    const Names own = bare_words(substitution.dest);
    for (const std::string& name : evaluate::names_in(substitution.dest))
      if (is_unknown(name, known) && !own.contains(name)) {
        diagnostics_.unknown_name(
            fmt::format(
                "the substitution for '{}' uses '{}', which is not a parameter of step '{}'",
                substitution.source, name, step.name),
            near_of(name, known), stays_as_it_is(name), substitution.place);
      }
  }

  static std::string stays_as_it_is(const std::string& name) {
    return fmt::format("it stays as written; write `$${}` for a shell variable", name);
  }

  /// Whether neither a parameter nor, as far as can be told, the shell or the environment has it.
  bool is_unknown(const std::string& name, const Names& known) const {
    return !is_of_environment(name) && !known.contains(name) && !name.starts_with("jube_") &&
           !bare_words_.contains(name);
  }

  std::string misspelt(const std::string& name, const Names& known) const {
    constexpr std::size_t too_short = 3;
    return name.size() > too_short && is_unknown(name, known) ? near_of(name, known) : "";
  }

  void check_analyser(const Analyser& analyser) {
    const Fillable known(benchmark_, {analyser.name});
    for (const Analysis& analysis : analyser.analyses) {
      const Step& step = *benchmark_.step(analysis.step);
      const Names parameters = parameter_names(benchmark_, step);
      check_patterns(analyser.use, analysis.step, parameters, known);
      for (const AnalysedFile& file : analysis.files) {
        check_file_name(file.name, fmt::format("`file` of analyser '{}'", analyser.name), step,
                        file.place, parameters);
        check_patterns(file.use, analysis.step, parameters, known);
      }
    }
  }

  void check_patterns(const std::vector<std::string>& sets, const std::string& step,
                      const Names& parameters, const Fillable& known) {
    for (const std::string& name : sets)
      for (const Pattern& pattern : benchmark_.pattern_set(name)->patterns) {
        if (parameters.contains(pattern.name))
          diagnostics_.warn(Id::shadowed_name,
                            fmt::format("pattern '{}' has the name of a parameter of step '{}'",
                                        pattern.name, step),
                            "give the pattern another name", pattern.place);
        if (pattern.derived)
          check_derived(pattern, known);
        else
          check_matched(pattern, parameters);
      }
  }

  /// A name that nothing has stays in the regular expression, which matches nothing then.
  void check_matched(const Pattern& pattern, const Names& parameters) {
    for (const std::string& name : evaluate::names_in(pattern.text)) {
      if (everywhere_.contains(name) || parameters.contains(name) || predefined_pattern(name))
        continue;
      const bool is_predefined = name.starts_with("jube_pat_");
      if (name.starts_with("jube_") && !is_predefined)
        continue;
      diagnostics_.unknown_name(
          fmt::format(
              "pattern '{}' contains '${}', which is {}", pattern.name, name,
              is_predefined ? "no predefined pattern" : "neither a parameter nor a pattern"),
          is_predefined ? fmt::format("known: {}; $jube_pat_fp is a floating-point number",
                                      join(predefined_pattern_names(), ", "))
                        : near_of(name, everywhere_),
          "it stays as written; write `$$` for a dollar sign", pattern.place);
    }
  }

  void check_derived(const Pattern& pattern, const Fillable& known) {
    const bool shell =
        pattern.mode == evaluate::Mode::shell || pattern.mode == evaluate::Mode::perl;
    for (const std::string& name : evaluate::names_in(pattern.text)) {
      const std::string near = known.near(name);
      if (known.contains(name) || (shell && near.empty()))
        continue;
      const bool fails = pattern.mode == evaluate::Mode::python && !everywhere_.contains(name) &&
                         holds(evaluate::names_in(without_literals(pattern.text)), name);
      tell(fmt::format("pattern '{}' uses '{}', which is not a parameter or pattern", pattern.name,
                       name),
           near, pattern.place, fails);
    }
  }

  void check_result(const Result& result) {
    const Fillable known(benchmark_, result.use);
    for (const Table& table : result.tables)
      check_filter(table, table.columns, "table", known);
    for (const Syslog& syslog : result.syslogs)
      check_filter(syslog, syslog.keys, "syslog", known);
    for (const Database& database : result.databases)
      check_filter(database, database.keys, "database", known);
  }

  template <class Output, class Columns>
  void check_filter(const Output& output, const Columns& columns, const char* what,
                    const Fillable& known) {
    const std::string& filter = output.filter;
    for (const std::string& name : evaluate::names_in(filter))
      if (!known.contains(name) && !is_calculated(columns, name))
        tell(fmt::format("the filter of {} '{}' uses '{}', which is not a parameter or pattern of "
                         "this result",
                         what, output.name, name),
             known.near(name), output.place,
             !everywhere_.contains(name) &&
                 holds(evaluate::names_in(without_literals(filter)), name));
  }

  const Benchmark& benchmark_;
  Diagnostics& diagnostics_;
  Names everywhere_;
  bool defines_unseen_ = false;  ///< A command may define variables that it does not name.
  Names bare_words_;  ///< Of all commands: what one of them assigns and exports, others have.
};

}  // namespace

void check_names(const Benchmark& benchmark, Diagnostics& diagnostics) {
  Check(benchmark, diagnostics).check();
}

}  // namespace bench::model
