#include "graph.hpp"

#include <algorithm>
#include <span>

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::engine {

using workspace::Workpackage;

namespace {

/// Late parameters are given their values for so many workpackages at once: enough for one request
/// to Python, few enough for the variables of all to be in memory.
constexpr std::size_t late_chunk = 1000;

bool depends_on(const model::Step& step, const std::string& parent) {
  return std::ranges::find(step.depend, parent) != step.depend.end();
}

bool has_late(const expand::Combination& combination) {
  return std::ranges::any_of(combination.assignments, &expand::Assignment::late);
}

/// The parameters whose values are known.
workspace::Parameters known_parameters(const expand::Combination& combination) {
  workspace::Parameters parameters;
  parameters.reserve(combination.assignments.size());
  for (const expand::Assignment& assignment : combination.assignments)
    if (!assignment.late)
      parameters.emplace_back(assignment.definition->name, assignment.value);
  return parameters;
}

/// Whether a parameter that keeps its value in a new step begins each cycle with another one.
bool inherits_cycles(const expand::Combination& combination) {
  return std::ranges::any_of(combination.assignments, [](const expand::Assignment& assignment) {
    return assignment.definition->update_mode == model::UpdateMode::cycle;
  });
}

/// `000002_step`.
std::string plain_directory(const Workpackage& workpackage) {
  return fmt::format("{}_{}", workspace::padded(workpackage.id), workpackage.step);
}

}  // namespace

Graph::Graph(const Run& run, std::vector<Workpackage> known, evaluate::Evaluator& evaluator)
    : run_(run),
      evaluator_(evaluator),
      benchmark_variables_(benchmark_variables(run)),
      workpackages_(std::make_unique<Workpackages>()),
      definitions_(std::make_unique<Definitions>(run.benchmark)),
      points_(std::make_unique<Points>(run.benchmark, *definitions_, *workpackages_)) {
  for (const model::Step& step : run.benchmark.steps)
    if (!step.depend.empty())
      joins_.try_emplace(step.name, run.benchmark, step, *definitions_, *points_, *workpackages_);
  workpackages_->reserve(known.size());
  for (Workpackage& workpackage : known) {
    const Workpackage& added = workpackages_->add(std::move(workpackage));
    if (!added.expanded)
      continue;
    for (const model::Step& step : run.benchmark.steps)
      if (depends_on(step, added.step))
        joins_.at(step.name).add_released(added);
  }
}

std::vector<Workpackage> Graph::make_first() {
  Brood brood;
  for (const model::Step& step : run_.benchmark.steps)
    if (step.depend.empty()) {
      const Couple nobody{.step = &step, .parents = {}};
      breed(step, {&nobody, 1}, brood);
    }
  return take_in(std::move(brood));
}

std::vector<Graph::Couple> Graph::couple(const std::vector<long long>& released) {
  std::vector<Couple> couples;
  for (const long long id : released) {
    const Workpackage& parent = at(id);
    for (const model::Step& step : run_.benchmark.steps)
      if (depends_on(step, parent.step))
        for (Parents& parents : joins_.at(step.name).release(parent))
          couples.push_back({&step, std::move(parents)});
  }
  return couples;
}

std::vector<Workpackage> Graph::make_children(std::span<const Couple> couples) {
  Brood brood;
  for (const model::Step& step : run_.benchmark.steps)
    if (!step.depend.empty())
      breed(step, couples, brood);
  std::ranges::stable_sort(brood.newborns, {}, &Newborn::couple);
  return take_in(std::move(brood));
}

std::vector<Workpackage> Graph::make_children_of(const std::vector<long long>& released) {
  return make_children(couple(released));
}

Workpackage Graph::make_failed_child(const Couple& couple, const std::string& reason) {
  Workpackage child;
  child.id = workpackages_->next_id();
  child.step = couple.step->name;
  child.iteration = base_iteration(couple.parents.ids) * couple.step->iterations;
  child.combination = -1;  // until its point is known
  child.parents = couple.parents.ids;
  for (const expand::Assignment& inherited : couple.parents.origin.inherited)
    child.parameters.emplace_back(inherited.definition->name, inherited.value);
  child.directory = plain_directory(child);
  child.state = workspace::State::failed;
  child.reason = reason;
  const Workpackage& added = workpackages_->add(std::move(child));
  points_->settle();
  return added;
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

void Graph::breed(const model::Step& step, std::span<const Couple> couples, Brood& brood) {
  std::vector<std::size_t> own;
  std::vector<expand::Origin> origins;
  for (std::size_t k = 0; k < couples.size(); ++k)
    if (couples[k].step == &step) {
      own.push_back(k);
      origins.push_back(couples[k].parents.origin);
    }
  if (own.empty())
    return;
  Variables constants = benchmark_variables_;
  add_step_variables(step, constants);
  expand::Expansion expansion =
      expand::expand(run_.benchmark, step, origins, lookup_in(constants), evaluator_,
                     {.combinations = max_workpackages(run_)});
  brood.left_out.resize(run_.benchmark.steps.size());
  brood.left_out[static_cast<std::size_t>(&step - run_.benchmark.steps.data())].add(expansion);
  check_limit(step, brood.newborns.size() +
                        expansion.combinations.size() * static_cast<std::size_t>(step.iterations));
  for (expand::Combination& combination : expansion.combinations) {
    const std::size_t couple = own[combination.origin];
    const std::vector<long long>& ids = couples[couple].parents.ids;
    const int base = base_iteration(ids) * step.iterations;
    const auto add = [&](int iteration, expand::Combination one) {
      Newborn& newborn = brood.newborns.emplace_back();
      newborn.combination = std::move(one);
      newborn.couple = couple;
      newborn.workpackage.step = step.name;
      newborn.workpackage.parents = ids;
      newborn.workpackage.iteration = base + iteration;
    };
    for (int k = 0; k + 1 < step.iterations; ++k)
      add(k, combination);
    add(step.iterations - 1, std::move(combination));
  }
}

/// @param coming workpackages that are about to be made beside those that exist
void Graph::check_limit(const model::Step& step, std::size_t coming) {
  const std::size_t limit = max_workpackages(run_);
  full_ = all().size() + coming > limit;
  if (full_)
    throw Error(
        fmt::format("with step '{}' the run has more than {} workpackages", step.name, limit),
        "split the sweep, or raise the limit with --max-workpackages", step.place);
}

std::vector<Workpackage> Graph::take_in(Brood brood) {
  std::vector<Newborn>& newborns = brood.newborns;
  const long long first = workpackages_->next_id();
  for (std::size_t k = 0; k < newborns.size(); ++k) {
    Workpackage& workpackage = newborns[k].workpackage;
    workpackage.id = first + static_cast<long long>(k);
    workpackage.combination = -1;  // until its point is known
  }
  for (std::size_t begin = 0; begin < newborns.size(); begin += late_chunk)
    resolve_late(std::span(newborns).subspan(begin, std::min(late_chunk, newborns.size() - begin)));
  for (Newborn& newborn : newborns)
    give_directory(newborn.workpackage, true);
  // From here on nothing fails.
  left_out_.resize(run_.benchmark.steps.size());
  for (std::size_t k = 0; k < brood.left_out.size(); ++k)
    left_out_[k].add(brood.left_out[k]);
  for (Newborn& newborn : newborns) {
    workpackages_->add(std::move(newborn.workpackage));
    newborn.combination.assignments = {};
  }
  points_->settle();
  return {all().end() - static_cast<std::ptrdiff_t>(newborns.size()), all().end()};
}

/// Gives workpackages their directories as far as they can be known, and all their parameters.
void Graph::resolve_late(std::span<Newborn> newborns) {
  std::vector<expand::Combination*> combinations;
  std::vector<Variables> variables;
  for (Newborn& newborn : newborns) {
    newborn.workpackage.parameters = known_parameters(newborn.combination);
    give_directory(newborn.workpackage, false);
    if (!has_late(newborn.combination))
      continue;
    variables.push_back(variables_of(newborn.workpackage));
    combinations.push_back(&newborn.combination);
  }
  std::vector<evaluate::Lookup> lookups;
  for (const Variables& known : variables)
    lookups.push_back(lookup_in(known));
  expand::resolve_late(combinations, lookups, evaluator_);
  for (Newborn& newborn : newborns) {
    if (newborn.workpackage.parameters.size() < newborn.combination.assignments.size())
      newborn.workpackage.parameters = known_parameters(newborn.combination);
    if (!newborn.workpackage.parents.empty() && inherits_cycles(newborn.combination))
      renew_inherited(newborn);
  }
}

/// A parameter of each cycle keeps its value in a new step only until the first one begins.
void Graph::renew_inherited(Newborn& newborn) const {
  const Variables variables = variables_of(newborn.workpackage);
  expand::renew(newborn.combination, lookup_in(variables), lookup_in(variables), evaluator_);
  newborn.workpackage.parameters = known_parameters(newborn.combination);
}

/// `000002_step_suffix`.
/// @param complete the workpackage has all its parameters: a suffix must be known now
void Graph::give_directory(Workpackage& workpackage, bool complete) const {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  const std::string plain = plain_directory(workpackage);
  if (workpackage.directory.empty())
    workpackage.directory = plain;
  if (step.suffix.empty() || workpackage.directory != plain)
    return;
  const Variables variables = variables_of(workpackage);
  const std::string suffix =
      evaluate::substitute(step.suffix, lookup_in(variables, workpackage.parameters));
  if (suffix.find('$') == std::string::npos && suffix.find('/') == std::string::npos) {
    if (!suffix.empty())
      workpackage.directory = plain + "_" + suffix;
  } else if (complete) {
    throw Error(
        fmt::format("the suffix of step '{}' is no part of a file name: '{}'", step.name, suffix),
        "it may hold parameters of the step, and no slash", step.place);
  }
}

Variables Graph::variables_of(const Workpackage& workpackage, int cycle) const {
  Variables variables = benchmark_variables_;
  add_step_variables(*run_.benchmark.step(workpackage.step), variables);
  std::map<long long, std::string> parents;
  for (const long long parent : workpackage.parents)
    parents[parent] = at(parent).step;
  add_exports(run_, workpackage, variables);
  add_workpackage_variables(run_, workpackage, parents, variables, cycle);
  return variables;
}

Variables Graph::shared_variables_of(const Workpackage& workpackage) const {
  Variables variables = benchmark_variables_;
  add_step_variables(*run_.benchmark.step(workpackage.step), variables);
  return variables;
}

expand::Combination Graph::combination_of(const Workpackage& workpackage) const {
  expand::Combination combination;
  for (const auto& [name, value] : workpackage.parameters)
    if (const auto* definition = definitions_->of(workpackage, name))
      combination.assignments.push_back({definition, value});
  return combination;
}

workspace::Parameters Graph::parameters_in_cycle(const Workpackage& workpackage, int cycle) const {
  expand::Combination combination = combination_of(workpackage);
  if (!expand::changes_in_cycles(combination))
    return workpackage.parameters;
  const Variables first = variables_of(workpackage);
  const Variables now = variables_of(workpackage, cycle);
  expand::renew(combination, lookup_in(first), lookup_in(now), evaluator_);
  return known_parameters(combination);
}

void Graph::LeftOut::add(const expand::Expansion& expansion) {
  add(LeftOut{.kept = expansion.combinations.size(),
              .by_where = expansion.dropped_by_where,
              .by_active = expansion.dropped_by_active,
              .conflicts = expansion.conflicts,
              .conflicting_parameter = expansion.conflicting_parameter});
}

void Graph::LeftOut::add(const LeftOut& other) {
  kept += other.kept;
  by_where += other.by_where;
  by_active += other.by_active;
  conflicts += other.conflicts;
  if (conflicting_parameter.empty())
    conflicting_parameter = other.conflicting_parameter;
}

std::vector<std::string> Graph::take_notices() {
  std::vector<std::string> notices;
  for (std::size_t k = 0; k < left_out_.size(); ++k) {
    const LeftOut& sum = left_out_[k];
    const std::string& step = run_.benchmark.steps[k].name;
    const auto dropped = [&](std::size_t count, const char* by, std::size_t of) {
      if (count > 0)
        notices.push_back(
            fmt::format("step {}: `{}` dropped {} of {} combinations", step, by, count, of));
    };
    dropped(sum.by_where, "where", sum.kept + sum.by_active + sum.by_where);
    dropped(sum.by_active, "active", sum.kept + sum.by_active);
    if (sum.conflicts > 0)
      notices.push_back(fmt::format(
          "step {}: {} {} no child, because the step defines '{}' differently", step, sum.conflicts,
          sum.conflicts == 1 ? "parent has" : "parents have", sum.conflicting_parameter));
  }
  left_out_.clear();
  for (auto& [step, join] : joins_)
    for (std::string& conflict : join.take_conflicts())
      notices.push_back(std::move(conflict));
  return notices;
}

}  // namespace bench::engine
