#include "spreads.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/value.hpp>
#include <bench/result/table.hpp>
#include <bench/statistics/statistics.hpp>
#include <bench/workflow/lineage.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::tabulate {

using workspace::Finding;

namespace {

/// @param suffix of a statistic of numbers that is a real
double real_statistic(const char* suffix, const std::vector<Value>& values,
                      const statistics::Numbers& numbers) {
  return std::get<double>(statistics::statistic_of(suffix)->compute(values, &numbers));
}

/// @param workpackages of the values
std::shared_ptr<const result::Spread> spread_of(const std::vector<Value>& values,
                                                const std::vector<long long>& workpackages) {
  const statistics::Numbers numbers = statistics::numbers_of(values);
  const auto spread = std::make_shared<result::Spread>(
      result::Spread{.median = real_statistic("_median", values, numbers),
                     .low = real_statistic("_ci_low", values, numbers),
                     .high = real_statistic("_ci_high", values, numbers),
                     .outliers = {}});
  const bool is_the_same = std::ranges::all_of(
      values, [&](const Value& value) { return as_number(value) == spread->median; });
  if (is_the_same)
    return nullptr;
  const std::vector<bool> are_outliers = statistics::outliers(values);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (are_outliers[k])
      spread->outliers.push_back(workpackages[k]);
  return spread;
}

}  // namespace

Spreads::Spreads(const workflow::Lineage& family, const std::vector<Finding>* each)
    : family_(family) {
  if (!each)
    return;
  for (const Finding& finding : *each)
    found_[finding.name].push_back(&finding);
  for (auto& [name, found] : found_)
    if (!std::ranges::is_sorted(found, {}, &Finding::workpackage))
      std::ranges::stable_sort(found, {}, &Finding::workpackage);
}

std::shared_ptr<const result::Spread> Spreads::of(const std::string& name,
                                                  std::size_t representative) const {
  if (found_.empty())
    return nullptr;
  const std::vector<std::size_t>& iterations = family_.siblings(representative);
  const std::string base(statistics::without_suffix(name));
  if (iterations.size() < 2 || !found_.contains(name) || (base != name && found_.contains(base)))
    return nullptr;
  std::vector<Value> values;
  std::vector<long long> workpackages;
  for (const std::size_t iteration : iterations) {
    const workspace::Workpackage& one = family_.at(iteration);
    const Finding* found = at(name, one.id);
    if (one.state != workspace::State::done || !found || !found->value)
      continue;
    if (at(name + "_cnt", one.id) || std::holds_alternative<std::string>(*found->value))
      return nullptr;
    values.push_back(*found->value);
    workpackages.push_back(one.id);
  }
  return values.size() < 2 ? nullptr : spread_of(values, workpackages);
}

std::optional<result::Remark> Spreads::lacking(const std::string& name,
                                               std::size_t representative) const {
  if (found_.empty())
    return std::nullopt;
  // A statistic is left out where there is a single value.
  std::string base(statistics::without_suffix(name));
  if (!found_.contains(base))
    base = name;
  if (!found_.contains(base))
    return std::nullopt;
  std::size_t done = 0;
  result::Remark remark{.reason = "nothing was found"};
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

std::optional<result::Remark> Spreads::several(const std::string& name,
                                               std::size_t representative) const {
  if (!found_.contains(name + "_cnt"))
    return std::nullopt;
  std::size_t having = 0;
  result::Remark remark{.what = name + ": the first value, not the median"};
  for (const std::size_t iteration : family_.siblings(representative)) {
    const workspace::Workpackage& one = family_.at(iteration);
    const Finding* found = at(name, one.id);
    if (one.state != workspace::State::done || !found || !found->value)
      continue;
    if (std::holds_alternative<std::string>(*found->value))
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

const Finding* Spreads::at(const std::string& name, long long workpackage) const {
  const auto found = found_.find(name);
  if (found == found_.end())
    return nullptr;
  const auto at = std::ranges::lower_bound(found->second, workpackage, {}, &Finding::workpackage);
  return at != found->second.end() && (*at)->workpackage == workpackage ? *at : nullptr;
}

}  // namespace bench::tabulate
