#include <utility>
#include <vector>

#include <bench/base/uuid.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job_id.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/known_jobs.hpp>

namespace bench::batch {

KnownJobs::KnownJobs(std::vector<JobReport> queue) {
  add(std::move(queue));
  for (const JobReport& job : answers_.front()) {
    held_submissions_.insert(job.comment);
    if (job.task && !is_uuid(job.comment))
      held_arrays_.emplace(array_of(job.id), job.name);
  }
}

void KnownJobs::add(std::vector<JobReport> ended) {
  for (const JobReport& job : answers_.emplace_back(std::move(ended))) {
    by_id_.try_emplace(job.id, &job);
    if (!job.comment.empty())
      by_comment_.try_emplace({job.comment, job.task.value_or(-1)}, &job);
    else if (!job.name.empty())
      by_name_.try_emplace({job.name, job.task.value_or(-1)}, &job);
  }
}

const JobReport* KnownJobs::find(const BatchJob& job) const {
  const auto same = by_comment_.find({job.submission, job.task.value_or(-1)});
  if (same != by_comment_.end())
    return same->second;
  if (!job.id.empty()) {
    const auto found = by_id_.find(job.id);
    if (found == by_id_.end() || is_uuid(found->second->comment))
      return nullptr;
    const std::string& name = found->second->name;
    return name.empty() || name == job.name ? found->second : nullptr;
  }
  const auto named = by_name_.find({job.name, job.task.value_or(-1)});
  return named == by_name_.end() ? nullptr : named->second;
}

bool KnownJobs::holds_siblings(const BatchJob& job) const {
  return held_submissions_.contains(job.submission) ||
         (job.task && held_arrays_.contains({array_of(job.id), job.name}));
}

}  // namespace bench::batch
