#include "graph.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace bench::engine {

using workspace::Workpackage;

namespace {

/// Equal for the iterations of one point of the parameter space, and for nothing else.
std::string combination_key(const Workpackage& workpackage) {
  std::string key = workpackage.step;
  for (const auto& [name, value] : workpackage.parameters)
    key.append("\x1f").append(name).append("\x1e").append(value);
  return key;
}

bool depends_on(const model::Step& step, const std::string& parent) {
  return std::find(step.depend.begin(), step.depend.end(), parent) != step.depend.end();
}

}  // namespace

Graph::Graph(const Run& run, std::vector<Workpackage> known, evaluate::Evaluator& evaluator)
    : run_(run),
      evaluator_(evaluator),
      benchmark_variables_(benchmark_variables(run)),
      all_(std::move(known)) {
  for (Workpackage& workpackage : all_) {
    remember_combination(workpackage);
    if (workpackage.expanded)
      released_[workpackage.step].push_back(workpackage.id);
  }
}

std::vector<Workpackage> Graph::make_first() {
  std::vector<Newborn> newborns;
  for (const model::Step& step : run_.benchmark.steps)
    if (step.depend.empty())
      breed(step, {Parents{}}, {0}, newborns);
  return take_in(std::move(newborns));
}

std::vector<Workpackage> Graph::make_children(const std::vector<long long>& released) {
  // Parents are collected per step, so that one expansion serves all; the order that counts is
  // that of the causes.
  const auto& steps = run_.benchmark.steps;
  std::vector<std::vector<Parents>> parents(steps.size());
  std::vector<std::vector<std::size_t>> causes(steps.size());
  for (std::size_t cause = 0; cause < released.size(); ++cause) {
    const std::string& name = at(released[cause]).step;
    for (std::size_t k = 0; k < steps.size(); ++k)
      if (depends_on(steps[k], name)) {
        collect(steps[k], released[cause], parents[k]);
        causes[k].resize(parents[k].size(), cause);
      }
    released_[name].push_back(released[cause]);
  }
  std::vector<Newborn> newborns;
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (!parents[k].empty())
      breed(steps[k], parents[k], causes[k], newborns);
  std::stable_sort(newborns.begin(), newborns.end(),
                   [](const Newborn& a, const Newborn& b) { return a.cause < b.cause; });
  return take_in(std::move(newborns));
}

/// Appends every compatible choice of one released workpackage of each parent step that has
/// `released` for its own step.
void Graph::collect(const model::Step& step, long long released,
                    std::vector<Parents>& parents) const {
  std::vector<Parents> tuples{{{released}, origin_of(released)}};
  for (const std::string& other : step.depend) {
    if (other == at(released).step)
      continue;
    std::vector<Parents> longer;
    const auto candidates = released_.find(other);
    if (candidates == released_.end())
      return;
    for (const Parents& tuple : tuples)
      for (const long long candidate : candidates->second) {
        Parents extended = tuple;
        if (!merge(extended.origin, origin_of(candidate)))
          continue;
        extended.ids.push_back(candidate);
        longer.push_back(std::move(extended));
      }
    tuples = std::move(longer);
  }
  for (Parents& tuple : tuples) {
    // In order of `depend`, whichever parent was released last: iterations of one point stay equal.
    expand::Origin ordered;
    for (const std::string& name : step.depend)
      for (const long long id : tuple.ids)
        if (at(id).step == name)
          merge(ordered, origin_of(id));
    tuple.origin = std::move(ordered);
    std::sort(tuple.ids.begin(), tuple.ids.end());
    parents.push_back(std::move(tuple));
  }
}

expand::Origin Graph::origin_of(long long id) const {
  const Workpackage& workpackage = at(id);
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  expand::Origin origin;
  for (const auto& [name, value] : workpackage.parameters)
    if (const auto* definition = expand::definition_of(run_.benchmark, step, name))
      origin.inherited.push_back({definition, value});
  return origin;
}

/// Adds the other's parameters. False if a shared one has another value: such parents have no child
/// together.
bool Graph::merge(expand::Origin& origin, const expand::Origin& other) const {
  for (const expand::Assignment& assignment : other.inherited) {
    const auto same = std::find_if(origin.inherited.begin(), origin.inherited.end(),
                                   [&](const expand::Assignment& known) {
                                     return known.definition->name == assignment.definition->name;
                                   });
    if (same == origin.inherited.end())
      origin.inherited.push_back(assignment);
    else if (same->value != assignment.value)
      return false;
  }
  return true;
}

/// The parents' iterations as one mixed-radix number, so that iterations of one point stay apart.
int Graph::base_iteration(const std::vector<long long>& parents) const {
  std::vector<const Workpackage*> sorted;
  for (const long long id : parents)
    sorted.push_back(&at(id));
  const auto radix = [&](const Workpackage* workpackage) {
    return run_.benchmark.step(workpackage->step)->iterations;
  };
  std::sort(sorted.begin(), sorted.end(), [&](const Workpackage* a, const Workpackage* b) {
    return std::pair(radix(a), a->step) < std::pair(radix(b), b->step);
  });
  int base = 0;
  for (const Workpackage* parent : sorted)
    base = base * radix(parent) + parent->iteration;
  return base;
}

void Graph::breed(const model::Step& step, const std::vector<Parents>& parents,
                  const std::vector<std::size_t>& causes, std::vector<Newborn>& newborns) {
  std::vector<expand::Origin> origins;
  for (const Parents& tuple : parents)
    origins.push_back(tuple.origin);
  Variables constants = benchmark_variables_;
  add_step_variables(step, constants);
  expand::Expansion expansion =
      expand::expand(run_.benchmark, step, origins, lookup_in(constants), evaluator_);
  note(step, expansion);
  for (expand::Combination& combination : expansion.combinations)
    for (int k = 0; k < step.iterations; ++k) {
      const Parents& tuple = parents[combination.origin];
      Newborn newborn{
          .workpackage = {}, .combination = combination, .cause = causes[combination.origin]};
      newborn.workpackage.step = step.name;
      newborn.workpackage.parents = tuple.ids;
      newborn.workpackage.iteration = base_iteration(tuple.ids) * step.iterations + k;
      newborns.push_back(std::move(newborn));
    }
}

std::vector<Workpackage> Graph::take_in(std::vector<Newborn> newborns) {
  for (std::size_t k = 0; k < newborns.size(); ++k) {
    Workpackage& workpackage = newborns[k].workpackage;
    workpackage.id = static_cast<long long>(all_.size() + k);
    workpackage.directory =
        fmt::format("{}_{}", workspace::padded(workpackage.id), workpackage.step);
  }
  resolve_late(newborns);
  std::vector<Workpackage> made;
  for (Newborn& newborn : newborns) {
    for (expand::Assignment& assignment : newborn.combination.assignments)
      newborn.workpackage.parameters.emplace_back(assignment.definition->name,
                                                  std::move(assignment.value));
    remember_combination(newborn.workpackage);
    made.push_back(newborn.workpackage);
    all_.push_back(std::move(newborn.workpackage));
  }
  return made;
}

void Graph::resolve_late(std::vector<Newborn>& newborns) {
  std::vector<expand::Combination*> combinations;
  std::vector<Variables> variables;
  for (Newborn& newborn : newborns) {
    const auto& assignments = newborn.combination.assignments;
    if (std::none_of(assignments.begin(), assignments.end(), [](const auto& a) { return a.late; }))
      continue;
    for (const expand::Assignment& assignment : assignments)
      if (!assignment.late)
        newborn.workpackage.parameters.emplace_back(assignment.definition->name, assignment.value);
    variables.push_back(variables_of(newborn.workpackage));
    newborn.workpackage.parameters.clear();
    combinations.push_back(&newborn.combination);
  }
  std::vector<evaluate::Lookup> lookups;
  for (const Variables& known : variables)
    lookups.push_back(lookup_in(known));
  expand::resolve_late(combinations, lookups, evaluator_);
}

void Graph::remember_combination(Workpackage& workpackage) {
  workpackage.combination =
      combinations_.emplace(combination_key(workpackage), workpackage.id).first->second;
}

workspace::Parameters Graph::parameters_in_cycle(const Workpackage& workpackage, int) const {
  return workpackage.parameters;
}

Variables Graph::variables_of(const Workpackage& workpackage, int cycle) const {
  Variables variables = benchmark_variables_;
  add_step_variables(*run_.benchmark.step(workpackage.step), variables);
  std::map<long long, std::string> parents;
  for (const long long parent : workpackage.parents)
    parents[parent] = at(parent).step;
  add_workpackage_variables(run_, workpackage, parents, variables);
  add_exports(run_, workpackage, variables);
  variables["jube_wp_cycle"] = std::to_string(cycle);
  return variables;
}

void Graph::note(const model::Step& step, const expand::Expansion& expansion) {
  const std::size_t kept = expansion.combinations.size();
  const auto add = [&](std::size_t dropped, const char* what) {
    if (dropped > 0)
      notices_.push_back(fmt::format("step {}: `{}` dropped {} of {} combinations", step.name, what,
                                     dropped, kept + dropped));
  };
  add(expansion.dropped_by_where, "where");
  add(expansion.dropped_by_active, "active");
  if (expansion.conflicts > 0)
    notices_.push_back(
        fmt::format("step {}: {} parents have no child, because the step defines '{}' differently",
                    step.name, expansion.conflicts, expansion.conflicting_parameter));
}

std::vector<std::string> Graph::take_notices() {
  return std::exchange(notices_, {});
}

}  // namespace bench::engine
