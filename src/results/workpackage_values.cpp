#include "analysed_files.hpp"
#include "analysis_patterns.hpp"

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

#include <bench/base/files.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/number.hpp>
#include <bench/results/analyse.hpp>
#include <bench/results/group.hpp>
#include <bench/results/workpackage_values.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::tabulate {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::vector<analyse::Group> WorkpackageValues::groups_of(
    const workspace::Workpackage& workpackage, const evaluate::Lookup& lookup,
    const analyse::LookedUp& is_looked_up) const {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  const fs::path work = workflow::work_directory(run_, workpackage, lookup);
  const auto group_of = [&] {
    analyse::Group group{.parameter = lookup, .is_looked_up = is_looked_up};
    if (step.energy)
      group.files.push_back(
          {run_.directory.path / workpackage.directory / "work/energy.txt", {}, "energy.txt"});
    return group;
  };
  std::vector<analyse::Group> groups;
  for (const model::Analyser& analyser : run_.benchmark.analysers) {
    analyse::Group group = group_of();
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
  const setup::Variables variables = graph_.variables_of(workpackage);
  const evaluate::Lookup lookup = workflow::lookup_in(variables, workpackage.parameters);
  const auto groups =
      groups_of(workpackage, lookup, [&](std::string_view wanted) { return wanted == name; });
  for (const analyse::Findings& findings : analyse::GroupAnalyser(evaluator_).analyse(groups))
    if (const auto found = findings.find(name); found != findings.end() && found->second.present())
      if (const auto number = statistics::number_of(found->second.value))
        return number;
  return std::nullopt;
}

std::map<std::string, std::vector<double>, std::less<>> WorkpackageValues::series(
    const workspace::Workpackage& workpackage) const {
  const setup::Variables variables = graph_.variables_of(workpackage);
  const evaluate::Lookup lookup = workflow::lookup_in(variables, workpackage.parameters);
  std::map<std::string, std::vector<double>, std::less<>> series;
  analyse::GroupAnalyser analyser(evaluator_);
  for (const analyse::Group& group :
       groups_of(workpackage, lookup, [](std::string_view) { return false; }))
    series.merge(analyser.series(group));
  return series;
}

std::vector<analyse::Miss> WorkpackageValues::misses(
    const workspace::Workpackage& workpackage) const {
  const setup::Variables variables = graph_.variables_of(workpackage);
  const evaluate::Lookup lookup = workflow::lookup_in(variables, workpackage.parameters);
  std::vector<analyse::Miss> all;
  analyse::GroupAnalyser analyser(evaluator_);
  for (const analyse::Group& group :
       groups_of(workpackage, lookup, [](std::string_view) { return false; }))
    std::ranges::move(analyser.misses(group), std::back_inserter(all));
  return all;
}

}  // namespace bench::tabulate
