#include "submission_slots.hpp"

#include "bundle.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <bench/machine/job_id.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::scheduler {

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
    jobs.insert(batch::array_of(id));
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
    const std::string job = batch::array_of(id);
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

}  // namespace bench::scheduler
