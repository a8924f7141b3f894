#include "progress.hpp"

#include "console.hpp"
#include "output.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>

namespace bench::cli {
namespace {

/// What shells add to the number of a signal that ended a program.
constexpr int signal_exit_code = 128;

std::atomic<bool> interrupted{false};
std::atomic<int> interrupted_by{0};

void set_action(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // without SA_RESTART: the loop's poll shall return
  sigaction(signal, &action, nullptr);
}

void note_interruption(int signal) {
  interrupted_by = signal;
  interrupted = true;
  if (signal == SIGINT)
    set_action(SIGINT, SIG_DFL);
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Rows and columns of the terminal; the usual ones where it does not tell.
winsize terminal_size() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  return size;
}

bool has_ended(const workspace::StepCounts& step) {
  return step.done + step.failed == step.all();
}

/// As much of a line as fits; one that wraps could not be drawn over.
std::string cut_to(std::size_t columns, std::string line) {
  while (display_width(line) > columns) {
    while ((line.back() & 0xC0) == 0x80)
      line.pop_back();
    line.pop_back();
  }
  return line;
}

/// How many of the step are where.
std::string counts_text(const workspace::StepCounts& step) {
  return fmt::format("{}: {} all, {} pending, {} running, {} done, {} failed", step.step,
                     step.all(), step.ready + step.submitted + step.pending, step.running,
                     step.done, step.failed);
}

}  // namespace

Progress::Progress(const model::Benchmark& benchmark, const ProgressOptions& options)
    : benchmark_(benchmark),
      options_(options),
      animated_(!options.hide_animation && !options.follow && ::isatty(STDERR_FILENO) == 1) {
  console().keep_what_does_not_fit();
}

Progress::~Progress() {
  erase();
  console().flush();
}

void Progress::progress(const std::vector<workspace::StepCounts>& counts) {
  console().advance();
  follower_.look();
  for (const workspace::StepCounts& step : counts)
    paces_[step.step].note(seconds_now(), step.done + step.failed, step.running);
  constexpr auto frame = std::chrono::milliseconds(100);
  constexpr auto between_lines = std::chrono::seconds(10);
  const auto now = Clock::now();
  const bool in_a_pipe = options_.waits && !options_.follow && !animated_;
  if (console().is_behind() || (!animated_ && !in_a_pipe) ||
      now - last_ < (animated_ ? frame : between_lines))
    return;
  last_ = now;
  if (animated_)
    draw(counts);
  else
    tell_changes(counts);
}

/// Whether further workpackages may come into being: those of steps before it have not all ended.
bool Progress::may_grow(const model::Step& step,
                        const std::vector<workspace::StepCounts>& counts) const {
  return std::ranges::any_of(step.depend, [&](const std::string& name) {
    const auto parent = std::ranges::find(counts, name, &workspace::StepCounts::step);
    return (parent != counts.end() && !has_ended(*parent)) ||
           may_grow(*benchmark_.step(name), counts);
  });
}

/// At the pace so far; empty: nothing tells.
std::string Progress::time_left(const workspace::StepCounts& step) const {
  const auto left_s =
      paces_.at(step.step).left_s(seconds_now(), step.all() - step.done - step.failed);
  return !left_s || *left_s < 1 ? "" : fmt::format(", about {} left", human_duration(*left_s));
}

std::string Progress::line_of(const workspace::StepCounts& step,
                              const std::vector<workspace::StepCounts>& counts) const {
  const bool silent = has_ended(step) || may_grow(*benchmark_.step(step.step), counts);
  return counts_text(step) + (silent ? "" : time_left(step));
}

void Progress::draw(const std::vector<workspace::StepCounts>& counts) {
  erase();
  const winsize size = terminal_size();
  const auto visible =
      std::ranges::count_if(counts, [](const auto& step) { return step.all() > 0; });
  const bool too_many = visible >= size.ws_row;
  std::string lines;
  for (const workspace::StepCounts& step : counts)
    if (step.all() > 0 && !(too_many && has_ended(step)) && drawn_lines_ + 1 < size.ws_row) {
      lines += "\x1b[K" + cut_to(size.ws_col - 1U, line_of(step, counts)) + "\n";
      ++drawn_lines_;
    }
  console().write(STDERR_FILENO, lines);
}

void Progress::tell_changes(const std::vector<workspace::StepCounts>& counts) {
  for (const workspace::StepCounts& step : counts) {
    const std::string counted = counts_text(step);
    std::string& told = told_[step.step];
    if (step.all() > 0 && counted != told) {
      tell(line_of(step, counts));
      told = counted;
    }
  }
}

void Progress::erase() {
  if (drawn_lines_ > 0)
    console().write(STDERR_FILENO, fmt::format("\x1b[{}A\x1b[J", drawn_lines_));
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
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal))
      set_action(signal, note_interruption);
  return interrupted;
}

int interruption_code() {
  return signal_exit_code + interrupted_by;
}

bool is_interruption_code(int code) {
  return code > signal_exit_code;
}

void end_by_signal(int code) {
  if (!is_interruption_code(code))
    return;
  std::fflush(nullptr);
  set_action(code - signal_exit_code, SIG_DFL);
  ::raise(code - signal_exit_code);
}

}  // namespace bench::cli
