#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>
#include <bench/setup/run.hpp>
#include <bench/store/child_expansion.hpp>
#include <bench/store/ready_queues.hpp>
#include <bench/workflow/graph.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::store {

ChildExpansion::ChildExpansion(const setup::Run& run, workflow::Graph& graph, ReadyQueues& queues)
    : run_(run), graph_(graph), queues_(queues) {}

void ChildExpansion::take_released() {
  const std::vector<long long> released = queues_.take_released(graph_.all());
  if (released.empty())
    return;
  made_.parents.insert(made_.parents.end(), released.begin(), released.end());
  to_make_.push_back(graph_.parent_tuple(released));
}

std::optional<workspace::Expanded> ChildExpansion::make() {
  while (!to_make_.empty())
    make_some();
  if (made_.parents.empty())
    return std::nullopt;
  return std::exchange(made_, {});
}

/// One failed child stands for those that cannot be made, for example because a script fails on
/// what the parents left. Halves, so that a few bad ones among many cost little.
void ChildExpansion::make_some() {
  const std::vector<workflow::Graph::ParentTuple>& parent_tuples = to_make_.front();
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
      to_make_.front().erase(middle, parent_tuples.end());
      to_make_.insert(to_make_.begin() + 1, second);
      return;
    }
    made = {graph_.make_failed_child(parent_tuples.front(), render(error))};
  }
  made_.children.insert(made_.children.end(), made.begin(), made.end());
  to_make_.pop_front();
}

}  // namespace bench::store
