#include "progress.hpp"

#include "output.hpp"

#include <cstdio>

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>

namespace bench::cli {
namespace {

std::atomic<bool> interrupted{false};

void note_interruption(int signal) {
  interrupted = true;
  if (signal == SIGINT) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(SIGINT, &action, nullptr);
  }
}

/// How many of the step are where.
std::string counts_text(const workspace::StepCounts& step) {
  return fmt::format("{}: {} all, {} pending, {} running, {} done, {} failed", step.step,
                     step.all(), step.ready + step.submitted + step.pending, step.running,
                     step.done, step.failed);
}

}  // namespace

Progress::Progress(const ProgressOptions& options)
    : options_(options),
      animated_(!options.hide_animation && !options.follow && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  erase();
}

void Progress::progress(const std::vector<workspace::StepCounts>& counts) {
  follower_.look();
  for (const workspace::StepCounts& step : counts)
    ended_at_start_.try_emplace(step.step, step.done + step.failed);
  constexpr auto frame = std::chrono::milliseconds(100);
  constexpr auto between_lines = std::chrono::seconds(10);
  const auto now = Clock::now();
  const bool in_a_pipe = options_.waits && !options_.follow && !animated_;
  if ((!animated_ && !in_a_pipe) || now - last_ < (animated_ ? frame : between_lines))
    return;
  last_ = now;
  if (animated_)
    draw(counts);
  else
    tell_changes(counts);
}

/// At the rate so far; empty: nothing tells.
std::string Progress::time_left(const workspace::StepCounts& step) const {
  const long long ended = step.done + step.failed;
  const long long ended_here = ended - ended_at_start_.at(step.step);
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count();
  const double left_s = ended_here == 0 ? 0
                                        : elapsed_s / static_cast<double>(ended_here) *
                                              static_cast<double>(step.all() - ended);
  return left_s < 1 ? "" : fmt::format(", about {} left", human_duration(left_s));
}

void Progress::draw(const std::vector<workspace::StepCounts>& counts) {
  erase();
  std::string lines;
  for (const workspace::StepCounts& step : counts)
    if (step.all() > 0) {
      lines += "\x1b[K" + counts_text(step) + time_left(step) + "\n";
      ++drawn_lines_;
    }
  fmt::print(stderr, "{}", lines);
  std::fflush(stderr);
}

void Progress::tell_changes(const std::vector<workspace::StepCounts>& counts) {
  for (const workspace::StepCounts& step : counts) {
    const std::string counted = counts_text(step);
    std::string& told = told_[step.step];
    if (step.all() > 0 && counted != told) {
      tell(counted + time_left(step));
      told = counted;
    }
  }
}

void Progress::erase() {
  if (drawn_lines_ > 0)
    fmt::print(stderr, "\x1b[{}A\x1b[J", drawn_lines_);
  drawn_lines_ = 0;
}

void Progress::say(const std::string& line, Level level) {
  erase();
  tell(line, level);
  last_ = {};
}

void Progress::failed(const workspace::Workpackage& workpackage) {
  say(fmt::format("workpackage {} ({}) failed: {}", workpackage.id, workpackage.step,
                  workpackage.reason),
      Level::error);
}

void Progress::repeated(const workspace::Workpackage& workpackage, const std::string& reason) {
  say(fmt::format("workpackage {} ({}) is made again: {}", workpackage.id, workpackage.step,
                  reason),
      Level::warning);
}

void Progress::started(const schedule::Job& job) {
  if (options_.follow)
    follower_.start(job);
}

void Progress::stopped(long long workpackage) {
  follower_.stop(workpackage);
}

void Progress::notice(const std::string& message) {
  say("note: " + message, Level::info);
}

const std::atomic<bool>& catch_interruptions() {
  struct sigaction action {};
  action.sa_handler = note_interruption;
  // Without SA_RESTART: the loop's poll shall return.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaction(signal, &action, nullptr);
  return interrupted;
}

}  // namespace bench::cli
