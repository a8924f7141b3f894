#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/pace.hpp>
#include <bench/cli/output/follower.hpp>
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

}  // namespace bench::cli
