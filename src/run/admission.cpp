#include "admission.hpp"

#include "state_store.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/time.hpp>
#include <bench/machine/allocation.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/launch.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

namespace {

using machine::AllocatedNode;

/// What a job step takes of each of its nodes, but of whole ones.
AllocatedNode wanted_of_each(const space::JobRequest& request) {
  const machine::Resources& resources = request.resources;
  return {.cpus = resources.tasks_per_node * std::max(1, resources.threads_per_task),
          .gpus = resources.gpus_per_node};
}

bool fits(const AllocatedNode& wanted, const AllocatedNode& node) {
  return wanted.cpus <= node.cpus && wanted.gpus <= node.gpus;
}

/// Nodes of the allocation that the job step would fit on if they were free.
std::ptrdiff_t possible_nodes(const machine::Allocation& allocation,
                              const space::JobRequest& request) {
  return std::ranges::count_if(allocation.nodes, [&](const AllocatedNode& node) {
    return fits(wanted_of_each(request), node);
  });
}

int largest(const machine::Allocation& allocation, int AllocatedNode::*resource) {
  return (*std::ranges::max_element(allocation.nodes, {}, resource)).*resource;
}

}  // namespace

void check_allocation(const machine::Allocation& allocation, const space::JobRequest& request,
                      const Place& place) {
  const auto check = [&](std::ptrdiff_t wanted, std::ptrdiff_t there, const std::string& what) {
    if (wanted > there)
      throw Error(Id::machine_limit,
                  fmt::format("requested {} {}; the allocation (job {}) has {}", wanted, what,
                              allocation.job, there),
                  "", place);
  };
  const AllocatedNode wanted = wanted_of_each(request);
  const int nodes = request.resources.nodes;
  check(nodes, std::ssize(allocation.nodes), "nodes");
  check(wanted.cpus, largest(allocation, &AllocatedNode::cpus), "CPUs per node");
  check(wanted.gpus, largest(allocation, &AllocatedNode::gpus), "GPUs per node");
  check(nodes, possible_nodes(allocation, request),
        fmt::format("nodes with {} CPU{} and {} GPU{}", wanted.cpus, wanted.cpus == 1 ? "" : "s",
                    wanted.gpus, wanted.gpus == 1 ? "" : "s"));
}

std::string allocation_of(const space::Run& run) {
  const auto fact = run.metadata.provenance.find("allocation");
  return fact == run.metadata.provenance.end() ? "" : fact->second;
}

AllocationSlots::AllocationSlots(const space::Run& run) : run_(run) {
  if (!run.platform.capabilities().fills_allocation)
    return;
  allocation_ = machine::ask_allocation();
  free_ = allocation_->nodes;
}

/// The first nodes with room, as Slurm takes them; fewer than requested where there are not enough.
AllocationSlots::Share AllocationSlots::share_of(const space::JobRequest& request) const {
  const bool whole = !request.settings.at("exclusive").empty();
  const AllocatedNode wanted = wanted_of_each(request);
  Share share;
  for (std::size_t k = 0; k < free_.size() && std::ssize(share) < request.resources.nodes; ++k)
    if (fits(wanted, free_[k]) && (!whole || free_[k] == allocation_->nodes[k]))
      share.emplace(k, whole ? free_[k] : wanted);
  return share;
}

bool AllocationSlots::runs(const workspace::Workpackage& workpackage) const {
  return allocation_ && space::next_segment(run_.benchmark, *run_.benchmark.step(workpackage.step),
                                            workpackage.progress)
                            .script;
}

AllocationSlots::Room AllocationSlots::take(long long workpackage,
                                            const std::optional<space::JobRequest>& request) {
  if (!request || possible_nodes(*allocation_, *request) < request->resources.nodes)
    return Room::taken;  // its start fails
  if (allocation_->ends_unix_s &&
      unix_time_now() + request->time_limit_s + margin_s > *allocation_->ends_unix_s) {
    ++without_time_;
    return Room::no_time;
  }
  Share share = share_of(*request);
  if (std::ssize(share) < request->resources.nodes)
    return Room::full;
  for (const auto& [node, part] : share) {
    free_[node].cpus -= part.cpus;
    free_[node].gpus -= part.gpus;
  }
  taken_.insert_or_assign(workpackage, std::move(share));
  return Room::taken;
}

void AllocationSlots::check(const space::JobRequest& request, const Place& place) const {
  check_allocation(*allocation_, request, place);
}

void AllocationSlots::release(long long workpackage) {
  const auto taken = taken_.find(workpackage);
  if (taken == taken_.end())
    return;
  for (const auto& [node, part] : taken->second) {
    free_[node].cpus += part.cpus;
    free_[node].gpus += part.gpus;
  }
  taken_.erase(taken);
}

machine::Completion AllocationSlots::judged(machine::Completion completion,
                                            const std::string& job) {
  constexpr int of_signals = 128;  // sh(1): the exit code of a command that signal N ended is 128+N
  const bool may_be_cut_off =
      completion.outcome == Outcome::failed && completion.exit_code.value_or(255) > of_signals;
  if (!allocation_ || job.empty() || !may_be_cut_off ||
      machine::life_of(job) == machine::JobLife::lasts)
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

using workspace::Workpackage;

std::vector<long long> Admission::claim() {
  std::vector<long long> claimed;
  int at_once = std::numeric_limits<int>::max();
  std::size_t here = 0;
  for (long long id = store_.queues().front(); id >= 0; id = store_.queues().front()) {
    const Workpackage& workpackage = store_.at(id);
    if (allocation_.runs(workpackage)) {
      const auto room = allocation_.take(id, request_of(workpackage));
      if (room == AllocationSlots::Room::full)
        break;
      if (room == AllocationSlots::Room::no_time) {
        store_.defer(id);
        continue;
      }
    } else {
      at_once = std::min(at_once, store_.concurrent_beside(workpackage));
      if (local_.free_slots(at_once) <= here++)
        break;
    }
    store_.apply(claim_of(workpackage));
    claimed.push_back(id);
  }
  return claimed;
}

void Admission::count_running() {
  for (const Workpackage& workpackage : store_.all())
    if (workpackage.state == workspace::State::running && allocation_.runs(workpackage))
      allocation_.take(workpackage.id, request_of(workpackage));
}

/// Nothing for a request that is wrong: the start of its workpackage fails with the reason.
std::optional<space::JobRequest> Admission::request_of(const Workpackage& workpackage) {
  try {
    return space::job_request_of(*space::context_of(run_, store_.graph(), workpackage, evaluator_));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace bench::run
