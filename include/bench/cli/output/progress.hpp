#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/pace.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/observer.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {

/// How a run is shown while it is worked on.
struct ProgressOptions {
  bool hide_animation = false;
  bool follow = false;  ///< What the commands print, instead of the lines.
  bool waits = false;   ///< For a batch system, perhaps for days: worth a line in a pipe, too.
};

/// Prints what commands write while they run, line by line, each with the workpackage in front.
/// Where nobody reads that, they are not waited for: it is told which file has more.
class Follower {
 public:
  /// From now on follows the files that the job's commands append to, from their present ends.
  void start(const machine::Job& job);
  /// Prints what the files have gained.
  void poll();
  /// Prints the rest, also a line without an end.
  void stop(long long workpackage);

 private:
  struct Output {
    std::filesystem::path file;
    std::uintmax_t read = 0;  ///< Bytes.
    std::string line;         ///< Without its end yet.
  };

  static void print_new(long long workpackage, Output& output);

  std::map<long long, std::vector<Output>> running_;
};

/// Shows a run on the terminal: a line for each step and one for all, drawn over again, with the
/// failures above them. A step whose workpackages are all known says how long they will take. In a
/// pipe, and with `hide_animation`, only failures and notices; where bench waits for a batch
/// system, also the lines that have changed, from time to time.
class Progress : public run::Observer {
 public:
  /// @param benchmark must outlive this object
  Progress(const model::Benchmark& benchmark, const ProgressOptions& options);
  ~Progress() override;

  void progress(const std::vector<workspace::StepCounts>& counts) override;
  void failed(const workspace::Workpackage& workpackage) override;
  void repeated(const workspace::Workpackage& workpackage, const std::string& reason) override;
  void started(const machine::Job& job) override;
  void stopped(long long workpackage) override;
  void notice(const std::string& message) override;
  void warn(const Warning& warning) override;

  bool has_warned() const { return warned_; }

 private:
  using Clock = std::chrono::steady_clock;

  void draw(const std::vector<workspace::StepCounts>& counts);
  void tell_changes(const std::vector<workspace::StepCounts>& counts);
  std::string line_of(const workspace::StepCounts& step,
                      const std::vector<workspace::StepCounts>& counts, std::size_t columns) const;
  std::string line_of_all(const std::vector<workspace::StepCounts>& counts,
                          std::size_t columns) const;
  std::optional<double> left_s(const workspace::StepCounts& step,
                               const std::vector<workspace::StepCounts>& counts) const;
  bool may_grow(const model::Step& step, const std::vector<workspace::StepCounts>& counts) const;
  void erase();
  void say(const std::string& line, Level level);

  const model::Benchmark& benchmark_;
  ProgressOptions options_;
  bool animated_;
  bool warned_ = false;
  Follower follower_;
  int drawn_lines_ = 0;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point last_{};
  std::map<std::string, Pace> paces_;        ///< By step.
  std::map<std::string, std::string> told_;  ///< The line of each step.
};

/// What is said at the end of a run on a terminal: `16 of 18 done, 2 failed in 1 min 05 s; why:
/// bench why runs/000003 7`.
/// @param why the command that explains the first failure; empty: there is none
std::string run_summary(const workspace::StepCounts& sum, double elapsed_s, const std::string& why,
                        int fd);

}  // namespace bench::cli
