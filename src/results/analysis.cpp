#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/columns.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyse.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/group.hpp>
#include <bench/results/report.hpp>
#include <bench/results/workpackage_values.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {
namespace {

namespace fs = std::filesystem;
using workspace::Workpackage;

/// Whether a name in the expression may be put together from values: `${p$n}`, `$p$n`.
bool may_build_names(const std::string& expression) {
  for (std::size_t at = expression.find('$', 1); at != std::string::npos;
       at = expression.find('$', at + 1)) {
    const char before = expression[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) || before == '_' || before == '{')
      return true;
  }
  return false;
}

/// The names of findings that the results of a benchmark look up.
class NeededNames {
 public:
  explicit NeededNames(const model::Benchmark& benchmark) {
    for (const energy::Figure& figure : energy::remarks())
      names_.emplace(figure.name);
    for (const model::Result& result : benchmark.results) {
      for (const model::Column* column : model::columns_of(result))
        if (!column->calculation)
          names_.insert(column->name);
        else
          for (std::string& name : model::names_for(benchmark, result, *column->calculation))
            names_.insert(std::move(name));
      for (const model::Table& table : result.tables) {
        if (!table.cdf.empty())
          names_.insert(model::ordered_name(table.cdf));
        names_.insert(table.sort.begin(), table.sort.end());
        add_filter(table.filter);
      }
      for (const model::Syslog& syslog : result.syslogs) {
        names_.insert(syslog.sort.begin(), syslog.sort.end());
        add_filter(syslog.filter);
      }
      for (const model::Database& database : result.databases)
        add_filter(database.filter);
    }
    for (const model::PatternSet& set : benchmark.pattern_sets)
      for (const model::Pattern& pattern : set.patterns)
        if (pattern.derived) {
          for (std::string& name : evaluate::names_in(pattern.text))
            in_derived_.insert(std::move(name));
          any_in_derived_ = any_in_derived_ || may_build_names(pattern.text);
        }
  }

  /// With the patterns behind statistics: these say why there are none. Nothing where any name may
  /// be needed.
  std::optional<std::set<std::string>> names() const {
    if (any_)
      return std::nullopt;
    std::set<std::string> names = names_;
    for (const std::string& name : names_)
      names.emplace(numbers::without_suffix(name));
    return names;
  }

  /// Whether results or derived patterns look up a name.
  bool contains(std::string_view name) const {
    return any_ || any_in_derived_ || names_.contains(std::string(name)) ||
           in_derived_.contains(name);
  }

 private:
  void add_filter(const std::string& filter) {
    for (std::string& name : evaluate::names_in(filter))
      names_.insert(std::move(name));
    any_ = any_ || may_build_names(filter);
  }

  std::set<std::string> names_;
  bool any_ = false;
  std::set<std::string, std::less<>> in_derived_;
  bool any_in_derived_ = false;
};

/// A table could show only one of them under the name.
void refuse_names_of_parameters(const AnalysisPatterns& patterns, const Workpackage& workpackage) {
  for (const model::Pattern* pattern : patterns.all)
    for (const auto& [name, value] : workpackage.parameters)
      if (name == pattern->name)
        throw Error(Id::shadowed_name,
                    fmt::format("pattern '{}' has the name of a parameter of step '{}'", name,
                                workpackage.step),
                    "give the pattern another name", pattern->place);
}

/// The groups of one analyser: what becomes a row each, and the workpackage that stands for it.
class Grouping {
 public:
  Grouping(const space::Run& run, const space::Lineage& family, const model::Analyser& analyser)
      : run_(run),
        family_(family),
        analyser_(analyser),
        needed_(run.benchmark),
        constants_(space::benchmark_variables(run)) {
    std::unordered_map<std::size_t, std::size_t> index;
    for (std::size_t a = 0; a < analyser_.analyses.size(); ++a) {
      patterns_.push_back(patterns_of(run_.benchmark, analyser_, analyser_.analyses[a]));
      for (std::size_t position = 0; position < family_.size(); ++position) {
        if (family_.at(position).step != analyser_.analyses[a].step)
          continue;
        const std::size_t key = analyser_.reduce ? family_.representative(position) : position;
        const auto [found, is_new] = index.emplace(key, members_.size());
        if (is_new)
          members_.emplace_back();
        members_[found->second].push_back({a, position});
      }
    }
  }

  std::size_t size() const { return members_.size(); }

  /// The workpackage that stands for a group.
  long long representative(std::size_t group) const {
    return family_.at(members_[group].front().position).id;
  }

  Group group(std::size_t number) const {
    const std::vector<Member>& members = members_[number];
    const std::size_t first = members.front().position;
    GroupInProgress made;
    made.group.parameter = lookup_of(first);
    made.group.is_looked_up = [this](std::string_view name) { return needed_.contains(name); };
    const int best = standing_of_best(members);
    for (const Member& member : members)
      add(member, member.position == first ? made.group.parameter : lookup_of(member.position),
          standing(member) == best, made);
    return std::move(made.group);
  }

 private:
  /// A workpackage to which an `analyse` element applies.
  struct Member {
    std::size_t analysis;
    std::size_t position;
  };

  struct GroupInProgress {
    Group group;
    std::set<std::size_t> measured;  ///< Workpackages whose energy is in it.
    /// What the files of each workpackage are searched for: one that is listed twice counts once.
    std::map<std::pair<std::size_t, fs::path>, Patterns> searched;
  };

  /// Of the iterations of a row only the best count: those that are done, else those that have not
  /// ended, else the failed ones.
  int standing(const Member& member) const {
    const Workpackage& workpackage = family_.at(member.position);
    return workpackage.state == workspace::State::done ? 2 : workpackage.has_ended() ? 0 : 1;
  }

  int standing_of_best(const std::vector<Member>& members) const {
    int best = 0;
    for (const Member& member : members)
      best = std::max(best, standing(member));
    return best;
  }

  void add(const Member& member, const evaluate::Lookup& lookup, bool counts,
           GroupInProgress& made) const {
    const AnalysisPatterns& patterns = patterns_[member.analysis];
    const Workpackage& workpackage = family_.at(member.position);
    refuse_names_of_parameters(patterns, workpackage);
    add_derived(patterns.derived, made.group);
    if (counts)
      add_files(member, patterns, lookup, made);
    if (run_.benchmark.step(workpackage.step)->energy &&
        made.measured.insert(member.position).second)
      add_energy(member.position, made);
  }

  /// What a workpackage has drawn until it failed would pass for a very good result.
  void add_energy(std::size_t position, GroupInProgress& made) const {
    const Workpackage& workpackage = family_.at(position);
    if (workpackage.state == workspace::State::done)
      add_file(position,
               {run_.directory.path / workpackage.directory / "work/energy.txt", {}, "energy.txt"},
               made);
    else
      made.group.unmeasured.push_back(
          fmt::format("workpackage {} {}", workpackage.id,
                      workpackage.state == workspace::State::failed    ? "failed"
                      : workpackage.state == workspace::State::skipped ? "was skipped"
                                                                       : "has not ended"));
  }

  /// Of a workpackage's variables, made when a text names one for the first time, and parameters.
  evaluate::Lookup lookup_of(std::size_t position) const {
    return [this, position, made = std::make_shared<std::optional<space::Variables>>()](auto name) {
      if (!*made)
        *made = variables(position);
      return space::lookup_in(**made, family_.at(position).parameters)(name);
    };
  }

  space::Variables variables(std::size_t position) const {
    const Workpackage& workpackage = family_.at(position);
    space::Variables known = constants_;
    space::add_step_variables(*run_.benchmark.step(workpackage.step), known);
    space::add_workpackage_variables(run_, workpackage, family_.parents(position), known,
                                     workpackage.progress.cycle);
    return known;
  }

  static void add_derived(const Patterns& derived, Group& group) {
    for (const model::Pattern* pattern : derived)
      if (std::find(group.derived.begin(), group.derived.end(), pattern) == group.derived.end())
        group.derived.push_back(pattern);
  }

  void add_files(const Member& member, const AnalysisPatterns& patterns,
                 const evaluate::Lookup& lookup, GroupInProgress& made) const {
    const model::Analysis& analysis = analyser_.analyses[member.analysis];
    const fs::path work = space::work_directory(run_, family_.at(member.position), lookup);
    for (std::size_t k = 0; k < analysis.files.size(); ++k) {
      const std::string name =
          expand_user_and_environment(evaluate::substitute(analysis.files[k].name, lookup));
      std::vector<fs::path> files = matching_files(work, name);
      if (files.empty())
        files.push_back(work / name);  // is not there, and that is told
      for (const fs::path& file : files)
        add_file(member.position, {file, patterns.of_files[k], name}, made);
    }
  }

  /// Each pattern is searched once in a file, where that is listed for it first: the order of the
  /// files is that of the matches.
  static void add_file(std::size_t position, FileToScan file, GroupInProgress& made) {
    const auto [known, is_new] =
        made.searched.try_emplace({position, file.file.lexically_normal()});
    Patterns& searched = known->second;
    std::erase_if(file.patterns, [&](const model::Pattern* pattern) {
      return std::ranges::find(searched, pattern) != searched.end();
    });
    searched.insert(searched.end(), file.patterns.begin(), file.patterns.end());
    if (is_new || !file.patterns.empty())
      made.group.files.push_back(std::move(file));
  }

  const space::Run& run_;
  const space::Lineage& family_;
  const model::Analyser& analyser_;
  NeededNames needed_;
  space::Variables constants_;
  std::vector<AnalysisPatterns> patterns_;    ///< As the analyses of the analyser.
  std::vector<std::vector<Member>> members_;  ///< Of each group, in the order of the analyses.
};

void add_rows(long long workpackage, const FoundValues& findings,
              std::vector<workspace::Finding>& rows) {
  for (const auto& [name, finding] : findings)
    rows.push_back({.workpackage = workpackage,
                    .name = name,
                    .value = finding.present() ? std::optional(finding.value) : std::nullopt,
                    .unit = finding.unit,
                    .estimated = finding.estimated,
                    .absent_reason = finding.absent_reason});
}

using TakeIn = std::function<void(const std::string& analyser, std::vector<workspace::Finding>)>;

/// Hands over what an analyser finds in pieces, since all of it together is large: ten numbers for
/// each pattern.
class PiecewiseAnalysis {
 public:
  PiecewiseAnalysis(const space::Run& run, const workspace::Workspace& workspace)
      : run_(run),
        all_(space::in_last_cycle(run, workspace.workpackages())),
        family_(all_),
        evaluator_(space::evaluator_of(run)) {}

  /// @param diagnostics null: nothing is told, and what a single value says of itself is left out
  void analyse(const model::Analyser& analyser, Diagnostics* diagnostics, const TakeIn& take_in) {
    constexpr std::size_t at_a_time = 250;  // derived patterns are evaluated together
    const Grouping grouping(run_, family_, analyser);
    GroupAnalyser group_analyser(evaluator_, diagnostics);
    for (std::size_t first = 0; first < grouping.size(); first += at_a_time) {
      std::vector<Group> groups;
      for (std::size_t k = first; k < std::min(first + at_a_time, grouping.size()); ++k)
        groups.push_back(grouping.group(k));
      auto findings = group_analyser.analyse(groups);
      std::vector<workspace::Finding> rows;
      for (std::size_t k = 0; k < findings.size(); ++k) {
        if (!diagnostics)
          drop_statistics_of_one_value(findings[k]);
        add_rows(grouping.representative(first + k), findings[k], rows);
      }
      take_in(analyser.name, std::move(rows));
    }
  }

 private:
  const space::Run& run_;
  std::vector<Workpackage> all_;
  space::Lineage family_;
  evaluate::Evaluator evaluator_;
};

/// Runs all analysers. What the additional ones find fault with, those of the benchmark have told.
void analyse_all(const space::Run& run, const workspace::Workspace& workspace,
                 Diagnostics& diagnostics, const TakeIn& take_in) {
  PiecewiseAnalysis analysis(run, workspace);
  for (const model::Analyser& analyser : run.benchmark.analysers)
    analysis.analyse(analyser, &diagnostics, take_in);
  for (const model::Analyser& analyser : additional_analysers(run.benchmark))
    analysis.analyse(analyser, nullptr, take_in);
}

/// Of all analysers, those of the benchmark first.
std::vector<std::string> names_of_analysers(const model::Benchmark& benchmark) {
  std::vector<std::string> names;
  for (const auto& analysers : {benchmark.analysers, additional_analysers(benchmark)})
    for (const model::Analyser& analyser : analysers)
      names.push_back(analyser.name);
  return names;
}

/// For the measured steps that these analysers do not read.
model::Analyser analyser_of_energy(const model::Benchmark& benchmark,
                                   const std::vector<model::Analyser>& others) {
  std::set<std::string> read;
  for (const model::Analyser& analyser : others)
    for (const model::Analysis& analysis : analyser.analyses)
      read.insert(analysis.step);
  model::Analyser analyser{.name = "energy, each workpackage", .reduce = false};
  for (const model::Step& step : benchmark.steps)
    if (step.energy && !read.contains(step.name))
      analyser.analyses.push_back({.step = step.name});
  return analyser;
}

}  // namespace

Analyses analyse_run(const space::Run& run, const workspace::Workspace& workspace,
                     Diagnostics& diagnostics) {
  Analyses analyses;
  for (const std::string& analyser : names_of_analysers(run.benchmark))
    analyses[analyser];
  analyse_all(run, workspace, diagnostics, [&](const std::string& analyser, auto found) {
    std::ranges::move(found, std::back_inserter(analyses[analyser]));
  });
  return analyses;
}

void analyse_and_store(const space::Run& run, workspace::Workspace& workspace,
                       Diagnostics& diagnostics) {
  workspace.at_once([&] {
    for (const std::string& analyser : names_of_analysers(run.benchmark))
      workspace.begin_findings(analyser);
    // One piece is stored while the next is analysed: for 100,000 workpackages 5.0 s, not 6.5.
    // Nothing else asks the workspace meanwhile.
    std::future<void> storing;
    analyse_all(run, workspace, diagnostics, [&](const std::string& analyser, auto found) {
      if (storing.valid())
        storing.get();
      storing = std::async(std::launch::async, [&workspace, analyser, found = std::move(found)] {
        workspace.add_findings(analyser, found);
      });
    });
    if (storing.valid())
      storing.get();
    if (has_filters(run.benchmark))
      keep_filters(run, stored_analyses(run, workspace), workspace);
  });
}

bool is_analysed(const space::Run& run, const workspace::Workspace& workspace) {
  return std::ranges::all_of(run.benchmark.analysers, [&](const model::Analyser& analyser) {
    return workspace.analysed(analyser.name);
  });
}

std::vector<model::Analyser> analysers_of_each(const model::Benchmark& benchmark) {
  const bool has_iterations = std::ranges::any_of(
      benchmark.steps, [](const model::Step& step) { return step.most_iterations() > 1; });
  std::vector<model::Analyser> analysers = benchmark.analysers;
  for (model::Analyser& analyser : analysers)
    if (analyser.reduce && has_iterations) {
      analyser.name = name_of_each(analyser.name);
      analyser.reduce = false;
    }
  if (model::Analyser energy = analyser_of_energy(benchmark, analysers); !energy.analyses.empty())
    analysers.push_back(std::move(energy));
  return analysers;
}

std::vector<model::Analyser> additional_analysers(const model::Benchmark& benchmark) {
  std::vector<model::Analyser> analysers = analysers_of_each(benchmark);
  std::erase_if(analysers, [&](const model::Analyser& one) {
    return benchmark.analyser(one.name) != nullptr;
  });
  return analysers;
}

std::string name_of_each(const std::string& analyser) {
  return analyser + ", each iteration";
}

void drop_statistics_of_one_value(FoundValues& findings) {
  std::set<std::string, std::less<>> single;
  for (const auto& [name, finding] : findings)
    if (name.ends_with("_cnt") && finding.present() && finding.value == Value(1LL))
      single.emplace(numbers::without_suffix(name));
  std::erase_if(findings, [&](const auto& finding) {
    const std::string_view base = numbers::without_suffix(finding.first);
    return base != finding.first && single.contains(base) && findings.contains(base);
  });
}

Analyses stored_analyses(const space::Run& run, const workspace::Workspace& workspace) {
  auto names = NeededNames(run.benchmark).names();
  Analyses analyses;
  const auto read = [&](const model::Analyser& analyser) {
    analyses[analyser.name] =
        names ? workspace.findings(analyser.name, *names) : workspace.findings(analyser.name);
  };
  for (const model::Analyser& analyser : run.benchmark.analysers)
    read(analyser);
  if (names)  // an iteration with several values has no spread
    for (const std::string& name : std::set<std::string>(*names))
      names->insert(name + "_cnt");
  for (const model::Analyser& analyser : additional_analysers(run.benchmark))
    read(analyser);
  return analyses;
}

bool is_each_analysed(const space::Run& run, const workspace::Workspace& workspace) {
  return std::ranges::all_of(
      analysers_of_each(run.benchmark),
      [&](const model::Analyser& analyser) { return workspace.analysed(analyser.name); });
}

Analyses stored_analyses_of_each(const space::Run& run, const workspace::Workspace& workspace) {
  Analyses analyses;
  for (const model::Analyser& analyser : analysers_of_each(run.benchmark)) {
    std::set<std::string> names = workspace.found_names(analyser.name);
    const std::set<std::string> above_one = workspace.found_names(analyser.name, 1);
    // Most names have one value at each workpackage, of which ten statistics say nothing.
    std::erase_if(names, [&, all = names](const std::string& name) {
      const std::string base(numbers::without_suffix(name));
      return base != name && all.contains(base) && !above_one.contains(base + "_cnt");
    });
    analyses[analyser.name] = workspace.findings(analyser.name, names);
  }
  return analyses;
}

}  // namespace bench::results
