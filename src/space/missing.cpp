#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/join.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

using workspace::Workpackage;

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

/// What tells the point of a workpackage from those of the others.
std::string identity(const std::vector<long long>& parents, const Values& values) {
  std::string text;
  for (const long long parent : parents)
    text += fmt::format("\x1d{}", parent);
  for (const auto& [name, value] : values)
    text.append("\x1f").append(name).append("\x1e").append(value);
  return text;
}

/// What tells one iteration of a point from the others: `active` may have dropped any of them.
std::string identity(const Workpackage& workpackage, const Values& values) {
  return fmt::format("{}{}", workpackage.iteration, identity(workpackage.parents, values));
}

/// The workpackages of a run, for those who ask whether one exists. Each is found once.
class KnownWorkpackages {
 public:
  explicit KnownWorkpackages(const std::vector<Workpackage>& all) {
    for (const Workpackage& workpackage : all)
      if (!workpackage.was_never_made())
        by_step_[workpackage.step].push_back(&workpackage);
  }

  /// Whether there is one with the step, parents and iteration of `like`, and these values.
  /// @param values without those that name the workpackage, ascending
  bool take(const Workpackage& like, const Values& values) {
    std::string names;
    for (const auto& [name, value] : values)
      names += name + "\x1f";
    const auto [index, is_new] = indexes_.try_emplace({like.step, names});
    if (is_new)
      for (const Workpackage* known : by_step_[like.step])
        ++index->second[identity(*known, values_of(*known, values))];
    const auto found = index->second.find(identity(like, values));
    return found != index->second.end() && found->second-- > 0;
  }

 private:
  using Index = std::unordered_map<std::string, int>;

  /// The values that the workpackage has for the same names.
  static Values values_of(const Workpackage& workpackage, const Values& like) {
    const std::map<std::string, std::string> all(workpackage.parameters.begin(),
                                                 workpackage.parameters.end());
    Values values;
    for (const auto& [name, value] : like)
      if (const auto found = all.find(name); found != all.end())
        values.push_back(*found);
    return values;
  }

  std::map<std::string, std::vector<const Workpackage*>> by_step_;
  std::map<std::pair<std::string, std::string>, Index> indexes_;  ///< By step and names.
};

/// Those of values whose names are in `scripts`, or are not.
Values part_of(const Values& values, const std::set<std::string>& scripts, bool is_in) {
  Values part;
  std::ranges::copy_if(values, std::back_inserter(part),
                       [&](const auto& value) { return scripts.contains(value.first) == is_in; });
  return part;
}

/// What scripts have given to workpackages that are equal otherwise.
class ScriptValues {
 public:
  explicit ScriptValues(const std::set<std::string>& scripts) : scripts_(scripts) {}

  void add(const std::string& step, const std::vector<long long>& parents, const Values& values) {
    by_point_[{step, identity(parents, part_of(values, scripts_, false))}].insert(
        part_of(values, scripts_, true));
  }

  /// Null unless they are the same for all workpackages of this point.
  const Values* only(const std::string& step, const std::vector<long long>& parents,
                     const Values& values) const {
    const auto found = by_point_.find({step, identity(parents, part_of(values, scripts_, false))});
    return found != by_point_.end() && found->second.size() == 1 ? &*found->second.begin()
                                                                 : nullptr;
  }

 private:
  const std::set<std::string>& scripts_;
  std::map<std::pair<std::string, std::string>, std::set<Values>> by_point_;
};

/// Both, ascending.
Values with(Values some, const Values& others) {
  some.insert(some.end(), others.begin(), others.end());
  std::ranges::sort(some);
  return some;
}

/// The values of a workpackage that have these names, ascending.
Values values_named(const Workpackage& workpackage, const std::set<std::string>& names) {
  Values values;
  for (const auto& value : workpackage.parameters)
    if (names.contains(value.first))
      values.push_back(value);
  std::ranges::sort(values);
  return values;
}

/// A search has made it, or a repetition: the benchmark does not have it at first.
bool was_added(const model::Step& step, const Workpackage& workpackage) {
  if (workpackage.iteration % step.most_iterations() >= step.iterations)
    return true;
  if (!step.search)
    return false;
  const std::string* value = workspace::value_of(workpackage.parameters, step.search->parameter);
  return value && *value != std::to_string(step.search->from);
}

Values early_values(const Combination& combination) {
  Values values;
  for (const Assignment& assignment : combination.assignments)
    if (!assignment.late)
      values.emplace_back(assignment.definition->name, assignment.value);
  std::ranges::sort(values);
  return values;
}

}  // namespace

/// All parents that go together and have had their children, found again in the order of ids.
std::vector<Graph::ParentTuple> Graph::tuples_of_expanded() {
  std::map<std::string, Join> joins;
  for (const model::Step& step : run_.benchmark.steps)
    if (!step.depend.empty())
      joins.try_emplace(step.name, run_.benchmark, step, *definitions_, *points_, *workpackages_);
  std::set<std::pair<std::string, std::vector<long long>>> without_children;
  for (const Workpackage& workpackage : all())
    if (workpackage.was_never_made())
      without_children.emplace(workpackage.step, workpackage.parents);
  for (const Workpackage& workpackage : all())
    if (!workpackage.was_never_made())
      without_children.erase({workpackage.step, workpackage.parents});
  std::vector<ParentTuple> tuples;
  for (const Workpackage& parent : all())
    for (const model::Step& step : run_.benchmark.steps)
      if (has_children_in(parent, step) && step.depends_on(parent.step))
        for (Parents& parents : joins.at(step.name).release(parent))
          if (!without_children.contains({step.name, parents.ids}))
            tuples.push_back({&step, std::move(parents)});
  return tuples;
}

/// Returns how many were dropped.
/// @param kept gains the names of `scripts` whose value is another one than that of the dropped
std::size_t Graph::drop_known(ExpansionBatch& batch, const std::set<std::string>& scripts,
                              std::set<std::string>& kept) const {
  KnownWorkpackages known(all());
  const auto is_known = [&](const Candidate& candidate) {
    return known.take(candidate.workpackage, early_values(candidate.combination));
  };
  if (scripts.empty())
    return std::erase_if(batch.candidates, is_known);
  ScriptValues now(scripts);
  for (const Candidate& one : batch.candidates)
    now.add(one.workpackage.step, one.workpackage.parents, early_values(one.combination));
  const std::size_t dropped = std::erase_if(batch.candidates, is_known);
  std::map<std::string, std::set<std::string>> names;  // of the values that make a workpackage
  for (const Candidate& one : batch.candidates)
    for (const auto& [name, value] : early_values(one.combination))
      names[one.workpackage.step].insert(name);
  ScriptValues before(scripts);
  for (const Workpackage& one : all())
    if (!one.was_never_made() && names.contains(one.step))
      before.add(one.step, one.parents, values_named(one, names.at(one.step)));
  return dropped + std::erase_if(batch.candidates, [&](const Candidate& candidate) {
           const Workpackage& one = candidate.workpackage;
           const Values values = early_values(candidate.combination);
           const Values* then = before.only(one.step, one.parents, values);
           const Values* today = now.only(one.step, one.parents, values);
           if (!then || !today || !known.take(one, with(*then, part_of(values, scripts, false))))
             return false;
           for (const auto& value : *today)
             if (std::ranges::find(*then, value) == then->end())
               kept.insert(value.first);
           return true;
         });
}

Graph::Missing Graph::make_missing(const model::Benchmark& before) {
  ExpansionBatch batch{.has_known = true};
  for (const model::Step& step : run_.benchmark.steps)
    if (step.depend.empty()) {
      const ParentTuple nobody{.step = &step, .parents = {}};
      expand_step(step, {&nobody, 1}, batch);
    }
  const auto of_first_steps = static_cast<std::ptrdiff_t>(batch.candidates.size());
  const std::vector<ParentTuple> tuples = tuples_of_expanded();
  batch.invalid = Invalid::kept;
  for (const model::Step& step : run_.benchmark.steps)
    if (!step.depend.empty())
      expand_step(step, tuples, batch);
  // A failed workpackage has represented each of them since their siblings came into being.
  std::erase_if(batch.candidates, [](const Candidate& one) { return one.combination.invalid; });
  std::stable_sort(
      batch.candidates.begin() + of_first_steps, batch.candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.parent_tuple < b.parent_tuple; });
  Missing missing;
  const auto made_before = std::ranges::count_if(all(), [&](const Workpackage& one) {
    return !one.was_never_made() && !was_added(*run_.benchmark.step(one.step), one);
  });
  missing.obsolete = static_cast<std::size_t>(made_before) -
                     drop_known(batch, unchanged_scripts(before, run_.benchmark), missing.kept);
  if (!batch.candidates.empty())
    check_limit(*run_.benchmark.step(batch.candidates.back().workpackage.step),
                batch.candidates.size());
  missing.made = take_in(std::move(batch));
  return missing;
}

}  // namespace bench::space
