#include "allocation_slots.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/time.hpp>
#include <bench/batch/allocation.hpp>
#include <bench/execute/job.hpp>
#include <bench/job/job_request.hpp>
#include <bench/job/segment.hpp>
#include <bench/platform/launch.hpp>
#include <bench/scheduler/partition_limits.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {
namespace {

/// CPUs of a node that a job step takes.
int cpus_of(const batch::Allocation& allocation, const job::JobRequest& request) {
  if (!request.settings.at("exclusive").empty())
    return allocation.cpus_per_node;
  const platform::Resources& resources = request.resources;
  return resources.tasks_per_node * std::max(1, resources.threads_per_task);
}

}  // namespace

void check_allocation(const batch::Allocation& allocation, const job::JobRequest& request,
                      const Place& place) {
  const auto check = [&](int wanted, int there, const char* what) {
    if (wanted > there)
      throw Error(fmt::format("requested {} {}; the allocation (job {}) has {}", wanted, what,
                              allocation.job, there),
                  "", place);
  };
  check(request.resources.nodes, allocation.nodes, "nodes");
  check(cpus_of(allocation, request), allocation.cpus_per_node, "CPUs per node");
  check(request.resources.gpus_per_node, allocation.gpus_per_node, "GPUs per node");
}

std::string allocation_of(const setup::Run& run) {
  const auto fact = run.metadata.provenance.find("allocation");
  return fact == run.metadata.provenance.end() ? "" : fact->second;
}

AllocationSlots::AllocationSlots(const setup::Run& run) : run_(run) {
  if (!run.platform.capabilities().fills_allocation)
    return;
  allocation_ = batch::ask_allocation();
  free_.assign(static_cast<std::size_t>(allocation_->nodes),
               {.cpus = allocation_->cpus_per_node, .gpus = allocation_->gpus_per_node});
}

/// The first nodes with room; fewer than requested where there are not enough.
AllocationSlots::Share AllocationSlots::share_of(const job::JobRequest& request) const {
  Share share{
      .nodes = {},
      .of_each = {.cpus = cpus_of(*allocation_, request), .gpus = request.resources.gpus_per_node}};
  const auto wanted = static_cast<std::size_t>(request.resources.nodes);
  for (std::size_t k = 0; k < free_.size() && share.nodes.size() < wanted; ++k)
    if (free_[k].cpus >= share.of_each.cpus && free_[k].gpus >= share.of_each.gpus)
      share.nodes.push_back(k);
  return share;
}

bool AllocationSlots::is_too_large(const job::JobRequest& request) const {
  return request.resources.nodes > allocation_->nodes ||
         cpus_of(*allocation_, request) > allocation_->cpus_per_node ||
         request.resources.gpus_per_node > allocation_->gpus_per_node;
}

bool AllocationSlots::runs(const workspace::Workpackage& workpackage) const {
  return allocation_ && job::next_segment(run_.benchmark, *run_.benchmark.step(workpackage.step),
                                          workpackage.progress)
                            .script;
}

AllocationSlots::Room AllocationSlots::take(long long workpackage,
                                            const std::optional<job::JobRequest>& request) {
  if (!request || is_too_large(*request))
    return Room::taken;
  if (allocation_->ends_unix_s &&
      unix_time_now() + request->time_limit_s + margin_s > *allocation_->ends_unix_s) {
    ++without_time_;
    return Room::no_time;
  }
  Share share = share_of(*request);
  if (share.nodes.size() < static_cast<std::size_t>(request->resources.nodes))
    return Room::full;
  for (const std::size_t node : share.nodes) {
    free_[node].cpus -= share.of_each.cpus;
    free_[node].gpus -= share.of_each.gpus;
  }
  taken_.insert_or_assign(workpackage, std::move(share));
  return Room::taken;
}

void AllocationSlots::check(const job::JobRequest& request, const Place& place) const {
  check_allocation(*allocation_, request, place);
}

void AllocationSlots::release(long long workpackage) {
  const auto taken = taken_.find(workpackage);
  if (taken == taken_.end())
    return;
  for (const std::size_t node : taken->second.nodes) {
    free_[node].cpus += taken->second.of_each.cpus;
    free_[node].gpus += taken->second.of_each.gpus;
  }
  taken_.erase(taken);
}

execute::Completion AllocationSlots::judged(execute::Completion completion,
                                            const std::string& job) {
  constexpr int of_signals = 128;  // sh(1): the exit code of a command that signal N ended is 128+N
  const bool may_be_cut_off =
      completion.outcome == Outcome::failed && completion.exit_code.value_or(255) > of_signals;
  if (!allocation_ || job.empty() || !may_be_cut_off ||
      batch::life_of(job) == batch::JobLife::lasts)
    return completion;
  has_ended_ = has_ended_ || job == allocation_->job;
  completion.outcome = Outcome::interrupted;
  completion.reason = fmt::format("its allocation (job {}) ended", job);
  return completion;
}

bool AllocationSlots::is_over() const {
  if (has_ended_)
    return true;
  return allocation_ && allocation_->ends_unix_s &&
         unix_time_now() + margin_s > *allocation_->ends_unix_s;
}

std::string AllocationSlots::blocked_reason() const {
  if (has_ended_)
    return fmt::format("the allocation (job {}) has ended", allocation_->job);
  if (is_over())
    return fmt::format("the allocation (job {}) is about to end: what ran in it was stopped",
                       allocation_->job);
  if (without_time_ == 0)
    return "";
  return fmt::format("the allocation (job {}) ends before the time limit of {} workpackage{}",
                     allocation_->job, without_time_, without_time_ == 1 ? "" : "s");
}

}  // namespace bench::scheduler
