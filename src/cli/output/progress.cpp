#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/progress.hpp>
#include <bench/cli/output/progress_line.hpp>
#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {
namespace {

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
  return step.ended() == step.all();
}

/// The line of a step on a terminal.
std::string with_coloured_failures(const std::string& line, const workspace::StepCounts& step) {
  const std::string failures = fmt::format("{} failed", step.failed);
  const auto at = line.rfind(failures);
  if (step.failed == 0 || at == std::string::npos)
    return with_visible_controls(line);
  return with_visible_controls(line.substr(0, at)) +
         coloured(failures, Colour::red, STDERR_FILENO) +
         with_visible_controls(line.substr(at + failures.size()));
}

}  // namespace

Progress::Progress(const model::Benchmark& benchmark, const ProgressOptions& options)
    : benchmark_(benchmark),
      options_(options),
      animated_(!options.hide_animation && !options.follow && can_draw_over(STDERR_FILENO)) {
  console().keep_what_does_not_fit();
}

Progress::~Progress() {
  erase();
  console().flush();
}

void Progress::progress(const std::vector<workspace::StepCounts>& counts) {
  console().advance();
  follower_.poll();
  for (const workspace::StepCounts& step : counts)
    paces_[step.step].note(seconds_now(), step.ended(), step.running);
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

/// At the pace so far; none: nothing tells.
std::optional<double> Progress::left_s(const workspace::StepCounts& step,
                                       const std::vector<workspace::StepCounts>& counts) const {
  if (has_ended(step))
    return 0;
  if (may_grow(*benchmark_.step(step.step), counts))
    return std::nullopt;
  return paces_.at(step.step).left_s(seconds_now(), step.all() - step.ended());
}

std::string Progress::line_of(const workspace::StepCounts& step,
                              const std::vector<workspace::StepCounts>& counts,
                              std::size_t columns) const {
  const std::optional<double> left = left_s(step, counts);
  return progress_line(step.step, step, left && *left >= 1 ? human_duration(*left) : "", columns);
}

/// Of all steps together. They mostly run one after the other, so that their times add up.
std::string Progress::line_of_all(const std::vector<workspace::StepCounts>& counts,
                                  std::size_t columns) const {
  std::optional<double> left = 0;
  for (const workspace::StepCounts& step : counts) {
    const std::optional<double> own = step.all() > 0 ? left_s(step, counts) : std::nullopt;
    left = left && own ? std::optional(*left + *own) : std::nullopt;
  }
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begun_).count();
  const auto text_of = [](double seconds) {
    return seconds >= 1 ? human_duration(seconds) : std::string();
  };
  return overall_line(workspace::sum_of(counts), text_of(elapsed_s), text_of(left.value_or(0)),
                      columns, STDERR_FILENO);
}

void Progress::draw(const std::vector<workspace::StepCounts>& counts) {
  erase();
  const winsize size = terminal_size();
  const std::size_t columns = size.ws_col - 1U;  // one that wraps could not be drawn over
  const auto visible =
      std::ranges::count_if(counts, [](const auto& step) { return step.all() > 0; });
  const bool too_many = visible + 1 >= size.ws_row;
  std::string lines;
  const auto add = [&](const std::string& line) {
    lines += "\x1b[K" + line + "\n";
    ++drawn_lines_;
  };
  for (const workspace::StepCounts& step : counts)
    if (step.all() > 0 && !(too_many && has_ended(step)) && drawn_lines_ + 2 < size.ws_row)
      add(with_coloured_failures(line_of(step, counts, columns), step));
  add(line_of_all(counts, columns));
  console().write(STDERR_FILENO, lines);
}

void Progress::tell_changes(const std::vector<workspace::StepCounts>& counts) {
  constexpr std::size_t any_width = 1000;
  for (const workspace::StepCounts& step : counts) {
    const std::string counted = progress_line(step.step, step, "", any_width);
    std::string& told = told_[step.step];
    if (step.all() > 0 && counted != told) {
      tell(line_of(step, counts, any_width));
      told = counted;
    }
  }
}

void Progress::erase() {
  // The terminal has written ^C behind the lines where the user has typed it.
  if (drawn_lines_ > 0)
    console().write(STDERR_FILENO, fmt::format("\r\x1b[{}A\x1b[J", drawn_lines_));
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
  say(fmt::format("workpackage {} ({}) is retried: {}", workpackage.id, workpackage.step, reason),
      Level::warning);
}

void Progress::started(const machine::Job& job) {
  if (options_.follow)
    follower_.start(job);
}

void Progress::stopped(long long workpackage) {
  follower_.stop(workpackage);
}

void Progress::notice(const std::string& message) {
  say("note: " + message, Level::info);
}

void Progress::warn(const Warning& warning) {
  warned_ = true;
  say(render(Severity::warning, warning.message, warning.hint, warning.place), Level::warning);
}

}  // namespace bench::cli
