#include <cstddef>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>
#include <bench/run/child_expansion.hpp>
#include <bench/run/ready_queues.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::store {

ChildExpansion::ChildExpansion(const setup::Run& run, workflow::Graph& graph, ReadyQueues& queues)
    : run_(run), graph_(graph), queues_(queues) {}

/// Those that came before an error of the machine are completed first: so ids ascend.
void ChildExpansion::take_released() {
  if (is_refused())
    return;
  if (const auto ids = queues_.take_submitted(graph_.all()); !ids.empty()) {
    made_ahead_.parents = ids;
    to_make_.push_back({.parent_tuples = graph_.parent_tuple_ahead(ids), .ahead = true});
  }
  if (const auto ids = queues_.take_released(graph_.all()); !ids.empty()) {
    made_.parents = ids;
    to_make_.push_back({.parent_tuples = graph_.parent_tuple(ids)});
  }
}

workspace::Events ChildExpansion::make() {
  while (!to_make_.empty())
    make_some();
  workspace::Events events;
  if (!made_ahead_.parents.empty())
    events.emplace_back(std::exchange(made_ahead_, {}));
  if (!made_.parents.empty())
    events.emplace_back(std::exchange(made_, {}));
  return events;
}

/// A combination with an invalid value fails alone. Where the children of parents cannot be
/// expanded at all, one failed child represents them. Halves, so that a few bad ones among many
/// cost little.
void ChildExpansion::make_some() {
  const bool ahead = to_make_.front().ahead;
  std::vector<workflow::Graph::ParentTuple>& parent_tuples = to_make_.front().parent_tuples;
  std::vector<workspace::Workpackage> made;
  try {
    made = graph_.make_children(parent_tuples, expand::Invalid::kept);
  } catch (const Error& error) {
    if (graph_.is_full() || is_fault_of_machine(error, run_.directory.path))
      throw;
    if (parent_tuples.size() > 1) {
      const auto middle =
          parent_tuples.begin() + static_cast<std::ptrdiff_t>(parent_tuples.size() / 2);
      Part second{.parent_tuples = {middle, parent_tuples.end()}, .ahead = ahead};
      parent_tuples.erase(middle, parent_tuples.end());
      to_make_.insert(to_make_.begin() + 1, std::move(second));
      return;
    }
    made = {graph_.make_failed_child(parent_tuples.front(), render(error))};
  }
  auto& children = ahead ? made_ahead_.children : made_.children;
  children.insert(children.end(), made.begin(), made.end());
  to_make_.pop_front();
}

}  // namespace bench::store
