#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <bench/schedule/batch.hpp>

namespace bench::schedule {

/// What a batch system has told of jobs, to find ours among them.
class KnownJobs {
 public:
  explicit KnownJobs(const std::vector<JobReport>& jobs) { add(jobs); }

  /// Tells of further jobs; what was told first stays.
  void add(const std::vector<JobReport>& jobs);
  /// By the UUID in the comment. Where the comment is unknown: by the id, if the name is ours too,
  /// since another job may have got the id; or by the name alone, where no id was recorded.
  const JobReport* find(const BatchJob& job) const;
  /// Whether it has told of any job with this UUID.
  bool knows_submission(const std::string& uuid) const;

 private:
  std::map<std::pair<std::string, int>, JobReport> by_submission_;  ///< UUID and task, or -1.
  std::map<std::string, JobReport> by_id_;                          ///< Without comments.
  std::map<std::string, JobReport> by_name_;
};

}  // namespace bench::schedule
