#include "child_expansion.hpp"

#include <utility>

#include <bench/base/outage.hpp>

namespace bench::scheduler {

ChildExpansion::ChildExpansion(const setup::Run& run, workflow::Graph& graph, Queue& queue,
                               Ledger& ledger)
    : run_(run), graph_(graph), queue_(queue), ledger_(ledger) {}

void ChildExpansion::take_released() {
  const std::vector<long long> released = queue_.take_released(graph_);
  if (released.empty())
    return;
  released_.insert(released_.end(), released.begin(), released.end());
  coming_.push_back(graph_.parent_tuple(released));
}

void ChildExpansion::make() {
  while (!coming_.empty())
    make_some();
  // Together, so that the workspace never has some children of a parent and not the others.
  ledger_.mark_expanded(std::exchange(released_, {}));
  ledger_.take_in(std::exchange(made_, {}));
}

/// One failed child stands for those that cannot be made, for example because a script fails on
/// what the parents left. Halves, so that a few bad ones among many cost little.
void ChildExpansion::make_some() {
  const std::vector<workflow::Graph::ParentTuple>& parent_tuples = coming_.front();
  std::vector<workspace::Workpackage> made;
  try {
    made = graph_.make_children(parent_tuples);
  } catch (const Error& error) {
    if (graph_.is_full() || is_fault_of_machine(error, run_.directory.path))
      throw;
    if (parent_tuples.size() > 1) {
      const auto middle =
          parent_tuples.begin() + static_cast<std::ptrdiff_t>(parent_tuples.size() / 2);
      const std::vector<workflow::Graph::ParentTuple> second(middle, parent_tuples.end());
      coming_.front().erase(middle, parent_tuples.end());
      coming_.insert(coming_.begin() + 1, second);
      return;
    }
    made = {graph_.make_failed_child(parent_tuples.front(), render(error))};
  }
  made_.insert(made_.end(), made.begin(), made.end());
  coming_.pop_front();
}

}  // namespace bench::scheduler
