#pragma once

#include "follower.hpp"
#include "log_file.hpp"

#include <atomic>
#include <chrono>
#include <string>

#include <bench/engine/loop.hpp>

namespace bench::cli {

/// Shows a run on the terminal: one line that is drawn over again, with the failures above it. In a
/// pipe, and with `--hide-animation`, only the failures and notices. With `follow`, what the
/// commands print instead of the line.
class Progress : public engine::Observer {
 public:
  Progress(bool hide_animation, bool follow);
  ~Progress() override;

  void progress(const std::vector<workspace::StepCounts>& counts) override;
  void failed(const workspace::Workpackage& workpackage) override;
  void started(const schedule::Job& job) override;
  void stopped(long long workpackage) override;
  void notice(const std::string& message) override;

 private:
  using Clock = std::chrono::steady_clock;

  void erase();
  void say(const std::string& line, Level level);

  bool animated_;
  bool follow_;
  Follower follower_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

/// Makes SIGINT, SIGTERM and SIGHUP ask the loop to end in order instead of ending this process;
/// a second SIGINT ends it at once.
const std::atomic<bool>& catch_interruptions();

}  // namespace bench::cli
