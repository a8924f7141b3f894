#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <bench/schedule/batch_system.hpp>
#include <bench/schedule/job.hpp>

namespace bench::schedule {

/// How a batch system is asked.
struct BatchSettings {
  double interval_s = 15;          ///< Longest time between two questions while all goes well.
  std::size_t ids_at_once = 5000;  ///< In one question.
  double grace_s = 5;              ///< How long the sentinel of an ended job may take to show.
  int max_array_size = 0;          ///< 0: as the batch system says.
};

/// An attempt that a batch system has, or may have.
struct BatchJob {
  Job job;
  std::string submission;   ///< UUID in the comment; several jobs share it in an array or a pack.
  std::string name;         ///< Of the job, where the system keeps no comments.
  std::string id;           ///< `123`, or `123_4`; empty: nobody has recorded one.
  std::optional<int> task;  ///< Of an array.
  /// Others of the same submission are known to have begun, so that it has arrived.
  bool siblings_known = false;
};

class KnownJobs;

/// The attempts that a batch system has, and how they are getting on. They run without us.
class BatchQueue {
 public:
  BatchQueue(std::unique_ptr<BatchSystem> system, BatchSettings settings);

  BatchSystem& system() { return *system_; }
  /// How many tasks an array may have; 1 where there are no arrays.
  int max_array_size();
  /// From now on looks after this attempt.
  void add(BatchJob job);
  std::size_t active() const { return jobs_.size(); }
  /// The workpackages and job ids of those that have one.
  std::map<long long, std::string> ids() const;
  /// The workpackages whose jobs were running, not waiting, when they were last asked about.
  std::vector<long long> running() const;
  /// No longer looks after any.
  void forget_all() { jobs_.clear(); }

  /// What one round of questions told.
  struct News {
    std::vector<Completion> completions;
    /// Attempts whose id became known: one whose submission nobody lived to record.
    std::vector<std::pair<long long, std::string>> found;
    std::vector<std::string> notices;
  };
  /// Asks about all attempts, in as few calls as there can be: the queue, and its books about those
  /// that have left the queue without a sentinel.
  News ask();
  /// Whether the last question was answered; else why not.
  const std::string& trouble() const { return trouble_; }
  /// Something may still come of asking again soon: a sentinel that may take its time to appear, or
  /// an attempt that is not in the queue any more.
  bool unsettled() const { return unsettled_; }
  /// Seconds until the next question is due: soon after news, then less and less often; on trouble
  /// with growing patience. Differs a little each time, so that many benches do not ask at once.
  double seconds_to_question() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Watched {
    BatchJob job;
    /// When its absence, or its end without a sentinel, was first seen.
    std::optional<Clock::time_point> doubtful_since;
    bool running = false;
  };

  Answer ask_queue();
  bool look_after(Watched& watched, const KnownJobs& known, News& news);
  void look_up(const std::vector<Watched*>& unknown, KnownJobs& known, News& news);
  Completion conclude(const BatchJob& job, const JobReport& report,
                      const std::optional<Completion>& told) const;
  Completion conclude_unknown(const BatchJob& job, const KnownJobs& known, News& news);
  bool out_of_patience(Watched& watched);
  void notice_blocked(const Watched& watched, const JobReport& report, News& news);
  void plan_next(bool news);

  std::unique_ptr<BatchSystem> system_;
  BatchSettings settings_;
  std::map<long long, Watched> jobs_;  ///< By workpackage.
  std::set<std::string> told_;         ///< Notices that were given.
  std::set<std::string> arrived_;      ///< Submissions of arrays, of which a task has ended.
  std::string trouble_;
  bool unsettled_ = false;
  double pause_s_ = 0;
  Clock::time_point next_{};
};

}  // namespace bench::schedule
