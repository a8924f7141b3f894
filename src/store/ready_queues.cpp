#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <bench/job/segment.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/setup/run.hpp>
#include <bench/store/ready_queues.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::store {

using workspace::State;
using workspace::Workpackage;

namespace {

/// A segment of it has run, so that it counts as unfinished while it is ready.
bool is_begun(const Workpackage& workpackage) {
  return workpackage.progress != workspace::Progress{};
}

/// New ones have the highest id; a requeued one goes to the front of those after it.
void insert_in_order(std::deque<long long>& ids, long long id) {
  ids.insert(std::ranges::lower_bound(ids, id), id);
}

void erase(std::deque<long long>& ids, long long id) {
  const auto found = std::ranges::lower_bound(ids, id);
  if (found != ids.end() && *found == id)
    ids.erase(found);
}

bool has_children(const model::Benchmark& benchmark, const std::string& name) {
  return std::ranges::any_of(benchmark.steps, [&](const model::Step& step) {
    return std::ranges::find(step.depend, name) != step.depend.end();
  });
}

}  // namespace

ReadyQueues::ReadyQueues(const setup::Run& run) : run_(run), concurrency_(run) {
  for (const model::Step& step : run.benchmark.steps) {
    StepQueue& queue = steps_.emplace_back();
    queue.step = &step;
    queue.has_children = has_children(run.benchmark, step.name);
    queue.scheduled = run.platform.capabilities().queues_jobs && step.batch.has_value();
  }
}

void ReadyQueues::add(std::size_t step, const Workpackage& workpackage) {
  StepQueue& queue = steps_[step];
  concurrency_.learn(step, workpackage);
  if (queue.members.empty() || queue.members.back() < workpackage.id)
    queue.members.push_back(workpackage.id);
  count(queue, workpackage, 1);
  if (workpackage.state == State::ready)
    insert_in_order(place_for(queue, workpackage), workpackage.id);
  if (workpackage.state == State::pending)
    pending_.insert(workpackage.id);
  if (is_unexpanded(queue, workpackage))
    ended_.push_back(workpackage.id);
}

void ReadyQueues::remove(std::size_t step, const Workpackage& workpackage) {
  StepQueue& queue = steps_[step];
  count(queue, workpackage, -1);
  if (workpackage.state == State::ready)
    erase(place_for(queue, workpackage), workpackage.id);
  if (workpackage.state == State::pending)
    pending_.erase(workpackage.id);
}

void ReadyQueues::defer(std::size_t step, const Workpackage& workpackage) {
  erase(place_for(steps_[step], workpackage), workpackage.id);
}

void ReadyQueues::count(StepQueue& queue, const Workpackage& workpackage, int by) {
  const State state = workpackage.state;
  if (state == State::running || state == State::submitted)
    queue.running += by;
  if (!workpackage.has_ended() && (state != State::ready || is_begun(workpackage)))
    queue.unfinished += by;
  if (is_unexpanded(queue, workpackage))
    queue.unexpanded += by;
}

std::deque<long long>& ReadyQueues::place_for(StepQueue& queue, const Workpackage& workpackage) {
  if (queue.scheduled && job::is_scheduled(run_, workpackage))
    return queue.batch_ready;
  return is_begun(workpackage) ? queue.resumed : queue.ready;
}

std::vector<long long> ReadyQueues::batch_ready() const {
  std::vector<long long> ids;
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    const auto begin = steps_[step].batch_ready.begin();
    ids.insert(ids.end(), begin, begin + static_cast<std::ptrdiff_t>(startable(step)));
  }
  std::ranges::sort(ids);
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
  const int most = concurrency_.limit(step);
  if (most == 0 || run_.platform.capabilities().limits_running)
    return queue.batch_ready.size();
  return std::min(queue.batch_ready.size(),
                  static_cast<std::size_t>(std::max(0, most - queue.running)));
}

long long ReadyQueues::front() const {
  long long best = -1;
  const auto offer = [&](const std::deque<long long>& ids) {
    if (!ids.empty() && (best < 0 || ids.front() < best))
      best = ids.front();
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
    const bool waits_for_pending = most > 0 && queue.unfinished >= most && queue.running == 0;
    return is_begun(workpackage) || !waits_for_pending;
  }
  return workpackage.state == State::running;
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
  return released;
}

}  // namespace bench::store
