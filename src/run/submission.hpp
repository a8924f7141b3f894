#pragma once

#include "state_store.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/render_context.hpp>

namespace bench::run {

/// A job that is to be submitted, but for the script. There may be 100,000 workpackages, most of
/// them with equal jobs, and a context takes several kB.
struct JobShape {
  std::shared_ptr<const space::RenderContext> context;  ///< Of the first workpackage.
  space::JobRequest request;
  std::string head;         ///< Equal for workpackages that can be submitted together.
  bool is_alone = false;    ///< Its template does not take the script of others.
  bool is_awaited = false;  ///< Jobs will wait for its own, which a task of an array cannot be.
  std::vector<std::string> waits_for = {};  ///< Jobs of its parents that have to end well before.

  /// Whether the jobs are equal: the head may not show all that is requested.
  bool is_equal(const JobShape& other) const {
    return head == other.head && request == other.request && is_alone == other.is_alone &&
           is_awaited == other.is_awaited;
  }
};

/// A workpackage that is ready to be submitted.
struct Planned {
  std::shared_ptr<const JobShape> shape;
  machine::Job job;
};

/// The workpackages of one job, side by side.
using Task = std::vector<const Planned*>;

/// One submission: a job, or an array of jobs.
struct Bundle {
  /// @param first_number of its tasks, where it is an array
  Bundle(std::vector<Task> tasks_of_it, int first_number);

  std::vector<Task> tasks;
  int first_task = 0;  ///< The number of its first task in an array.
  std::string uuid;    ///< Of the submission; that of the attempt where it is a single one.

  const Planned& first() const { return *tasks.front().front(); }
  bool is_plain() const { return tasks.size() == 1 && tasks.front().size() == 1; }
};

/// Calls `action` with each workpackage and, in an array, the number of its task.
template <class Action>
void for_each(const Bundle& bundle, Action action) {
  for (std::size_t task = 0; task < bundle.tasks.size(); ++task)
    for (const Planned* planned : bundle.tasks[task])
      action(*planned, bundle.tasks.size() > 1
                           ? std::optional(static_cast<int>(task) + bundle.first_task)
                           : std::nullopt);
}

/// Workpackages with equal heads form arrays and packs, where their step has them.
/// @param planned outlives the bundles
/// @param most_of_array how many tasks an array may have
std::deque<Bundle> bundles_of(const std::vector<Planned>& planned, std::size_t most_of_array);

/// Two arrays, each with half of the tasks.
std::pair<Bundle, Bundle> halves_of(const Bundle& bundle);

/// Keeps a step to the number of jobs that may run at a time, by dependencies between submissions:
/// each slot holds the job that the next one in it waits for.
class SubmissionSlots {
 public:
  SubmissionSlots(const StateStore& store, const machine::JobMonitor& batch)
      : store_(store), batch_(batch) {}

  /// How many jobs of the step may run at a time; 0: any number.
  int limit_of(const model::Step& step) const { return store_.limit(step); }
  /// Frees the slots of jobs that have ended. A batch system may refuse a submission that depends
  /// on a job that it has forgotten.
  void drop_ended();
  /// The jobs whose ends the submission has to wait for.
  std::vector<std::string> jobs_before(const Bundle& bundle);
  /// Records that the batch system has the submission as `id`.
  void take(const Bundle& bundle, const std::string& id);

 private:
  std::vector<std::string>& slots_of(const model::Step& step);

  const StateStore& store_;
  const machine::JobMonitor& batch_;
  std::map<std::string, std::vector<std::string>> slots_;  ///< By step.
};

/// When workpackages go to the batch system. They collect while others are still being prepared
/// here, so that they go out as few submissions, but do not wait for long; and after a submission
/// that did not reach the batch system the next one comes later and later.
class SubmissionTiming {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SubmissionTiming(std::function<Clock::time_point()> now = Clock::now)
      : now_(std::move(now)) {}

  /// Whether to submit now.
  /// @param ready workpackages, at least one
  /// @param others_coming commands run here after which more may be ready
  bool is_due(std::size_t ready, bool others_coming);
  void succeeded() { pause_ = first_pause; }
  void failed();

  static constexpr std::size_t many = 1000;  ///< They need not wait for more.
  static constexpr std::chrono::seconds longest_collection{10};
  static constexpr std::chrono::seconds first_pause{2};
  static constexpr std::chrono::seconds longest_pause{300};

 private:
  std::function<Clock::time_point()> now_;
  bool collecting_ = false;
  Clock::time_point collecting_since_{};
  Clock::time_point not_before_{};
  std::chrono::seconds pause_ = first_pause;
};

}  // namespace bench::run
