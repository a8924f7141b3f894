#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/machine/batch_system.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/platform.hpp>

namespace bench::machine {

/// How often a job that a batch system lost before it began is submitted again.
constexpr int most_resubmissions = 3;

/// An attempt that a batch system has or may have.
struct BatchJob {
  Job job;
  std::string submission;   ///< UUID in the comment; several jobs share it in an array or a pack.
  std::string name;         ///< Of the job, where the system keeps no comments.
  std::string id;           ///< `123`, or `123_4`; empty: nobody has recorded one.
  std::optional<int> task;  ///< Of an array.
  /// Where the batch system writes messages about an array or a pack; empty: to the job's stderr.
  std::filesystem::path messages;
};

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

/// The attempts that a batch system has, and their progress. They run without bench.
class JobMonitor {
 public:
  using Clock = std::chrono::steady_clock;

  JobMonitor(std::unique_ptr<BatchSystem> system, Polling polling,
             std::function<Clock::time_point()> now = Clock::now);

  BatchSystem& system() { return *system_; }
  /// How many tasks an array may have; 1 where there are no arrays.
  int max_array_size();
  /// Starts to monitor this attempt.
  void add(const BatchJob& job);
  std::size_t active() const { return jobs_.size(); }
  /// The workpackages and job ids of those that have one.
  std::map<long long, std::string> ids() const;
  /// True for an attempt that it monitors.
  bool watches(long long workpackage) const { return jobs_.contains(workpackage); }
  /// The id of its job; empty where it has none, or nobody has recorded it.
  std::string id_of(long long workpackage) const;
  /// Stops monitoring it.
  void forget(long long workpackage) { jobs_.erase(workpackage); }
  /// The workpackages whose jobs were running, not waiting, when they were last asked about.
  std::vector<long long> running() const;

  /// Result of an update.
  struct News {
    bool asked = false;  ///< False: only sentinels were read.
    std::vector<Completion> completions;
    /// Attempts whose id became known: an earlier bench was killed before it recorded the
    /// submission.
    std::vector<std::pair<long long, std::string>> found;
    std::vector<std::string> notices;
  };
  /// Reads the sentinels of all attempts. When a query is due, asks about all attempts in as few
  /// calls as possible: first the queue, then the accounting for those that left the queue without
  /// a sentinel.
  /// @throws Error if a sentinel cannot be read
  News update();
  /// Postpones the query, which could not be made.
  void put_off(const std::string& failure);
  /// Why the last query failed; empty: it succeeded.
  const std::string& blocked_reason() const { return failure_; }
  /// True if another update may soon bring news: a sentinel has yet to appear, or an attempt has
  /// left the queue.
  bool unsettled() const;
  /// Seconds until the next update is due; the interval grows while there is no news.
  double seconds_to_update() const;

 private:
  /// What the jobs of a submission share.
  struct Shared {
    std::string submission;
    std::string name;
    std::filesystem::path messages;
  };

  /// A BatchJob and its progress, in a tenth of the memory: there may be 100,000.
  struct Watched {
    std::shared_ptr<const Shared> shared;
    std::string uuid;
    std::string directory;
    std::string work_directory;  ///< This and the next two are relative to it.
    std::string script;
    std::string sentinel;
    std::string id;
    std::optional<int> task;
    bool keep_environment = false;
    bool running = false;
    /// The report of its end, while its sentinel is awaited.
    std::unique_ptr<const JobReport> end = nullptr;
    /// When its absence, or its end without a sentinel, was first seen.
    std::optional<Clock::time_point> doubtful_since = std::nullopt;
  };

  static BatchJob job_of(long long workpackage, const Watched& watched);
  QueryResult ask_queue();
  void ask_system(News& news);
  void read_sentinels(News& news);
  bool update(long long workpackage, Watched& watched, const KnownJobs& known, News& news);
  bool settle_end(const BatchJob& job, Watched& watched, News& news);
  void query_accounting(const std::vector<long long>& unknown, KnownJobs& known, News& news);
  void conclude_without_accounting(const std::vector<long long>& unknown, News& news);
  Completion conclude(const BatchJob& job, const JobReport& report, std::optional<Completion> told,
                      News& news);
  bool collect(const BatchJob& job, const std::filesystem::path& from, News& news);
  Completion conclude_moved(const BatchJob& job, const std::filesystem::path& from, News& news);
  Completion conclude_unknown(const BatchJob& job, const KnownJobs& known, News& news);
  bool out_of_patience(Watched& watched);
  void notice_blocked(const BatchJob& job, const JobReport& report, News& news);
  void plan_question();
  void plan_update(bool news);

  std::unique_ptr<BatchSystem> system_;
  Polling polling_;
  std::function<Clock::time_point()> now_;
  std::map<long long, Watched> jobs_;     ///< By workpackage.
  std::shared_ptr<const Shared> latest_;  ///< Of the job that was added last.
  std::set<std::string> told_;            ///< Notices that were already given.
  /// Since when the accounting has not answered; none: it did when it was last asked.
  std::optional<Clock::time_point> without_accounting_since_;
  std::string failure_;
  double pause_s_ = 0;     ///< Between two updates.
  double patience_s_ = 0;  ///< Between two queries to a system that does not answer.
  Clock::time_point next_update_{};
  Clock::time_point next_question_{};
};

}  // namespace bench::machine
