#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/model/benchmark.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/point_index.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

using workspace::value_of;
using workspace::Workpackage;

bool defines(const model::Benchmark& benchmark, const model::Step& step,
             const model::Parameter& definition) {
  return std::ranges::any_of(step.use, [&](const std::string& use) {
    const model::ParameterSet* set = benchmark.parameter_set(use);
    return set && std::ranges::any_of(set->parameters, [&](const model::Parameter& parameter) {
             return &parameter == &definition;
           });
  });
}

}  // namespace

PointIndex::PointIndex(const model::Benchmark& benchmark, const Definitions& definitions,
                       Workpackages& workpackages)
    : benchmark_(benchmark), definitions_(definitions), workpackages_(workpackages) {
  for (const model::ParameterSet& set : benchmark.parameter_sets)
    for (const model::Parameter& parameter : set.parameters) {
      std::vector<std::string> values = model::written_values(parameter);
      if (std::set<std::string>(values.begin(), values.end()).size() < values.size())
        repetitive_[&parameter] = std::move(values);
    }
}

void PointIndex::settle() {
  const std::vector<Workpackage>& all = workpackages_.all();
  if (settled_ == 0) {
    points_.reserve(all.size());
    equal_.reserve(all.size());
  }
  while (settled_ < all.size()) {
    std::size_t end = settled_ + 1;
    while (end < all.size() && all[end].combination < 0 &&
           all[end].combination == all[settled_].combination)
      ++end;
    place(settled_, end);
    settled_ = end;
  }
}

/// Everything that makes a point, beside the other workpackages on it.
std::string PointIndex::key_of(const Workpackage& workpackage) const {
  std::string key = workpackage.step;
  for (const long long parent : workpackage.parents)
    key += fmt::format("\x1d{}", workpackages_.at(parent).combination);
  for (const auto& [name, value] : workpackage.parameters)
    key.append("\x1f").append(name).append("\x1e").append(value);
  return key;
}

void PointIndex::place(std::size_t begin, std::size_t end) {
  const Workpackage& first = workpackages_.all()[begin];
  const long long own = first.combination < 0 ? first.id : first.combination;
  std::vector<std::string> keys;  // they differ where a value depends on the workpackage
  for (std::size_t k = begin; k < end; ++k)
    if (std::string key = key_of(workpackages_.all()[k]); keys.empty() || keys.back() != key)
      keys.push_back(std::move(key));
  const auto known =
      std::ranges::find_if(keys, [&](const std::string& key) { return points_.contains(key); });
  long long point = known == keys.end() ? own : points_.at(*known);
  for (const std::string& key : keys)
    points_.emplace(key, point);
  std::string equal = fmt::format("{}\x1d{}", point, first.iteration);
  for (const long long parent : first.parents)
    equal += fmt::format("\x1d{}", parent);
  const int twin = equal_[equal]++;
  if (twin > 0)
    point = points_.emplace(fmt::format("{}\x1c{}", keys.front(), twin), own).first->second;
  for (std::size_t k = begin; k < end; ++k) {
    Workpackage& workpackage = workpackages_.at(workpackages_.all()[k].id);
    if (twin > 0)
      twins_[workpackage.id] = twin;
    if (workpackage.combination < 0)
      workpackage.combination = point;
  }
}

int PointIndex::repeats_of(const model::Parameter& definition, const std::string& value) const {
  const auto found = repetitive_.find(&definition);
  return found == repetitive_.end()
             ? 1
             : std::max(1, static_cast<int>(std::ranges::count(found->second, value)));
}

/// Whether the workpackage has taken the value over from a parent, `from`.
bool PointIndex::is_inherited(const Workpackage& workpackage, const model::Parameter& definition,
                              const Workpackage** from) const {
  const model::Step& step = *benchmark_.step(workpackage.step);
  const bool own = defines(benchmark_, step, definition);
  if (is_reevaluated(definition, own ? &definition : nullptr))
    return false;
  for (const long long parent : workpackage.parents)
    if (value_of(workpackages_.at(parent).parameters, definition.name)) {
      *from = &workpackages_.at(parent);
      return true;
    }
  return false;
}

int PointIndex::repeat_of(const Workpackage& workpackage, const std::string& name) {
  if (repetitive_.empty())
    return 0;
  settle();
  const auto found_twin = twins_.find(workpackage.id);
  int twin = found_twin == twins_.end() ? 0 : found_twin->second;
  // Equal workpackages come in the order of a nested loop, the last parameter fastest.
  for (std::size_t k = workpackage.parameters.size(); k-- > 0;) {
    const auto& [known, value] = workpackage.parameters[k];
    const model::Parameter* definition = definitions_.of(workpackage, known);
    const int count = definition ? repeats_of(*definition, value) : 1;
    if (count == 1)
      continue;
    const Workpackage* parent = nullptr;
    const bool inherited = is_inherited(workpackage, *definition, &parent);
    if (known == name)
      return inherited ? repeat_of(*parent, name) : twin % count;
    if (!inherited)
      twin /= count;
  }
  return 0;
}

}  // namespace bench::space
