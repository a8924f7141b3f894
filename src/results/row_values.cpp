#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/value.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/row_values.hpp>
#include <bench/results/table.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {

using workspace::Finding;

namespace {

/// @param suffix of a statistic of numbers that is a real
double real_statistic(const char* suffix, const std::vector<Value>& values,
                      const numbers::Numbers& numbers) {
  return std::get<double>(numbers::statistic_of(suffix)->compute(values, &numbers));
}

/// The median as one of the values wrote it, if it is one of them; of integers an integer if it is
/// whole.
Value written_median(const std::vector<Value>& values, double median) {
  constexpr double exact = 9007199254740992;  // 2^53
  for (const Value& value : values)
    if (numbers::number_of(value) == median)
      return value;
  const bool is_integer = std::trunc(median) == median && std::fabs(median) < exact;
  if (is_integer && std::ranges::all_of(values, [](const Value& value) {
        return std::holds_alternative<long long>(value);
      }))
    return static_cast<long long>(median);
  return median;
}

/// @param values at least one, as they were found
/// @param numbers the same with numeric types
/// @param workpackages of the values
void set_median(const std::vector<Value>& values, const std::vector<Value>& numbers,
                const std::vector<long long>& workpackages, Cell& cell) {
  const numbers::Numbers common = numbers::numbers_of(numbers);
  const auto spread =
      std::make_shared<Spread>(Spread{.median = real_statistic("_median", numbers, common),
                                      .low = real_statistic("_ci_low", numbers, common),
                                      .high = real_statistic("_ci_high", numbers, common),
                                      .outliers = {}});
  if (std::ranges::all_of(numbers, [&](const Value& number) {
        return numbers::number_of(number) == spread->median;
      }))
    return;
  cell.value = written_median(values, spread->median);
  if (!std::isfinite(spread->high - spread->low))
    return;  // the median remains, nan if a value is
  for (const Value& number : numbers)
    spread->numbers.push_back(*numbers::number_of(number));
  const std::vector<bool> are_outliers = numbers::outliers(numbers);
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (are_outliers[k])
      spread->outliers.push_back(workpackages[k]);
  cell.spread = spread;
}

/// Names of derived patterns that use a statistic, directly or through another derived pattern.
std::set<std::string> derived_of_whole_row(const model::Benchmark& benchmark) {
  std::set<std::string> plain;
  for (const model::PatternSet& set : benchmark.pattern_sets)
    for (const model::Pattern& pattern : set.patterns)
      plain.insert(pattern.name);
  std::set<std::string> whole;
  const auto is_whole = [&](const model::Pattern& pattern) {
    return std::ranges::any_of(evaluate::names_in(pattern.text), [&](const std::string& name) {
      const std::string_view base = numbers::without_suffix(name);
      return whole.contains(name) ||
             (!plain.contains(name) && base != name &&
              (plain.contains(std::string(base)) || !energy::unit_of(base).empty()));
    });
  };
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const model::PatternSet& set : benchmark.pattern_sets)
      for (const model::Pattern& pattern : set.patterns)
        if (pattern.derived && is_whole(pattern))
          is_new |= whole.insert(pattern.name).second;
  }
  return whole;
}

}  // namespace

RowValues::RowValues(const model::Benchmark& benchmark, const space::Lineage& family,
                     const model::Analyser& analyser, const Analyses& analyses)
    : family_(family), of_whole_row_(derived_of_whole_row(benchmark)) {
  const auto each = analyses.find(name_of_each(analyser.name));
  if (!analyser.reduce || each == analyses.end())
    return;
  for (const Finding& finding : each->second)
    found_[finding.name].push_back(&finding);
  for (auto& [name, found] : found_)
    if (!std::ranges::is_sorted(found, {}, &Finding::workpackage))
      std::ranges::stable_sort(found, {}, &Finding::workpackage);
}

Cell RowValues::cell(const Finding& found, std::size_t representative) const {
  Cell cell{
      .value = found.value, .absent_reason = found.absent_reason, .estimated = found.estimated};
  const std::string base(numbers::without_suffix(found.name));
  if (!found.value || !found_.contains(found.name) || is_of_whole_row(found.name) ||
      (base != found.name && found_.contains(base)))
    return cell;
  std::vector<Value> values;
  std::vector<Value> numbers;
  std::vector<long long> workpackages;
  for (const std::size_t iteration : family_.siblings(representative)) {
    const workspace::Workpackage& one = family_.at(iteration);
    const Finding* of_one = at(found.name, one.id);
    if (one.state != workspace::State::done || !of_one || !of_one->value)
      continue;
    auto number = numbers::numeric_value(*of_one->value);
    if (!number || at(found.name + "_cnt", one.id))
      return cell;
    values.push_back(*of_one->value);
    numbers.push_back(*std::move(number));
    workpackages.push_back(one.id);
  }
  if (values.size() > 1)
    set_median(values, numbers, workpackages, cell);
  return cell;
}

std::optional<Remark> RowValues::lacking(const std::string& name,
                                         std::size_t representative) const {
  if (found_.empty())
    return std::nullopt;
  // A statistic is left out where there is a single value.
  std::string base(numbers::without_suffix(name));
  if (!found_.contains(base))
    base = name;
  if (!found_.contains(base))
    return std::nullopt;
  std::size_t done = 0;
  Remark remark{.reason = "nothing was found"};
  for (const std::size_t iteration : family_.siblings(representative)) {
    const workspace::Workpackage& one = family_.at(iteration);
    if (one.state != workspace::State::done)
      continue;
    ++done;
    const Finding* found = at(base, one.id);
    if (found && found->value)
      continue;
    remark.workpackages.push_back(one.id);
    if (found)
      remark.reason = found->absent_reason;
  }
  const std::size_t having = done - remark.workpackages.size();
  if (having == 0 || having == done)
    return std::nullopt;
  remark.what = fmt::format("{}: {} of {} iterations have a value", base, having, done);
  return remark;
}

std::optional<Remark> RowValues::several(const std::string& name,
                                         std::size_t representative) const {
  if (!found_.contains(name + "_cnt"))
    return std::nullopt;
  std::size_t having = 0;
  Remark remark{.what = name + ": the first value, not the median"};
  for (const std::size_t iteration : family_.siblings(representative)) {
    const workspace::Workpackage& one = family_.at(iteration);
    const Finding* found = at(name, one.id);
    if (one.state != workspace::State::done || !found || !found->value)
      continue;
    if (!numbers::number_of(*found->value))
      return std::nullopt;
    ++having;
    if (at(name + "_cnt", one.id))
      remark.workpackages.push_back(one.id);
  }
  const std::size_t several = remark.workpackages.size();
  if (several == 0 || several == having)
    return std::nullopt;
  remark.reason = fmt::format("several matches in {} of {} iterations", several, having);
  return remark;
}

const Finding* RowValues::at(const std::string& name, long long workpackage) const {
  const auto found = found_.find(name);
  if (found == found_.end())
    return nullptr;
  const auto at = std::ranges::lower_bound(found->second, workpackage, {}, &Finding::workpackage);
  return at != found->second.end() && (*at)->workpackage == workpackage ? *at : nullptr;
}

}  // namespace bench::results
