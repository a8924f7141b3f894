#include "submission.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/chunks.hpp>
#include <bench/base/uuid.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/systems.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::run {

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

/// The batch system applies the limit within an array. Submissions wait for each other: a job for
/// the one in its slot, an array for all.
std::vector<std::string> SubmissionSlots::jobs_before(const Bundle& bundle) {
  const model::Step& step = bundle.first().shape->context->step;
  const auto limit = static_cast<std::size_t>(limit_of(step));
  if (limit == 0)
    return {};
  std::vector<std::string> ids;
  const auto& slots = slots_of(step);
  if (bundle.tasks.size() > 1)
    ids = slots;
  else if (slots.size() >= limit)
    ids = {slots.front()};
  return ids;
}

void SubmissionSlots::drop_ended() {
  if (slots_.empty())
    return;
  std::set<std::string> jobs;
  for (const auto& [workpackage, id] : batch_.ids())
    jobs.insert(machine::array_of(id));
  for (auto& [step, slots] : slots_)
    std::erase_if(slots, [&](const std::string& job) { return !jobs.contains(job); });
}

/// Starts with the jobs that an earlier bench submitted.
std::vector<std::string>& SubmissionSlots::slots_of(const model::Step& step) {
  const auto [known, is_new] = slots_.try_emplace(step.name);
  std::vector<std::string>& slots = known->second;
  if (!is_new)
    return slots;
  const auto limit = static_cast<std::size_t>(limit_of(step));
  for (const auto& [workpackage, id] : batch_.ids()) {
    if (&store_.step_of(store_.at(workpackage)) != &step)
      continue;
    const std::string job = machine::array_of(id);
    if (job != id)
      slots.assign(limit, job);  // the last array waits for the earlier ones
    else if (std::ranges::find(slots, job) == slots.end())
      slots.push_back(job);
  }
  if (slots.size() > limit)
    slots.erase(slots.begin(), slots.end() - static_cast<std::ptrdiff_t>(limit));
  return slots;
}

void SubmissionSlots::take(const Bundle& bundle, const std::string& id) {
  const model::Step& step = bundle.first().shape->context->step;
  const auto limit = static_cast<std::size_t>(limit_of(step));
  if (limit == 0)
    return;
  std::vector<std::string>& slots = slots_of(step);
  if (bundle.tasks.size() > 1) {
    slots.assign(limit, id);
    return;
  }
  if (slots.size() >= limit)
    slots.erase(slots.begin());
  slots.push_back(id);
}

bool SubmissionTiming::is_due(std::size_t ready, bool others_coming) {
  const Clock::time_point now = now_();
  if (now < not_before_)
    return false;
  if (!std::exchange(collecting_, true))
    collecting_since_ = now;
  if (others_coming && ready < many && now - collecting_since_ < longest_collection)
    return false;
  collecting_ = false;
  return true;
}

void SubmissionTiming::failed() {
  not_before_ = now_() + pause_;
  pause_ = std::min(pause_ * 2, longest_pause);
}

}  // namespace bench::run
