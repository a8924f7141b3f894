#include "dependence.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/join.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workflow {

using workspace::Workpackage;

expand::FixedValues Graph::independent_values(const Workpackage& workpackage,
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
  expand::FixedValues kept;
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

std::vector<Workpackage> Graph::make_variant(long long of, const expand::FixedValues& values) {
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

}  // namespace bench::workflow
