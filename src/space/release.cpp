#include <utility>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/join.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workflow {

using workspace::Workpackage;

bool Graph::has_children_in(const Workpackage& parent, const model::Step& step) const {
  return parent.expanded || (parent.expanded_ahead && chained_.contains(step.name));
}

std::vector<Graph::ParentTuple> Graph::parent_tuple(const std::vector<long long>& released) {
  std::vector<ParentTuple> parent_tuples;
  for (const long long id : released)
    for (const model::Step& step : run_.benchmark.steps)
      if (!chained_.contains(step.name) || !released_ahead_.contains(id))
        release(id, step, parent_tuples);
  return parent_tuples;
}

std::vector<Graph::ParentTuple> Graph::parent_tuple_ahead(const std::vector<long long>& released) {
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

}  // namespace bench::workflow
