#include <algorithm>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/job/part.hpp>
#include <bench/scheduler/queue.hpp>
#include <bench/setup/parallel.hpp>

namespace bench::scheduler {

using workspace::State;
using workspace::Workpackage;

namespace {

/// Where workpackages work in one directory together, one at a time is what their author expects.
int most_running(const model::Step& step) {
  if (step.procs > 0)
    return step.procs;
  return step.work_dir.empty() && step.shared.empty() ? 0 : 1;
}

/// Whether it has run in part, so that it counts as unfinished while it is ready.
bool is_begun(const Workpackage& workpackage) {
  return workpackage.progress != workspace::Progress{};
}

/// New ones have the highest id; one that comes back goes to the front of those after it.
void insert_in_order(std::deque<long long>& ids, long long id) {
  ids.insert(std::lower_bound(ids.begin(), ids.end(), id), id);
}

bool has_children(const model::Benchmark& benchmark, const std::string& name) {
  return std::any_of(benchmark.steps.begin(), benchmark.steps.end(), [&](const model::Step& step) {
    return std::find(step.depend.begin(), step.depend.end(), name) != step.depend.end();
  });
}

}  // namespace

Queue::Queue(const setup::Run& run, const workflow::Graph& graph)
    : run_(run), parallel_(setup::parallel_of(run)) {
  const bool here = !run.platform.capabilities().queues_jobs;
  for (const model::Step& step : run.benchmark.steps) {
    StepQueue& queue = steps_.emplace_back();
    queue.step = &step;
    queue.most_running = most_running(step);
    queue.has_children = has_children(run.benchmark, step.name);
    queue.scheduled = !here && step.batch.has_value();
  }
  for (const Workpackage& workpackage : graph.all()) {
    StepQueue& queue = of(workpackage.step);
    take_limit(queue, workpackage);
    queue.members.push_back(workpackage.id);
    if (workpackage.has_ended()) {
      queue.unreleased += is_to_release(queue, workpackage) ? 1 : 0;
      continue;
    }
    const bool ready = workpackage.state == State::ready;
    if (ready)
      place_for(queue, workpackage).push_back(workpackage.id);
    if (!ready || is_begun(workpackage))
      ++queue.unfinished;
    if (!ready && workpackage.state != State::pending)
      ++queue.running;
  }
}

Queue::StepQueue& Queue::of(const std::string& step) {
  return *std::find_if(steps_.begin(), steps_.end(),
                       [&](const StepQueue& queue) { return queue.step->name == step; });
}

const Queue::StepQueue& Queue::of(const std::string& step) const {
  return *std::find_if(steps_.begin(), steps_.end(),
                       [&](const StepQueue& queue) { return queue.step->name == step; });
}

void Queue::take_limit(StepQueue& queue, const Workpackage& workpackage) const {
  if (queue.most_unfinished)
    return;
  const setup::Variables variables = workflow::benchmark_variables(run_);
  const std::string text(strip(evaluate::substitute(
      queue.step->max_async, workflow::lookup_in(variables, workpackage.parameters))));
  const auto limit = parse_integer(text);
  if (!text.empty() && (!limit || *limit < 0))
    throw Error(
        fmt::format("max_async of step '{}' is no whole number: {}", queue.step->name, text), "",
        queue.step->place);
  queue.most_unfinished = static_cast<int>(limit.value_or(0));
}

void Queue::add_ready(const Workpackage& workpackage) {
  StepQueue& queue = of(workpackage.step);
  take_limit(queue, workpackage);
  if (queue.members.empty() || queue.members.back() < workpackage.id)
    queue.members.push_back(workpackage.id);
  insert_in_order(place_for(queue, workpackage), workpackage.id);
}

std::deque<long long>& Queue::place_for(StepQueue& queue, const Workpackage& workpackage) {
  if (queue.scheduled && job::is_scheduled(run_, workpackage))
    return queue.gathered;
  return is_begun(workpackage) ? queue.resumed : queue.ready;
}

std::vector<long long> Queue::take_gathered() {
  std::vector<long long> ids;
  for (StepQueue& queue : steps_) {
    const auto end = queue.gathered.begin() + static_cast<std::ptrdiff_t>(takeable(queue));
    ids.insert(ids.end(), queue.gathered.begin(), end);
    queue.gathered.erase(queue.gathered.begin(), end);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::size_t Queue::gathered() const {
  std::size_t count = 0;
  for (const StepQueue& queue : steps_)
    count += takeable(queue);
  return count;
}

/// A scheduler may mind the limit itself, as Slurm does by the throttle of an array.
std::size_t Queue::takeable(const StepQueue& queue) const {
  const int most = limit(queue.step->name);
  if (most == 0 || run_.platform.capabilities().limits_running)
    return queue.gathered.size();
  return std::min(queue.gathered.size(),
                  static_cast<std::size_t>(std::max(0, most - queue.running)));
}

int Queue::limit(const std::string& step) const {
  const StepQueue& queue = of(step);
  const int unfinished = queue.most_unfinished.value_or(0);
  if (queue.most_running == 0 || unfinished == 0)
    return std::max(queue.most_running, unfinished);
  return std::min(queue.most_running, unfinished);
}

int Queue::at_once(const Workpackage& workpackage) const {
  const StepQueue& queue = of(workpackage.step);
  if (job::part_at(run_.benchmark, *queue.step, workpackage.progress).script)
    return 1;
  return parallel_ ? *parallel_ : std::max(1, limit(workpackage.step));
}

int Queue::of_step_at_once(const std::string& step) const {
  const StepQueue& queue = of(step);
  const int most = limit(step);
  if (queue.scheduled)
    return most;
  if (queue.step->batch)
    return 1;
  if (!parallel_)
    return std::max(1, most);
  return most == 0 ? *parallel_ : std::min(*parallel_, most);
}

void Queue::started(const Workpackage& workpackage) {
  StepQueue& queue = of(workpackage.step);
  const bool begun = is_begun(workpackage);
  // Those that gather were taken away together.
  if (!queue.scheduled || !job::is_scheduled(run_, workpackage))
    (begun ? queue.resumed : queue.ready).pop_front();
  queue.unfinished += begun ? 0 : 1;
  ++queue.running;
}

void Queue::stopped(const Workpackage& workpackage, State before) {
  StepQueue& queue = of(workpackage.step);
  if (before != State::pending)
    --queue.running;
  if (workpackage.has_ended() || !is_begun(workpackage))
    --queue.unfinished;
  if (is_to_release(queue, workpackage)) {
    ++queue.unreleased;
    stopped_.push_back(workpackage.id);
  }
}

long long Queue::front() const {
  long long best = -1;
  const auto offer = [&](const std::deque<long long>& ids) {
    if (!ids.empty() && (best < 0 || ids.front() < best))
      best = ids.front();
  };
  for (const StepQueue& queue : steps_) {
    if (queue.scheduled) {
      offer(queue.resumed);
      offer(queue.ready);
      continue;
    }
    if (queue.most_running > 0 && queue.running >= queue.most_running)
      continue;
    offer(queue.resumed);
    const int most_unfinished = queue.most_unfinished.value_or(0);
    if (most_unfinished == 0 || queue.unfinished < most_unfinished)
      offer(queue.ready);
  }
  return best;
}

const std::vector<long long>& Queue::members(const std::string& step) const {
  return of(step).members;
}

bool Queue::is_to_release(const StepQueue& queue, const Workpackage& workpackage) {
  return queue.has_children && workpackage.state == State::done && !workpackage.expanded;
}

/// Whether those behind it are not released before it has ended. It ends soon, or as soon as
/// those that run now; what waits for a batch system or for a file may take days.
bool Queue::holds_up(const Workpackage& workpackage) const {
  const StepQueue& queue = of(workpackage.step);
  if (workpackage.has_ended() || !queue.has_children || queue.scheduled)
    return false;
  if (workpackage.state == State::ready) {
    const int most = queue.most_unfinished.value_or(0);
    const bool waits_for_pending = most > 0 && queue.unfinished >= most && queue.running == 0;
    return is_begun(workpackage) || !waits_for_pending;
  }
  return workpackage.state == State::running;
}

bool Queue::has_unreleased(const std::string& step) const {
  return of(step).unreleased > 0;
}

std::vector<long long> Queue::take_released(const workflow::Graph& graph) {
  std::vector<long long> released;
  const auto release = [&](const Workpackage& workpackage) {
    StepQueue& queue = of(workpackage.step);
    if (!is_to_release(queue, workpackage))
      return;
    --queue.unreleased;
    released.push_back(workpackage.id);
  };
  const std::vector<Workpackage>& all = graph.all();
  for (const long long id : stopped_)
    if (next_ == all.size() || id < all[next_].id)
      release(graph.at(id));
  stopped_.clear();
  for (; next_ < all.size() && !holds_up(all[next_]); ++next_)
    release(all[next_]);
  std::sort(released.begin(), released.end());
  return released;
}

}  // namespace bench::scheduler
