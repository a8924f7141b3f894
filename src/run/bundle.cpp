#include "bundle.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/chunks.hpp>
#include <bench/base/uuid.hpp>
#include <bench/machine/platform.hpp>

namespace bench::scheduler {

Bundle::Bundle(std::vector<Task> tasks_of_it, int first_number)
    : tasks(std::move(tasks_of_it)), first_task(first_number) {
  uuid = is_plain() ? first().job.uuid : make_uuid();
}

std::deque<Bundle> bundles_of(const std::vector<Planned>& planned, std::size_t most_of_array) {
  std::vector<std::vector<const Planned*>> groups;
  std::map<std::string_view, std::size_t> index;
  for (const Planned& one : planned) {
    const auto [known, is_new] = index.try_emplace(one.shape->head, groups.size());
    if (is_new)
      groups.emplace_back();
    groups[known->second].push_back(&one);
  }
  std::deque<Bundle> bundles;
  for (const auto& group : groups) {
    const auto pack = static_cast<std::size_t>(group.front()->shape->request.pack);
    std::vector<Task> tasks;
    for (const auto& chunk : chunks_of(group, pack))
      tasks.emplace_back(chunk.begin(), chunk.end());
    // The rest of a pack asks for less and goes out alone.
    std::vector<Task> rest;
    if (tasks.back().size() < tasks.front().size()) {
      rest.push_back(std::move(tasks.back()));
      tasks.pop_back();
    }
    const int first = group.front()->shape->context->run.platform.system().arrays.first;
    const bool arrays = group.front()->shape->context->step.batch->array && tasks.size() > 1 &&
                        !group.front()->shape->is_awaited;
    for (const auto& chunk : chunks_of(tasks, arrays ? most_of_array : std::size_t{1}))
      bundles.emplace_back(std::vector(chunk.begin(), chunk.end()), first);
    if (!rest.empty())
      bundles.emplace_back(std::move(rest), first);
  }
  return bundles;
}

std::pair<Bundle, Bundle> halves_of(const Bundle& bundle) {
  const auto middle = bundle.tasks.begin() + static_cast<std::ptrdiff_t>(bundle.tasks.size() / 2);
  return {Bundle({bundle.tasks.begin(), middle}, bundle.first_task),
          Bundle({middle, bundle.tasks.end()}, bundle.first_task)};
}

}  // namespace bench::scheduler
