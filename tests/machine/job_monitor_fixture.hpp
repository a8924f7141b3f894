#pragma once

#include "machine/slurm.hpp"
#include "support/temp_directory.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/machine/job_monitor.hpp>

namespace bench::machine {

/// What a batch system will answer, and what it was asked.
struct Script {
  QueryResult queue;
  QueryResult accounting;
  std::vector<std::vector<std::string>> asked;
  std::vector<std::vector<std::string>> looked_up;
  int asked_for_all = 0;
};

/// A batch system that says what a test has put into its mouth.
class ScriptedSystem : public BatchSystem {
 public:
  explicit ScriptedSystem(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  std::string name() const override { return "Scripted"; }
  SubmitResult submit(const Submission&) override { return {}; }
  QueryResult ask(const std::vector<std::string>& ids) override {
    script_->asked.push_back(ids);
    return script_->queue;
  }
  std::optional<Outcome> end_told_in(const std::filesystem::path& file,
                                     std::string_view job) const override {
    return ended_by_slurmstepd(file, job);
  }
  QueryResult ask_for_all() override {
    ++script_->asked_for_all;
    return script_->queue;
  }
  QueryResult query_accounting(const std::vector<std::string>& ids) override {
    script_->looked_up.push_back(ids);
    return script_->accounting;
  }
  std::string cancel(const std::vector<std::string>&) override { return ""; }
  int max_array_size() override { return 1000; }

 private:
  std::shared_ptr<Script> script_;
};

/// What a job may have left in its directory.
enum class Left { nothing, begun, success, failure };

/// What the system says of job `100`, with `sub` in its comment.
inline JobReport report(JobReport::State state, const std::string& word = "",
                        Outcome outcome = Outcome::done) {
  JobReport report;
  report.id = "100";
  report.comment = "sub";
  report.name = "bench-sub";
  report.state = state;
  report.word = word;
  report.outcome = outcome;
  return report;
}

inline JobReport task(int number, JobReport::State state) {
  JobReport one = report(state);
  one.id += "_" + std::to_string(number);
  one.task = number;
  return one;
}

/// Attempts in a directory of their own, and a queue that looks after them.
class BatchFixture : public testing::Test {
 protected:
  /// An attempt whose job, `100` or a task of it, stands in the comment as `sub`.
  BatchJob job(long long workpackage = 7, const std::string& id = "100",
               std::optional<int> task = std::nullopt) const {
    BatchJob job;
    job.job.workpackage = workpackage;
    job.job.uuid = "attempt-" + std::to_string(workpackage);
    job.job.directory = directory_.path() / std::to_string(workpackage);
    job.job.work_directory = job.job.directory / "work";
    job.job.sentinel = job.job.directory / "sentinel";
    job.submission = "sub";
    job.name = "bench-sub";
    job.id = id;
    job.task = task;
    return job;
  }

  void leave(const BatchJob& job, Left left) const {
    if (left == Left::nothing)
      return;
    std::string text = "attempt=" + job.job.uuid + "\nhost=node1\nstarted_unix_s=10\n";
    if (left != Left::begun)
      text += left == Left::success ? "ended_unix_s=12\nexit_code=0\n"
                                    : "ended_unix_s=12\nexit_code=3\n";
    directory_.write(std::to_string(job.job.workpackage) + "/sentinel", text);
  }

  JobMonitor monitor_with(const Polling& polling) {
    return {std::make_unique<ScriptedSystem>(script_), polling, [this] { return now_; }};
  }
  void pass(std::chrono::milliseconds time) { now_ += time; }

  support::TempDirectory directory_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  JobMonitor::Clock::time_point now_{std::chrono::hours(1)};
  /// Asks with each update, and waits for no sentinel.
  JobMonitor monitor_ =
      monitor_with({.interval_s = 0, .jobs_per_question = 2, .sentinel_grace_s = 0});
  /// Waits for sentinels as long as it takes.
  JobMonitor patient_ = monitor_with({.interval_s = 0, .sentinel_grace_s = 3600});
};

}  // namespace bench::machine
