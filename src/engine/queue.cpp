#include "queue.hpp"

#include <algorithm>

#include <bench/base/text.hpp>

namespace bench::engine {

using workspace::State;
using workspace::Workpackage;

namespace {

/// The smaller of `procs` and `max_async`, 0 where neither limits.
int limit_of(const model::Step& step) {
  const auto max_async = parse_integer(strip(step.max_async));
  if (!step.max_async.empty() && (!max_async || *max_async < 0))
    throw Error("max_async of step '" + step.name + "' is no whole number: " + step.max_async, "",
                step.place);
  const int async = static_cast<int>(max_async.value_or(0));
  if (async > 0 && step.procs > 0)
    return std::min(async, step.procs);
  return std::max(async, step.procs);
}

bool has_children(const model::Benchmark& benchmark, const std::string& name) {
  return std::any_of(benchmark.steps.begin(), benchmark.steps.end(), [&](const model::Step& step) {
    return std::find(step.depend.begin(), step.depend.end(), name) != step.depend.end();
  });
}

}  // namespace

Queue::Queue(const Run& run, const Graph& graph) {
  const bool here = run.platform.scheduler == platform::Scheduler::none;
  for (const model::Step& step : run.benchmark.steps) {
    StepQueue& queue = steps_.emplace_back();
    queue.step = &step;
    queue.limit = limit_of(step);
    queue.has_children = has_children(run.benchmark, step.name);
    queue.in_order = here || !step.batch;
  }
  for (const Workpackage& workpackage : graph.all()) {
    StepQueue& queue = of(workpackage.step);
    queue.members.push_back(workpackage.id);
    if (workpackage.state == State::ready)
      queue.ready.push_back(workpackage.id);
    else if (workpackage.has_ended())
      queue.stopped.push_back(workpackage.id);
    else
      ++queue.running;
  }
}

Queue::StepQueue& Queue::of(const std::string& step) {
  return *std::find_if(steps_.begin(), steps_.end(),
                       [&](const StepQueue& queue) { return queue.step->name == step; });
}

void Queue::add_ready(const Workpackage& workpackage) {
  StepQueue& queue = of(workpackage.step);
  if (queue.members.empty() || queue.members.back() < workpackage.id)
    queue.members.push_back(workpackage.id);
  // New ones have the highest id; one that comes back goes to the front of those after it.
  queue.ready.insert(std::lower_bound(queue.ready.begin(), queue.ready.end(), workpackage.id),
                     workpackage.id);
}

void Queue::started(const Workpackage& workpackage) {
  StepQueue& queue = of(workpackage.step);
  queue.ready.pop_front();
  ++queue.running;
}

void Queue::stopped(const Workpackage& workpackage) {
  StepQueue& queue = of(workpackage.step);
  --queue.running;
  if (workpackage.has_ended())
    queue.stopped.push_back(workpackage.id);
}

long long Queue::front() const {
  long long best = -1;
  for (const StepQueue& queue : steps_) {
    const bool full = queue.limit > 0 && queue.running >= queue.limit;
    if (!queue.ready.empty() && !full && (best < 0 || queue.ready.front() < best))
      best = queue.ready.front();
  }
  return best;
}

std::vector<long long> Queue::take_released(const Graph& graph) {
  std::vector<long long> released;
  const auto release = [&](long long id) {
    const Workpackage& workpackage = graph.at(id);
    if (workpackage.state == State::done && !workpackage.expanded)
      released.push_back(id);
  };
  for (StepQueue& queue : steps_) {
    if (queue.has_children && queue.in_order)
      for (; queue.next < queue.members.size() && graph.at(queue.members[queue.next]).has_ended();
           ++queue.next)
        release(queue.members[queue.next]);
    else if (queue.has_children)
      std::for_each(queue.stopped.begin(), queue.stopped.end(), release);
    queue.stopped.clear();
  }
  std::sort(released.begin(), released.end());
  return released;
}

}  // namespace bench::engine
