#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/machine/batch_system.hpp>
#include <bench/machine/job_monitor.hpp>

namespace bench::batch {

/// The jobs that a batch system reported, to find ours among them.
class KnownJobs {
 public:
  /// @param queue the reports of the jobs that the batch system holds in memory
  explicit KnownJobs(std::vector<JobReport> queue);
  KnownJobs(const KnownJobs&) = delete;
  KnownJobs& operator=(const KnownJobs&) = delete;

  /// Adds what the accounting reports; the first report of a job is kept.
  void add(std::vector<JobReport> ended);
  /// By the UUID in the comment. People and sites change comments: then by id and name together,
  /// unless the comment is another UUID, since another job may have got the id. By the name alone
  /// where no id was recorded and the system keeps no comments.
  const JobReport* find(const BatchJob& job) const;
  /// True if the batch system holds the submission in memory, so that it would hold this task, too,
  /// if that still waited or ran. The accounting tells of each task by itself: that others began
  /// does not mean that a controller has not lost this one.
  bool holds_siblings(const BatchJob& job) const;

 private:
  /// Finds a report by a text of its own, and its task or -1.
  using Index = std::map<std::pair<std::string_view, int>, const JobReport*>;

  std::deque<std::vector<JobReport>> answers_;  ///< There may be 100,000 reports.
  Index by_comment_;                            ///< UUID.
  std::unordered_map<std::string_view, const JobReport*> by_id_;
  Index by_name_;                                              ///< Of those without comments.
  std::set<std::string_view> held_submissions_;                ///< By the comment.
  std::set<std::pair<std::string, std::string>> held_arrays_;  ///< Id and name of those with tasks.
};

}  // namespace bench::batch
