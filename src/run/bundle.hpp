#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/machine/job.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/render_context.hpp>

namespace bench::scheduler {

/// A job that is to be submitted, but for the script. There may be 100,000 workpackages, most of
/// them with equal jobs, and a context takes several kB.
struct JobShape {
  std::shared_ptr<const job::RenderContext> context;  ///< Of the first workpackage.
  job::JobRequest request;
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
  execute::Job job;
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

}  // namespace bench::scheduler
