#include "graph.hpp"
#include "variables.hpp"

#include <map>

#include <glob.h>

#include <bench/analyse/analyse.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/engine/report.hpp>

namespace bench::engine {
namespace {

namespace fs = std::filesystem;
using analyse::FileToScan;
using analyse::Group;
using workspace::Workpackage;

/// The files that a shell pattern names, sorted; a name without a pattern in it names itself.
std::vector<fs::path> matching(const fs::path& pattern) {
  if (pattern.string().find_first_of("*?[") == std::string::npos)
    return {pattern};
  std::vector<fs::path> files;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t k = 0; k < found.gl_pathc; ++k)
      files.emplace_back(found.gl_pathv[k]);
  ::globfree(&found);
  return files;
}

/// The groups of one analyser: what becomes a row each, and the workpackage that stands for it.
class Grouping {
 public:
  Grouping(const Run& run, const std::vector<Workpackage>& all, const model::Analyser& analyser)
      : run_(run), all_(all), analyser_(analyser) {}

  std::vector<Group> groups() {
    for (const model::Analysis& analysis : analyser_.analyses)
      for (const Workpackage& workpackage : all_)
        if (workpackage.step == analysis.step)
          add(analysis, workpackage);
    return std::move(groups_);
  }

  /// One per group.
  const std::vector<long long>& representatives() const { return representatives_; }

 private:
  void add(const model::Analysis& analysis, const Workpackage& workpackage) {
    const long long key = analyser_.reduce ? workpackage.combination : workpackage.id;
    const auto [found, is_new] = index_.emplace(key, groups_.size());
    if (is_new) {
      groups_.emplace_back();
      representatives_.push_back(workpackage.id);
      begin(groups_.back(), analysis, workpackage);
    }
    add_files(groups_[found->second], analysis, workpackage);
  }

  void begin(Group& group, const model::Analysis& analysis, const Workpackage& workpackage) {
    for (const auto& [name, value] : workpackage.parameters)
      group.parameters[name] = value;
    for (auto& [name, value] : variables(workpackage))
      group.parameters[name] = value;
    collect(analyser_.use, true, group.derived);
    for (const model::AnalysedFile& file : analysis.files)
      collect(file.use, true, group.derived);
  }

  Variables variables(const Workpackage& workpackage) const {
    Variables known = benchmark_variables(run_);
    add_step_variables(*run_.benchmark.step(workpackage.step), known);
    add_workpackage_variables(run_, workpackage, {}, known);
    return known;
  }

  void add_files(Group& group, const model::Analysis& analysis, const Workpackage& workpackage) {
    const fs::path work = run_.directory.path / workpackage.directory / "work";
    const Variables known = variables(workpackage);
    const auto lookup = lookup_in(known, workpackage.parameters);
    for (const model::AnalysedFile& file : analysis.files) {
      std::vector<const model::Pattern*> patterns;
      collect(analyser_.use, false, patterns);
      collect(file.use, false, patterns);
      const std::string name = expand_user_and_environment(evaluate::substitute(file.name, lookup));
      for (const fs::path& path : matching(work / name))
        group.files.push_back({path, patterns});
    }
    if (run_.benchmark.step(workpackage.step)->energy)
      group.files.push_back({work / "energy.txt", {}});
  }

  /// Appends the patterns of the sets that are derived, or those that are not.
  void collect(const std::vector<std::string>& sets, bool derived,
               std::vector<const model::Pattern*>& patterns) const {
    for (const std::string& set : sets)
      for (const model::Pattern& pattern : run_.benchmark.pattern_set(set)->patterns)
        if (pattern.derived == derived)
          patterns.push_back(&pattern);
  }

  const Run& run_;
  const std::vector<Workpackage>& all_;
  const model::Analyser& analyser_;
  std::vector<Group> groups_;
  std::vector<long long> representatives_;
  std::map<long long, std::size_t> index_;
};

}  // namespace

Analyses analyse_run(const Run& run, const workspace::Workspace& workspace,
                     Diagnostics& diagnostics) {
  Analyses analyses;
  const auto all = workspace.workpackages();
  evaluate::Evaluator evaluator;
  for (const model::Analyser& analyser : run.benchmark.analysers) {
    Grouping grouping(run, all, analyser);
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

Analyses stored_analyses(const Run& run, const workspace::Workspace& workspace) {
  Analyses analyses;
  for (const model::Analyser& analyser : run.benchmark.analysers)
    analyses[analyser.name] = workspace.findings(analyser.name);
  return analyses;
}

bool is_analysed(const Run& run, const workspace::Workspace& workspace) {
  for (const model::Analyser& analyser : run.benchmark.analysers)
    if (!workspace.analysed(analyser.name))
      return false;
  return true;
}

}  // namespace bench::engine
