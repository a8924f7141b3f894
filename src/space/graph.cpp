#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/expand.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/join.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/point_index.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

using evaluate::Mode;

/// What `to_valid_utf8` puts in the place of a byte that is not UTF-8.
constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_computed(const model::Parameter& parameter) {
  return parameter.mode != Mode::text || parameter.text.find('$') != std::string::npos;
}

/// Whether its value comes from outside of the input, which is UTF-8.
bool is_read(const model::Parameter& parameter) {
  return parameter.mode != Mode::text && parameter.mode != Mode::tag;
}

/// Only these make a fraction, and most values have none of them.
bool may_have_fraction(const Assignment& assignment) {
  return assignment.definition->type == ValueType::integer && is_computed(*assignment.definition) &&
         assignment.value.find_first_of(".eE") != std::string::npos;
}

}  // namespace

void ComputedValues::check(const Combination& combination, const IsInherited& is_inherited) {
  for (const Assignment& assignment : combination.assignments) {
    if (assignment.late)
      continue;
    const model::Parameter& parameter = *assignment.definition;
    if (may_have_fraction(assignment)) {
      if (const auto integer = read_integer(assignment.value); integer && !integer->is_whole)
        warn(assignment, is_inherited,
             fmt::format("parameter '{}' has type int and its value is '{}'", parameter.name,
                         strip(assignment.value)),
             fmt::format("tables show {}; use type float", integer->digits));
    } else if (is_read(parameter) && assignment.value.find(replacement) != std::string::npos) {
      warn(assignment, is_inherited,
           fmt::format("the value of parameter '{}' has bytes that are not UTF-8, which bench "
                       "cannot keep: it is '{}'",
                       parameter.name, one_line(strip(assignment.value))),
           "make it UTF-8, as with `| iconv -f latin1 -t utf-8` for Latin-1");
    }
  }
}

void ComputedValues::warn(const Assignment& assignment, const IsInherited& is_inherited,
                          std::string message, std::string hint) {
  if (!is_inherited(assignment) && told_.insert(assignment.definition).second)
    warnings_.push_back(
        {Id::surprising_value, std::move(message), std::move(hint), assignment.definition->place});
}

void LeftOut::add(const Expansion& expansion) {
  add(LeftOut{.kept = expansion.combinations.size(),
              .by_where = expansion.dropped_by_where,
              .by_active = expansion.dropped_by_active,
              .conflicts = expansion.conflicts,
              .conflicting_parameter = expansion.conflicting_parameter});
}

void LeftOut::add(const LeftOut& other) {
  kept += other.kept;
  by_where += other.by_where;
  by_active += other.by_active;
  decided += other.decided;
  decided_against += other.decided_against;
  conflicts += other.conflicts;
  if (conflicting_parameter.empty())
    conflicting_parameter = other.conflicting_parameter;
}

std::vector<std::string> LeftOut::notices(const std::string& step) const {
  std::vector<std::string> notices;
  const auto dropped = [&](std::size_t count, const char* by, std::size_t of, const char* what) {
    if (count > 0)
      notices.push_back(fmt::format("step {}: `{}` dropped {}{} {}", step, by,
                                    count == of ? "all " : fmt::format("{} of ", count), of, what));
  };
  dropped(by_where, "where", kept + by_active + by_where, "combinations");
  dropped(by_active, "active", kept + by_active, "combinations");
  dropped(decided_against, "active", decided, "workpackages");
  if (conflicts > 0)
    notices.push_back(fmt::format(
        "step {}: {} {} no child, because the step defines '{}' differently", step, conflicts,
        conflicts == 1 ? "parent has" : "parents have", conflicting_parameter));
  return notices;
}

using workspace::Workpackage;

namespace {

/// Late parameters are given their values for this many workpackages at once: enough for one
/// request to Python, few enough for the variables of all to be in memory.
constexpr std::size_t late_chunk = 1000;

bool has_late(const Combination& combination) {
  return std::ranges::any_of(combination.assignments, &Assignment::late);
}

/// The parameters whose values are known.
workspace::Parameters known_parameters(const Combination& combination) {
  workspace::Parameters parameters;
  parameters.reserve(combination.assignments.size());
  for (const Assignment& assignment : combination.assignments)
    if (!assignment.late)
      parameters.emplace_back(assignment.definition->name, assignment.value);
  return parameters;
}

/// Whether a parameter that keeps its value in a new step begins each cycle with another one.
bool inherits_cycles(const Combination& combination) {
  return std::ranges::any_of(combination.assignments, [](const Assignment& assignment) {
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
      points_(std::make_unique<PointIndex>(run.benchmark, *definitions_, *workpackages_)),
      chained_(chained_steps(run)) {
  for (const model::Step& step : run.benchmark.steps)
    if (!step.depend.empty())
      joins_.try_emplace(step.name, run.benchmark, step, *definitions_, *points_, *workpackages_);
  workpackages_->reserve(known.size());
  for (Workpackage& workpackage : known) {
    const Workpackage& added = workpackages_->add(std::move(workpackage));
    if (added.expanded_ahead)
      released_ahead_.insert(added.id);
    if (!added.expanded && !added.expanded_ahead)
      continue;
    for (const model::Step& step : run.benchmark.steps)
      if (step.depends_on(added.step) && has_children_in(added, step))
        joins_.at(step.name).add_released(added);
  }
}

std::vector<Workpackage> Graph::make_first() {
  ExpansionBatch batch;
  for (const model::Step& step : run_.benchmark.steps)
    if (step.depend.empty()) {
      const ParentTuple nobody{.step = &step, .parents = {}};
      expand_step(step, {&nobody, 1}, batch);
    }
  if (batch.candidates.empty())
    refuse_empty(batch);
  return take_in(std::move(batch));
}

/// A run of nothing is not what anybody wrote a `where` for.
void Graph::refuse_empty(const ExpansionBatch& batch) const {
  for (std::size_t k = 0; k < batch.left_out.size(); ++k)
    if (batch.left_out[k].by_where > 0 && batch.left_out[k].kept == 0)
      throw Error(Id::nothing_to_run,
                  fmt::format("`where` of step '{}' drops all {} combinations, so that there is "
                              "nothing to run",
                              run_.benchmark.steps[k].name, batch.left_out[k].by_where),
                  fmt::format("where: {}", run_.benchmark.steps[k].where),
                  run_.benchmark.steps[k].place);
}

std::vector<Workpackage> Graph::make_children(std::span<const ParentTuple> parent_tuples,
                                              Invalid invalid) {
  ExpansionBatch batch{.invalid = invalid};
  for (const model::Step& step : run_.benchmark.steps)
    if (!step.depend.empty())
      expand_step(step, parent_tuples, batch);
  std::ranges::stable_sort(batch.candidates, {}, &Candidate::parent_tuple);
  return take_in(std::move(batch));
}

Workpackage Graph::make_failed_child(const ParentTuple& parent_tuple, const std::string& reason) {
  Workpackage child;
  child.id = workpackages_->next_id();
  child.step = parent_tuple.step->name;
  child.iteration = base_iteration(parent_tuple.parents.ids) * parent_tuple.step->most_iterations();
  child.combination = -1;  // until its point is known
  child.parents = parent_tuple.parents.ids;
  for (const Assignment& inherited : parent_tuple.parents.origin.inherited)
    child.parameters.emplace_back(inherited.definition->name, inherited.value);
  child.directory = plain_directory(child);
  child.state = workspace::State::failed;
  child.reason = reason;
  const Workpackage& added = workpackages_->add(std::move(child));
  points_->settle();
  return added;
}

/// The parents' iterations as one mixed-radix number, so that iterations of one point stay apart.
/// As in JUBE they may be equal where two parents have inherited theirs: their own steps have one.
int Graph::base_iteration(const std::vector<long long>& parents) const {
  std::vector<const Workpackage*> sorted;
  for (const long long id : parents)
    sorted.push_back(&at(id));
  const auto radix = [&](const Workpackage* workpackage) {
    return run_.benchmark.step(workpackage->step)->most_iterations();
  };
  std::sort(sorted.begin(), sorted.end(), [&](const Workpackage* a, const Workpackage* b) {
    return std::pair(radix(a), a->step) < std::pair(radix(b), b->step);
  });
  int base = 0;
  for (const Workpackage* parent : sorted)
    base = base * radix(parent) + parent->iteration;
  return base;
}

void Graph::expand_step(const model::Step& step, std::span<const ParentTuple> parent_tuples,
                        ExpansionBatch& batch, const Growth& growth) {
  std::vector<std::size_t> own;
  std::vector<Origin> origins;
  for (std::size_t k = 0; k < parent_tuples.size(); ++k)
    if (parent_tuples[k].step == &step) {
      own.push_back(k);
      origins.push_back(parent_tuples[k].parents.origin);
    }
  if (own.empty())
    return;
  Variables constants = benchmark_variables_;
  add_step_variables(step, constants);
  FixedValues fixed = growth.fixed;
  if (step.search)
    fixed.try_emplace(step.search->parameter, std::to_string(step.search->from));
  Expansion expansion = expand(run_.benchmark, step, origins, lookup_in(constants), evaluator_,
                               {.combinations = max_workpackages(run_)}, fixed, batch.invalid);
  batch.left_out.resize(run_.benchmark.steps.size());
  batch.left_out[run_.benchmark.index_of(step.name)].add(expansion);
  const int end = growth.end.value_or(step.iterations);
  if (!batch.has_known)
    check_limit(step, batch.candidates.size() + expansion.combinations.size() *
                                                    static_cast<std::size_t>(end - growth.begin));
  for (Combination& combination : expansion.combinations) {
    const std::size_t parent_tuple = own[combination.origin];
    const std::vector<long long>& ids = parent_tuples[parent_tuple].parents.ids;
    const int base = base_iteration(ids) * step.most_iterations();
    --batch.combination;
    const auto add = [&](int iteration, Combination one) {
      Candidate& candidate = batch.candidates.emplace_back();
      candidate.combination = std::move(one);
      candidate.parent_tuple = parent_tuple;
      candidate.workpackage.step = step.name;
      candidate.workpackage.parents = ids;
      candidate.workpackage.iteration = base + iteration;
      candidate.workpackage.combination = batch.combination;  // until its point is known
    };
    for (int k = growth.begin; k + 1 < end; ++k)
      add(k, combination);
    add(end - 1, std::move(combination));
  }
}

/// @param coming workpackages that are about to be made beside those that exist
void Graph::check_limit(const model::Step& step, std::size_t coming) {
  const std::size_t limit = max_workpackages(run_);
  full_ = all().size() + coming > limit;
  if (full_)
    throw Error(
        Id::too_large,
        fmt::format("with step '{}' the run has more than {} workpackages", step.name, limit),
        "split the sweep, or raise the limit with --max-workpackages", step.place);
}

std::vector<Workpackage> Graph::take_in(ExpansionBatch batch) {
  std::vector<Candidate>& candidates = batch.candidates;
  complete(batch);
  for (Candidate& candidate : candidates) {
    if (candidate.combination.invalid) {
      candidate.workpackage.state = workspace::State::failed;
      candidate.workpackage.reason = render(*candidate.combination.invalid);
      continue;
    }
    give_directory(candidate.workpackage, true);
    require_work_directory(candidate.workpackage);
  }
  // From here on nothing fails.
  left_out_.resize(run_.benchmark.steps.size());
  for (std::size_t k = 0; k < batch.left_out.size(); ++k)
    left_out_[k].add(batch.left_out[k]);
  for (Candidate& candidate : candidates) {
    const Workpackage& added = workpackages_->add(std::move(candidate.workpackage));
    if (!candidate.combination.invalid)
      computed_values_.check(candidate.combination, [&](const Assignment& assignment) {
        return std::ranges::any_of(added.parents, [&](long long parent) {
          return std::ranges::count(at(parent).parameters,
                                    std::pair(assignment.definition->name, assignment.value)) > 0;
        });
      });
    candidate.combination.assignments = {};
  }
  points_->settle();
  return {all().end() - static_cast<std::ptrdiff_t>(candidates.size()), all().end()};
}

/// Gives the candidates their ids and all their parameters. Those for which `active` turns out to
/// be false then go, and the next one gets their id: so they come one by one.
void Graph::complete(ExpansionBatch& batch) {
  std::vector<Candidate>& candidates = batch.candidates;
  const auto active_is_late = [](const Candidate& one) { return one.combination.active_is_late; };
  std::size_t kept = 0;
  for (std::size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
    const std::size_t most = active_is_late(candidates[begin]) ? 1 : late_chunk;
    for (end = begin; end < candidates.size() && end < begin + most &&
                      (end == begin || !active_is_late(candidates[end]));)
      ++end;
    const auto chunk = std::span(candidates).subspan(begin, end - begin);
    for (std::size_t k = 0; k < chunk.size(); ++k)
      chunk[k].workpackage.id = workpackages_->next_id() + static_cast<long long>(kept + k);
    resolve_late(chunk, batch.invalid);
    if (most == 1) {
      LeftOut& left_out = batch.left_out[run_.benchmark.index_of(chunk.front().workpackage.step)];
      ++left_out.decided;
      if (!chunk.front().combination.invalid && !is_active(chunk.front().workpackage)) {
        ++left_out.decided_against;
        continue;
      }
    }
    for (Candidate& candidate : chunk) {
      if (&candidates[kept] != &candidate)
        candidates[kept] = std::move(candidate);
      ++kept;
    }
  }
  candidates.resize(kept);
}

bool Graph::is_active(const Workpackage& workpackage) const {
  const Variables variables = variables_of(workpackage);
  return space::is_active(*run_.benchmark.step(workpackage.step),
                          lookup_in(variables, workpackage.parameters), evaluator_);
}

/// Gives workpackages their directories as far as they can be known, and all their parameters.
void Graph::resolve_late(std::span<Candidate> candidates, Invalid invalid) {
  std::vector<Combination*> combinations;
  std::vector<Variables> variables;
  for (Candidate& candidate : candidates) {
    candidate.workpackage.parameters = known_parameters(candidate.combination);
    give_directory(candidate.workpackage, false);
    if (candidate.combination.invalid || !has_late(candidate.combination))
      continue;
    variables.push_back(variables_of(candidate.workpackage));
    combinations.push_back(&candidate.combination);
  }
  std::vector<evaluate::Lookup> lookups;
  for (const Variables& known : variables)
    lookups.push_back(lookup_in(known));
  space::resolve_late(combinations, lookups, evaluator_, invalid);
  for (Candidate& candidate : candidates) {
    if (candidate.workpackage.parameters.size() < candidate.combination.assignments.size())
      candidate.workpackage.parameters = known_parameters(candidate.combination);
    if (!candidate.combination.invalid && !candidate.workpackage.parents.empty() &&
        inherits_cycles(candidate.combination))
      renew_inherited(candidate);
  }
}

/// A parameter of each cycle keeps its value in a new step only until the first one begins.
void Graph::renew_inherited(Candidate& candidate) const {
  const Variables variables = variables_of(candidate.workpackage);
  renew(candidate.combination, lookup_in(variables), lookup_in(variables), evaluator_);
  candidate.workpackage.parameters = known_parameters(candidate.combination);
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
  const std::string suffix = expand_user_and_environment(
      evaluate::substitute(step.suffix, lookup_in(variables, workpackage.parameters)));
  if (suffix.find('$') == std::string::npos && suffix.find('/') == std::string::npos) {
    if (!suffix.empty())
      workpackage.directory = plain + "_" + suffix;
  } else if (complete) {
    throw Error(Id::invalid_value,
                fmt::format("the suffix of step '{}' cannot be part of a file name: '{}'",
                            step.name, suffix),
                "it may hold parameters of the step, and no slash", step.place);
  }
}

/// A name that stays unknown would become that of a directory.
void Graph::require_work_directory(const Workpackage& workpackage) const {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  if (step.work_dir.empty())
    return;
  const Variables variables = variables_of(workpackage);
  const std::string path =
      work_directory(run_, workpackage, lookup_in(variables, workpackage.parameters)).string();
  if (const auto unknown = evaluate::names_in(path); !unknown.empty())
    throw Error(Id::unknown_name,
                fmt::format("work_dir of step '{}': nothing is called '{}': {}", step.name,
                            unknown.front(), step.work_dir),
                fmt::format("set the environment variable {}, or define a parameter of that name",
                            unknown.front()),
                step.place);
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

Combination Graph::combination_of(const Workpackage& workpackage) const {
  Combination combination;
  for (const auto& [name, value] : workpackage.parameters)
    if (const auto* definition = definitions_->of(workpackage, name))
      combination.assignments.push_back({definition, value});
  return combination;
}

workspace::Parameters Graph::parameters_in_cycle(const Workpackage& workpackage, int cycle) const {
  Combination combination = combination_of(workpackage);
  if (!changes_in_cycles(combination))
    return workpackage.parameters;
  const Variables first = variables_of(workpackage);
  const Variables now = variables_of(workpackage, cycle);
  renew(combination, lookup_in(first), lookup_in(now), evaluator_);
  return known_parameters(combination);
}

std::vector<std::string> Graph::take_notices() {
  std::vector<std::string> notices;
  for (std::size_t k = 0; k < left_out_.size(); ++k)
    std::ranges::move(left_out_[k].notices(run_.benchmark.steps[k].name),
                      std::back_inserter(notices));
  left_out_.clear();
  for (auto& [step, join] : joins_)
    std::ranges::move(join.take_conflicts(), std::back_inserter(notices));
  return notices;
}

bool Graph::has_children_in(const Workpackage& parent, const model::Step& step) const {
  return parent.expanded || (parent.expanded_ahead && chained_.contains(step.name));
}

std::vector<Graph::ParentTuple> Graph::parent_tuples_of(const std::vector<long long>& released) {
  std::vector<ParentTuple> parent_tuples;
  for (const long long id : released)
    for (const model::Step& step : run_.benchmark.steps)
      if (!chained_.contains(step.name) || !released_ahead_.contains(id))
        release(id, step, parent_tuples);
  return parent_tuples;
}

std::vector<Graph::ParentTuple> Graph::parent_tuples_ahead_of(
    const std::vector<long long>& released) {
  std::vector<ParentTuple> parent_tuples;
  for (const long long id : released)
    if (released_ahead_.insert(id).second)
      for (const model::Step& step : run_.benchmark.steps)
        if (chained_.contains(step.name))
          release(id, step, parent_tuples);
  return parent_tuples;
}

void Graph::release(long long id, const model::Step& step, std::vector<ParentTuple>& tuples) {
  const Workpackage& parent = at(id);
  if (step.depends_on(parent.step))
    for (Parents& parents : joins_.at(step.name).release(parent))
      tuples.push_back({&step, std::move(parents)});
}

FixedValues Graph::independent_values(const Workpackage& workpackage,
                                      std::set<std::string> names) const {
  const auto changes = [&](const std::string& name) {
    return name.starts_with("jube_wp_") || names.contains(name);
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [name, value] : workpackage.parameters)
      if (const auto* definition = definitions_->of(workpackage, name);
          definition && std::ranges::any_of(names_behind(*definition), changes))
        grows = names.insert(name).second || grows;
  }
  FixedValues kept;
  for (const auto& [name, value] : workpackage.parameters)
    if (!names.contains(name))
      kept.emplace(name, value);
  return kept;
}

Graph::ParentTuple Graph::tuple_of(const Workpackage& workpackage) const {
  const model::Step& step = *run_.benchmark.step(workpackage.step);
  return {.step = &step,
          .parents = step.depend.empty() ? Parents{}
                                         : joins_.at(step.name).parents_of(workpackage.parents)};
}

std::vector<Workpackage> Graph::make_variant(long long of, const FixedValues& values) {
  const ParentTuple tuple = tuple_of(at(of));
  std::set<std::string> names;
  std::vector<std::string> texts;
  for (const auto& [name, value] : values) {
    names.insert(name);
    texts.push_back(fmt::format("{}={}", name, value));
  }
  Growth growth{.fixed = independent_values(at(of), names)};
  for (const auto& [name, value] : values)
    growth.fixed[name] = value;
  ExpansionBatch batch;
  expand_step(*tuple.step, {&tuple, 1}, batch, growth);
  const auto combinations = -batch.combination;
  if (combinations > 1)
    throw Error(Id::invalid_value,
                fmt::format("step '{}' has {} combinations with {}, and needs one",
                            tuple.step->name, combinations, join(texts, " ")),
                fmt::format("no template may depend on '{}'",
                            join(std::vector<std::string>(names.begin(), names.end()), "', '")),
                tuple.step->place);
  return take_in(std::move(batch));
}

std::vector<Workpackage> Graph::make_iterations(long long of, int begin, int end) {
  const Workpackage& like = at(of);
  const ParentTuple tuple = tuple_of(like);
  ExpansionBatch batch;
  // What a script has given stays, even if it would give something else now.
  expand_step(*tuple.step, {&tuple, 1}, batch,
              {.fixed = independent_values(like, {}), .begin = begin, .end = end});
  for (Candidate& candidate : batch.candidates)
    candidate.workpackage.combination = like.combination;
  return take_in(std::move(batch));
}

}  // namespace bench::space
