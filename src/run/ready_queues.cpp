#include "ready_queues.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/machine/systems.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using workspace::State;
using workspace::Workpackage;

int most_running(const model::Step& step) {
  if (step.procs > 0)
    return step.procs;
  return step.work_dir.empty() && step.shared.empty() ? 0 : 1;
}

/// A segment of it has run, so that it counts as unfinished while it is ready.
bool is_begun(const Workpackage& workpackage) {
  return workpackage.progress != workspace::Progress{};
}

/// A number that looks random, the same for equal arguments: splitmix64 of Steele, Lea and Flood,
/// OOPSLA 2014, 453.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t id) {
  std::uint64_t z = seed + (id + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

bool has_children(const model::Benchmark& benchmark, const std::string& name) {
  return std::ranges::any_of(benchmark.steps,
                             [&](const model::Step& step) { return step.depends_on(name); });
}

}  // namespace

Concurrency::Concurrency(const space::Run& run) : run_(run), parallel_(space::parallel_of(run)) {
  for (const model::Step& step : run.benchmark.steps)
    steps_.push_back({.most_running = run::most_running(step), .most_unfinished = {}});
}

void Concurrency::learn(std::size_t index, const workspace::Workpackage& workpackage) {
  Limits& limits = steps_[index];
  if (!limits.most_unfinished)
    limits.most_unfinished = max_async_of(index, workpackage);
}

int Concurrency::max_async_of(std::size_t index, const workspace::Workpackage& workpackage) const {
  const model::Step& step = run_.benchmark.steps[index];
  const space::Variables variables = space::benchmark_variables(run_);
  const std::string text(strip(
      evaluate::substitute(step.max_async, space::lookup_in(variables, workpackage.parameters))));
  const auto limit = parse_integer(text);
  if (!text.empty() && (!limit || *limit < 0))
    throw Error(Id::invalid_value,
                fmt::format("max_async of step '{}' is not an integer: {}", step.name, text), "",
                step.place);
  return static_cast<int>(limit.value_or(0));
}

int Concurrency::limit(std::size_t step) const {
  const int running = most_running(step);
  const int unfinished = most_unfinished(step);
  return running == 0 || unfinished == 0 ? std::max(running, unfinished)
                                         : std::min(running, unfinished);
}

int Concurrency::beside(std::size_t index, const workspace::Workpackage& workpackage) const {
  const model::Step& step = run_.benchmark.steps[index];
  if (space::next_segment(run_.benchmark, step, workpackage.progress).script)
    return 1;
  return parallel_ ? *parallel_ : std::max(1, limit(index));
}

int Concurrency::of_step(std::size_t index) const {
  const model::Step& step = run_.benchmark.steps[index];
  const int most = limit(index);
  const machine::Capabilities& machine = run_.platform.capabilities();
  if (step.batch)
    return machine.queues_jobs || machine.fills_allocation ? most : 1;
  if (!parallel_)
    return std::max(1, most);
  return most == 0 ? *parallel_ : std::min(*parallel_, most);
}

ReadyQueues::ReadyQueues(const space::Run& run) : run_(run), concurrency_(run) {
  const std::set<std::string> chained = space::chained_steps(run);
  for (const model::Step& step : run.benchmark.steps) {
    StepQueue& queue = steps_.emplace_back();
    queue.step = &step;
    queue.has_children = has_children(run.benchmark, step.name);
    queue.scheduled = space::is_scheduled(run, step);
    queue.has_chained_children = std::ranges::any_of(chained, [&](const std::string& child) {
      const model::Step* found = run.benchmark.step(child);
      return found && found->depends_on(step.name);
    });
  }
}

void ReadyQueues::add(std::size_t step, const Workpackage& workpackage) {
  StepQueue& queue = steps_[step];
  concurrency_.learn(step, workpackage);
  if (queue.members.empty() || queue.members.back() < workpackage.id)
    queue.members.push_back(workpackage.id);
  count(queue, workpackage, 1);
  if (workpackage.state == State::ready && !holds_.contains(workpackage.id))
    insert_in_order(queue_for(queue, workpackage), place_of(queue, workpackage));
  if (workpackage.state == State::waiting)
    waiting_.insert(workpackage.id);
  if (is_unexpanded(queue, workpackage))
    ended_.push_back(workpackage.id);
  if (queue.has_chained_children && workpackage.state == State::submitted &&
      !workpackage.expanded_ahead)
    submitted_.push_back(workpackage.id);
}

void ReadyQueues::remove(std::size_t step, const Workpackage& workpackage) {
  StepQueue& queue = steps_[step];
  count(queue, workpackage, -1);
  if (workpackage.state == State::ready)
    erase(queue_for(queue, workpackage), place_of(queue, workpackage));
  if (workpackage.state == State::waiting)
    waiting_.erase(workpackage.id);
}

void ReadyQueues::let_go(long long id, Hold why) {
  const auto found = holds_.find(id);
  if (found == holds_.end())
    return;
  found->second &= static_cast<std::uint8_t>(~static_cast<unsigned>(why));
  if (found->second == 0)
    holds_.erase(found);
}

bool ReadyQueues::is_held(long long id, Hold why) const {
  const auto found = holds_.find(id);
  return found != holds_.end() && (found->second & static_cast<std::uint8_t>(why)) != 0;
}

void ReadyQueues::defer(std::size_t step, const Workpackage& workpackage) {
  erase(queue_for(steps_[step], workpackage), place_of(steps_[step], workpackage));
}

/// New ones mostly come last; a requeued one goes to the front of those after it.
void ReadyQueues::insert_in_order(Queue& queue, Place place) {
  queue.insert(std::ranges::lower_bound(queue, place), place);
}

void ReadyQueues::erase(Queue& queue, Place place) {
  const auto found = std::ranges::lower_bound(queue, place);
  if (found != queue.end() && *found == place)
    queue.erase(found);
}

ReadyQueues::Place ReadyQueues::place_of(const StepQueue& queue,
                                         const Workpackage& workpackage) const {
  switch (queue.step->order) {
    case model::Order::given:
      break;
    case model::Order::interleaved:
      return {static_cast<std::uint64_t>(workpackage.iteration), workpackage.id};
    case model::Order::random:
      return {mixed(static_cast<std::uint64_t>(run_.metadata.order_seed.value_or(0)),
                    static_cast<std::uint64_t>(workpackage.id)),
              workpackage.id};
  }
  return {0, workpackage.id};
}

/// One that waits at a barrier frees its place: the others have to get there.
void ReadyQueues::count(StepQueue& queue, const Workpackage& workpackage, int by) {
  const State state = workpackage.state;
  if (state == State::running || state == State::submitted)
    queue.running += by;
  if (!workpackage.has_ended() && (state != State::ready || is_begun(workpackage)) &&
      !space::waits_at_barrier(*queue.step, workpackage))
    queue.unfinished += by;
  if (is_unexpanded(queue, workpackage))
    queue.unexpanded += by;
}

ReadyQueues::Queue& ReadyQueues::queue_for(StepQueue& queue, const Workpackage& workpackage) {
  if (queue.scheduled && space::is_scheduled(run_, workpackage))
    return queue.batch_ready;
  return is_begun(workpackage) ? queue.resumed : queue.ready;
}

std::vector<long long> ReadyQueues::batch_ready() const {
  std::vector<Place> places;
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    const auto begin = steps_[step].batch_ready.begin();
    places.insert(places.end(), begin, begin + static_cast<std::ptrdiff_t>(startable(step)));
  }
  std::ranges::sort(places);
  std::vector<long long> ids;
  std::ranges::transform(places, std::back_inserter(ids), &Place::id);
  return ids;
}

std::size_t ReadyQueues::batch_ready_count() const {
  std::size_t count = 0;
  for (std::size_t step = 0; step < steps_.size(); ++step)
    count += startable(step);
  return count;
}

/// A scheduler may keep to the limit itself, as by the throttle of an array.
std::size_t ReadyQueues::startable(std::size_t step) const {
  const StepQueue& queue = steps_[step];
  if (queue.batch_ready.empty())
    return 0;
  const int most = concurrency_.limit(step);
  if (most == 0 || space::limits_running(run_, *queue.step))
    return queue.batch_ready.size();
  return std::min(queue.batch_ready.size(),
                  static_cast<std::size_t>(std::max(0, most - queue.running)));
}

long long ReadyQueues::front() const {
  long long best = -1;
  const auto offer = [&](const Queue& queue) {
    if (!queue.empty() && (best < 0 || queue.front().id < best))
      best = queue.front().id;
  };
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    const StepQueue& queue = steps_[step];
    if (queue.scheduled) {
      offer(queue.resumed);
      offer(queue.ready);
      continue;
    }
    const int most_running = concurrency_.most_running(step);
    if (most_running > 0 && queue.running >= most_running)
      continue;
    offer(queue.resumed);
    const int most_unfinished = concurrency_.most_unfinished(step);
    if (most_unfinished == 0 || queue.unfinished < most_unfinished)
      offer(queue.ready);
  }
  return best;
}

bool ReadyQueues::is_unexpanded(const StepQueue& queue, const Workpackage& workpackage) {
  return queue.has_children && workpackage.state == State::done && !workpackage.expanded;
}

/// Those behind it are not released before it has ended. It ends soon, or as soon as those that run
/// now; what waits for a batch system or for a file may take days.
bool ReadyQueues::holds_up(const Workpackage& workpackage) const {
  const std::size_t step = run_.benchmark.index_of(workpackage.step);
  const StepQueue& queue = steps_[step];
  if (workpackage.has_ended() || !queue.has_children || queue.scheduled)
    return false;
  if (workpackage.state == State::ready) {
    const int most = concurrency_.most_unfinished(step);
    const bool waits_for_begun = most > 0 && queue.unfinished >= most && queue.running == 0;
    return is_begun(workpackage) || !waits_for_begun;
  }
  return workpackage.state == State::running;
}

std::vector<long long> ReadyQueues::take_submitted(const std::vector<Workpackage>& all) {
  std::vector<long long> ids = std::exchange(submitted_, {});
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::erase_if(ids, [&](long long id) {
    const auto found = std::ranges::lower_bound(all, id, {}, &Workpackage::id);
    return found == all.end() || found->state != State::submitted || found->expanded_ahead;
  });
  return ids;
}

std::vector<long long> ReadyQueues::take_released(const std::vector<Workpackage>& all) {
  std::vector<long long> released;
  for (const long long id : ended_)
    if (next_ == all.size() || id < all[next_].id)
      released.push_back(id);
  ended_.clear();
  for (; next_ < all.size() && !holds_up(all[next_]); ++next_)
    if (is_unexpanded(steps_[run_.benchmark.index_of(all[next_].step)], all[next_]))
      released.push_back(all[next_].id);
  std::ranges::sort(released);
  released.erase(std::unique(released.begin(), released.end()), released.end());
  return released;
}

}  // namespace bench::run
