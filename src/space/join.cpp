#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/join.hpp>
#include <bench/space/point_index.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

using workspace::value_of;
using workspace::Workpackage;

namespace {

/// The parameters that every workpackage of a step has, in order.
std::vector<std::string> names_of(const model::Benchmark& benchmark, const model::Step& step) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end())
      names.push_back(name);
  };
  for (const std::string& use : step.use)
    if (const model::ParameterSet* set = benchmark.parameter_set(use))
      for (const model::Parameter& parameter : set->parameters)
        add(parameter.name);
  for (const std::string& parent : step.depend)
    for (const std::string& name : names_of(benchmark, *benchmark.step(parent)))
      add(name);
  return names;
}

}  // namespace

Join::Join(const model::Benchmark& benchmark, const model::Step& step,
           const Definitions& definitions, PointIndex& points, const Workpackages& workpackages)
    : benchmark_(benchmark),
      step_(step),
      definitions_(definitions),
      points_(points),
      workpackages_(workpackages) {}

void Join::add_released(const Workpackage& parent) {
  if (step_.depend.size() > 1)
    released_[parent.step].push_back(parent.id);
}

std::vector<Parents> Join::release(const Workpackage& parent) {
  std::vector<std::vector<long long>> tuples{{parent.id}};
  for (const std::string& other : step_.depend) {
    if (other == parent.step)
      continue;
    Index& index = index_of(parent.step, other);
    std::vector<std::vector<long long>> longer;
    for (const std::vector<long long>& tuple : tuples)
      if (const auto found = index.by_values.find(key(tuple, index.shared));
          found != index.by_values.end())
        for (const long long candidate : found->second)
          if (agree(tuple, candidate)) {
            longer.push_back(tuple);
            longer.back().push_back(candidate);
          }
    tuples = std::move(longer);
  }
  add_released(parent);
  std::vector<Parents> parents;
  parents.reserve(tuples.size());
  for (std::vector<long long>& ids : tuples) {
    std::ranges::sort(ids);
    parents.push_back(parents_of(std::move(ids)));
  }
  return parents;
}

Parents Join::parents_of(std::vector<long long> ids) const {
  Origin origin = origin_of(ids);
  return {std::move(ids), std::move(origin)};
}

Join::Index& Join::index_of(const std::string& released, const std::string& other) {
  const auto [found, is_new] = indexes_.try_emplace({released, other});
  Index& index = found->second;
  if (is_new) {
    std::vector<std::string> before{released};
    for (const std::string& name : step_.depend) {
      if (name == other)
        break;
      if (name != released)
        before.push_back(name);
    }
    index = make_index(before, other);
  }
  const std::vector<long long>& all = released_[other];
  for (; !index.impossible && index.indexed < all.size(); ++index.indexed)
    index.by_values[key({all[index.indexed]}, index.shared)].push_back(all[index.indexed]);
  return index;
}

/// `before` are the steps that a tuple has already when `other` is joined.
Join::Index Join::make_index(const std::vector<std::string>& before, const std::string& other) {
  Index index;
  const model::Step& joined = *benchmark_.step(other);
  const auto names = names_of(benchmark_, joined);
  std::set<std::string> seen;
  for (const std::string& step : before)
    for (const std::string& name : names_of(benchmark_, *benchmark_.step(step))) {
      if (std::ranges::find(names, name) == names.end() || !seen.insert(name).second)
        continue;
      const auto* one = definition_of(benchmark_, *benchmark_.step(step), name);
      const auto* two = definition_of(benchmark_, joined, name);
      if (!is_kept(*two))
        continue;
      index.shared.push_back(name);
      if (equivalent(*one, *two) || index.impossible)
        continue;
      index.impossible = true;
      std::string conflict = fmt::format(
          "step {}: its parents {} and {} have no child together, because they define "
          "'{}' differently",
          step_.name, std::min(step, other), std::max(step, other), name);
      if (std::ranges::find(conflicts_, conflict) == conflicts_.end())
        conflicts_.push_back(std::move(conflict));
    }
  return index;
}

/// Whether the step takes the parameter over as it is.
bool Join::is_kept(const model::Parameter& definition) const {
  return !is_reevaluated(definition, own_definition(benchmark_, step_, definition.name));
}

/// What a tuple must share with another to go with it.
std::string Join::key(const std::vector<long long>& ids,
                      const std::vector<std::string>& names) const {
  std::string text;
  for (const std::string& name : names)
    for (const long long id : ids)
      if (const std::string* value = value_of(workpackages_.at(id).parameters, name)) {
        text += fmt::format("{}\x1e{}\x1f", *value, points_.repeat_of(workpackages_.at(id), name));
        break;
      }
  return text;
}

/// The index knows what all workpackages of the steps have; sets that depend on parameters give
/// some of them more.
bool Join::agree(const std::vector<long long>& ids, long long candidate) const {
  const Workpackage& two = workpackages_.at(candidate);
  for (const long long id : ids) {
    const Workpackage& one = workpackages_.at(id);
    for (const auto& [name, value] : one.parameters) {
      const std::string* other = value_of(two.parameters, name);
      if (!other)
        continue;
      const model::Parameter* definition = definitions_.of(one, name);
      const model::Parameter* other_definition = definitions_.of(two, name);
      if (!definition || !other_definition || !is_kept(*other_definition))
        continue;
      if (*other != value || !equivalent(*definition, *other_definition) ||
          points_.repeat_of(one, name) != points_.repeat_of(two, name))
        return false;
    }
  }
  return true;
}

std::vector<std::string> Join::take_conflicts() {
  return std::exchange(conflicts_, {});
}

/// Everything that the parents have, in order of `depend` whichever was released last: so
/// iterations of one point stay equal.
Origin Join::origin_of(const std::vector<long long>& ids) const {
  Origin origin;
  std::set<std::string_view> seen;
  for (const std::string& step : step_.depend)
    for (const long long id : ids)
      if (const Workpackage& parent = workpackages_.at(id); parent.step == step)
        for (const auto& [name, value] : parent.parameters)
          if (const auto* definition = definitions_.of(parent, name);
              definition && (ids.size() == 1 || seen.insert(name).second))
            origin.inherited.push_back({definition, value});
  return origin;
}

}  // namespace bench::space
