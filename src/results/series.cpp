#include "series.hpp"

#include "each_workpackage.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::tabulate {
namespace {

using workspace::Finding;
using Found = std::vector<const Finding*>;

/// The findings of one analyser by name and unit.
std::map<std::pair<std::string, std::string>, Found> by_name(const std::vector<Finding>& findings) {
  std::map<std::pair<std::string, std::string>, Found> names;
  Found* last = nullptr;
  for (const Finding& finding : findings) {
    if (!last || last->back()->name != finding.name || last->back()->unit != finding.unit)
      last = &names[{finding.name, finding.unit}];
    last->push_back(&finding);
  }
  for (auto& [name, found] : names)
    if (!std::ranges::is_sorted(found, {}, &Finding::workpackage))
      std::ranges::stable_sort(found, {}, &Finding::workpackage);
  return names;
}

/// Both together; of two findings at one workpackage the one with a value, else the first.
/// @returns false, and changes nothing, where they have different values
bool unite(Found& all, const Found& others) {
  Found united;
  united.reserve(all.size() + others.size());
  auto one = all.begin();
  for (const Finding* other : others) {
    while (one != all.end() && (*one)->workpackage < other->workpackage)
      united.push_back(*one++);
    if (one == all.end() || (*one)->workpackage != other->workpackage) {
      united.push_back(other);
      continue;
    }
    if ((*one)->value && other->value && to_text(*(*one)->value) != to_text(*other->value))
      return false;
    united.push_back((*one)->value ? *one : other);
    ++one;
  }
  united.insert(united.end(), one, all.end());
  all = std::move(united);
  return true;
}

/// Says what the names of series mean, and how they are ordered.
class Meanings {
 public:
  explicit Meanings(const model::Benchmark& benchmark) {
    for (const model::PatternSet& set : benchmark.pattern_sets)
      for (const model::Pattern& pattern : set.patterns)
        patterns_.try_emplace(pattern.name, patterns_.size(), pattern.type);
  }

  void describe(Series& series) const {
    if (!patterns_.contains(series.name)) {
      series.base = statistics::without_suffix(series.name);
      if (series.base != series.name)
        series.statistic = statistics::statistic_of(series.name);
    }
    const auto pattern = patterns_.find(series.statistic ? series.base : series.name);
    series.is_of_meter = pattern == patterns_.end();
    if (!series.is_of_meter && (!series.statistic || series.statistic->has_type))
      series.type = pattern->second.second;
  }

  auto order(const Series& series) const {
    const std::string& name = series.statistic ? series.base : series.name;
    const auto pattern = patterns_.find(name);
    return std::tuple(series.is_of_meter,
                      pattern == patterns_.end() ? patterns_.size() : pattern->second.first, name,
                      series.statistic, series.rank);
  }

 private:
  /// Place and type of each pattern.
  std::map<std::string, std::pair<std::size_t, ValueType>> patterns_;
};

}  // namespace

std::vector<Series> series_of(const setup::Run& run, const Analyses& analyses) {
  std::vector<Series> all;
  std::multimap<std::pair<std::string, std::string>, std::size_t> known;
  for (const model::Analyser& analyser : analysers_of_each(run.benchmark)) {
    const auto findings = analyses.find(analyser.name);
    if (findings == analyses.end())
      continue;
    for (auto& [name, found] : by_name(findings->second)) {
      const auto [first, last] = known.equal_range(name);
      const bool united = std::any_of(
          first, last, [&](const auto& other) { return unite(all[other.second].found, found); });
      if (united)
        continue;
      const auto rank = static_cast<std::size_t>(std::distance(first, last));
      known.emplace(name, all.size());
      all.push_back(
          {.name = name.first, .unit = name.second, .rank = rank, .found = std::move(found)});
    }
  }
  const Meanings meanings(run.benchmark);
  for (Series& series : all)
    meanings.describe(series);
  std::ranges::sort(all, {}, [&](const Series& series) { return meanings.order(series); });
  return all;
}

std::set<std::string> repeated_names(const std::vector<Series>& all) {
  std::set<std::string> names;
  for (const Series& series : all)
    if (series.statistic && series.statistic->suffix == "_cnt" &&
        std::ranges::any_of(series.found, [](const Finding* finding) {
          const auto* count = finding->value ? std::get_if<long long>(&*finding->value) : nullptr;
          return count && *count > 1;
        }))
      names.insert(series.base);
  return names;
}

}  // namespace bench::tabulate
