#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyse.hpp>
#include <bench/results/group.hpp>
#include <bench/results/workpackage_values.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::results {
namespace {

namespace fs = std::filesystem;

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
            Id::conflict,
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

}  // namespace

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

std::vector<std::filesystem::path> matching_files(const std::filesystem::path& directory,
                                                  const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos)
    return {directory / pattern};
  return files_matching(directory, pattern);
}

std::vector<Group> WorkpackageValues::groups_of(const workspace::Workpackage& workpackage,
                                                const evaluate::Lookup& lookup,
                                                const LookedUp& is_looked_up) const {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  const fs::path work = space::work_directory(run_, workpackage, lookup);
  const auto group_of = [&] {
    Group group{.parameter = lookup, .is_looked_up = is_looked_up};
    if (step.energy)
      group.files.push_back(
          {run_.directory.path / workpackage.directory / "work/energy.txt", {}, "energy.txt"});
    return group;
  };
  std::vector<Group> groups;
  for (const model::Analyser& analyser : run_.benchmark.analysers) {
    Group group = group_of();
    for (const model::Analysis& analysis : analyser.analyses) {
      if (analysis.step != step.name)
        continue;
      const AnalysisPatterns patterns = patterns_of(run_.benchmark, analyser, analysis);
      group.derived.insert(group.derived.end(), patterns.derived.begin(), patterns.derived.end());
      for (std::size_t k = 0; k < analysis.files.size(); ++k)
        for (const fs::path& file : matching_files(
                 work,
                 expand_user_and_environment(evaluate::substitute(analysis.files[k].name, lookup))))
          group.files.push_back({file, patterns.of_files[k], file.filename().string()});
    }
    groups.push_back(std::move(group));
  }
  groups.push_back(group_of());
  return groups;
}

std::optional<double> WorkpackageValues::number(const workspace::Workpackage& workpackage,
                                                const std::string& name) const {
  const space::Variables variables = graph_.variables_of(workpackage);
  const evaluate::Lookup lookup = space::lookup_in(variables, workpackage.parameters);
  const auto groups =
      groups_of(workpackage, lookup, [&](std::string_view wanted) { return wanted == name; });
  for (const FoundValues& findings : GroupAnalyser(evaluator_).analyse(groups))
    if (const auto found = findings.find(name); found != findings.end() && found->second.present())
      if (const auto number = numbers::number_of(found->second.value))
        return number;
  return std::nullopt;
}

std::map<std::string, std::vector<double>, std::less<>> WorkpackageValues::series(
    const workspace::Workpackage& workpackage) const {
  const space::Variables variables = graph_.variables_of(workpackage);
  const evaluate::Lookup lookup = space::lookup_in(variables, workpackage.parameters);
  std::map<std::string, std::vector<double>, std::less<>> series;
  GroupAnalyser analyser(evaluator_);
  for (const Group& group : groups_of(workpackage, lookup, [](std::string_view) { return false; }))
    series.merge(analyser.series(group));
  return series;
}

std::vector<Miss> WorkpackageValues::misses(const workspace::Workpackage& workpackage) const {
  const space::Variables variables = graph_.variables_of(workpackage);
  const evaluate::Lookup lookup = space::lookup_in(variables, workpackage.parameters);
  std::vector<Miss> all;
  GroupAnalyser analyser(evaluator_);
  for (const Group& group : groups_of(workpackage, lookup, [](std::string_view) { return false; }))
    std::ranges::move(analyser.misses(group), std::back_inserter(all));
  return all;
}

}  // namespace bench::results
