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

}  // namespace

Progress::Progress(bool hide_animation, bool follow)
    : animated_(!hide_animation && !follow && ::isatty(STDERR_FILENO) == 1), follow_(follow) {}

Progress::~Progress() {
  erase();
}

void Progress::progress(const std::vector<workspace::StepCounts>& counts) {
  follower_.look();
  constexpr auto at_most_every = std::chrono::milliseconds(100);
  const auto now = Clock::now();
  if (!animated_ || now - last_ < at_most_every)
    return;
  last_ = now;
  std::string line;
  for (const workspace::StepCounts& step : counts) {
    line += fmt::format("{} {}/{}", step.step, step.done, step.all());
    if (step.running + step.submitted + step.pending > 0)
      line += fmt::format(", {} running", step.running + step.submitted + step.pending);
    if (step.failed > 0)
      line += fmt::format(", {} failed", step.failed);
    line += "  ";
  }
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "\r\x1b[K{}{}", line, human_duration(seconds));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::erase() {
  if (drawn_)
    fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
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

void Progress::started(const schedule::Job& job) {
  if (follow_)
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
