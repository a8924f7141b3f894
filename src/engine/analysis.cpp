#include "analysed_files.hpp"
#include "family.hpp"
#include "variables.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include <bench/analyse/analyse.hpp>
#include <bench/base/files.hpp>
#include <bench/engine/report.hpp>

namespace bench::engine {
namespace {

namespace fs = std::filesystem;
using analyse::Group;
using workspace::Workpackage;
using Patterns = std::vector<const model::Pattern*>;

/// The patterns that an analysis has for one of its files, or for none.
class PatternChoice {
 public:
  PatternChoice(const model::Benchmark& benchmark, const model::Analyser& analyser)
      : benchmark_(benchmark) {
    add(analyser.use);
  }

  /// Adds the patterns of these sets; one that is there already is not scanned twice.
  /// @throws Error if two patterns have one name and are not the same
  void add(const std::vector<std::string>& sets) {
    for (const std::string& set : sets)
      for (const model::Pattern& pattern : benchmark_.pattern_set(set)->patterns)
        add(pattern);
  }

  const Patterns& scanned() const { return scanned_; }
  const Patterns& derived() const { return derived_; }

 private:
  void add(const model::Pattern& pattern) {
    Patterns& kind = pattern.derived ? derived_ : scanned_;
    for (const Patterns* patterns : {&scanned_, &derived_})
      for (const model::Pattern* known : *patterns) {
        if (known->name != pattern.name)
          continue;
        if (known->text == pattern.text && known->derived == pattern.derived &&
            known->mode == pattern.mode)
          return;
        throw Error(
            fmt::format("pattern '{}' is defined differently in two used sets", pattern.name),
            fmt::format("the other one is '{}'; give one of them another name", known->text),
            pattern.place);
      }
    kind.push_back(&pattern);
  }

  const model::Benchmark& benchmark_;
  Patterns scanned_;
  Patterns derived_;
};

/// The patterns of one `analyse` element.
struct AnalysisPatterns {
  std::vector<Patterns> of_files;  ///< As the files of the analysis.
  Patterns derived;
  Patterns all;
};

AnalysisPatterns patterns_of(const model::Benchmark& benchmark, const model::Analyser& analyser,
                             const model::Analysis& analysis) {
  AnalysisPatterns patterns;
  PatternChoice of_all(benchmark, analyser);
  for (const model::AnalysedFile& file : analysis.files) {
    PatternChoice of_file(benchmark, analyser);
    of_file.add(file.use);
    of_all.add(file.use);
    patterns.of_files.push_back(of_file.scanned());
  }
  patterns.derived = of_all.derived();
  patterns.all = of_all.scanned();
  patterns.all.insert(patterns.all.end(), patterns.derived.begin(), patterns.derived.end());
  return patterns;
}

/// A table could show only one of them under the name.
void refuse_names_of_parameters(const AnalysisPatterns& patterns, const Workpackage& workpackage) {
  for (const model::Pattern* pattern : patterns.all)
    for (const auto& [name, value] : workpackage.parameters)
      if (name == pattern->name)
        throw Error(fmt::format("pattern '{}' has the name of a parameter of step '{}'", name,
                                workpackage.step),
                    "give the pattern another name", pattern->place);
}

/// The groups of one analyser: what becomes a row each, and the workpackage that stands for it.
class Grouping {
 public:
  Grouping(const Run& run, const Family& family, const model::Analyser& analyser)
      : run_(run), family_(family), analyser_(analyser), constants_(benchmark_variables(run)) {}

  std::vector<Group> groups() {
    for (const model::Analysis& analysis : analyser_.analyses) {
      const AnalysisPatterns patterns = patterns_of(run_.benchmark, analyser_, analysis);
      for (std::size_t k = 0; k < family_.size(); ++k)
        if (family_.at(k).step == analysis.step)
          add(analysis, patterns, k);
    }
    return std::move(groups_);
  }

  /// One per group.
  const std::vector<long long>& representatives() const { return representatives_; }

 private:
  void add(const model::Analysis& analysis, const AnalysisPatterns& patterns,
           std::size_t position) {
    const Workpackage& workpackage = family_.at(position);
    refuse_names_of_parameters(patterns, workpackage);
    const Variables known = variables(position);
    const std::size_t key = analyser_.reduce ? family_.representative(position) : position;
    const auto [found, is_new] = index_.emplace(key, groups_.size());
    if (is_new) {
      Group& begun = groups_.emplace_back();
      representatives_.push_back(workpackage.id);
      for (const auto& [name, value] : workpackage.parameters)
        begun.parameters[name] = value;
      for (const auto& [name, value] : known)
        begun.parameters[name] = value;
    }
    Group& group = groups_[found->second];
    add_derived(patterns.derived, group);
    add_files(analysis, patterns, workpackage, known, group);
    if (run_.benchmark.step(workpackage.step)->energy && measured_.insert(position).second)
      group.files.push_back({run_.directory.path / workpackage.directory / "work/energy.txt", {}});
  }

  Variables variables(std::size_t position) const {
    const Workpackage& workpackage = family_.at(position);
    Variables known = constants_;
    add_step_variables(*run_.benchmark.step(workpackage.step), known);
    add_workpackage_variables(run_, workpackage, family_.parents(position), known);
    return known;
  }

  static void add_derived(const Patterns& derived, Group& group) {
    for (const model::Pattern* pattern : derived)
      if (std::find(group.derived.begin(), group.derived.end(), pattern) == group.derived.end())
        group.derived.push_back(pattern);
  }

  void add_files(const model::Analysis& analysis, const AnalysisPatterns& patterns,
                 const Workpackage& workpackage, const Variables& known, Group& group) const {
    const auto lookup = lookup_in(known, workpackage.parameters);
    const fs::path work = work_directory(run_, workpackage, known);
    for (std::size_t k = 0; k < analysis.files.size(); ++k)
      for (const fs::path& path : matching_files(
               work,
               expand_user_and_environment(evaluate::substitute(analysis.files[k].name, lookup))))
        group.files.push_back({path, patterns.of_files[k]});
  }

  const Run& run_;
  const Family& family_;
  const model::Analyser& analyser_;
  Variables constants_;
  std::vector<Group> groups_;
  std::vector<long long> representatives_;
  std::map<std::size_t, std::size_t> index_;
  std::set<std::size_t> measured_;  ///< Workpackages whose energy is in a group.
};

}  // namespace

Analyses analyse_run(const Run& run, const workspace::Workspace& workspace,
                     Diagnostics& diagnostics) {
  Analyses analyses;
  const auto all = workspace.workpackages();
  const Family family(all);
  evaluate::Evaluator evaluator = evaluator_of(run);
  for (const model::Analyser& analyser : run.benchmark.analysers) {
    Grouping grouping(run, family, analyser);
    const auto groups = grouping.groups();
    const auto findings = analyse::analyse(groups, evaluator, &diagnostics);
    std::vector<workspace::Finding>& rows = analyses[analyser.name];
    for (std::size_t k = 0; k < groups.size(); ++k)
      for (const auto& [name, finding] : findings[k])
        rows.push_back({.workpackage = grouping.representatives()[k],
                        .name = name,
                        .value = finding.present() ? std::optional(finding.value) : std::nullopt,
                        .unit = finding.unit,
                        .estimated = finding.estimated,
                        .absent_reason = finding.absent_reason});
  }
  return analyses;
}

void store(const Analyses& analyses, workspace::Workspace& workspace) {
  for (const auto& [analyser, findings] : analyses)
    workspace.replace_findings(analyser, findings);
}

bool is_analysed(const Run& run, const workspace::Workspace& workspace) {
  for (const model::Analyser& analyser : run.benchmark.analysers)
    if (!workspace.analysed(analyser.name))
      return false;
  return true;
}

}  // namespace bench::engine
