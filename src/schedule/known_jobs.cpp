#include "known_jobs.hpp"

namespace bench::schedule {

void KnownJobs::add(const std::vector<JobReport>& jobs) {
  for (const JobReport& job : jobs) {
    if (!job.submission.empty()) {
      by_submission_.try_emplace({job.submission, job.task.value_or(-1)}, job);
      continue;
    }
    by_id_.try_emplace(job.id, job);
    if (!job.name.empty())
      by_name_.try_emplace(job.name, job);
  }
}

const JobReport* KnownJobs::find(const BatchJob& job) const {
  const auto same = by_submission_.find({job.submission, job.task.value_or(-1)});
  if (same != by_submission_.end())
    return &same->second;
  if (!job.id.empty()) {
    const auto found = by_id_.find(job.id);
    const bool ours =
        found != by_id_.end() && (found->second.name.empty() || found->second.name == job.name);
    return ours ? &found->second : nullptr;
  }
  const auto named = by_name_.find(job.name);
  return named == by_name_.end() ? nullptr : &named->second;
}

bool KnownJobs::knows_submission(const std::string& uuid) const {
  const auto first = by_submission_.lower_bound({uuid, -1});
  return first != by_submission_.end() && first->first.first == uuid;
}

}  // namespace bench::schedule
