#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/progress.hpp>
#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::cli {
namespace {

/// A longer line is printed in pieces, so that output without lines needs no memory.
constexpr std::size_t longest_line = 64 * std::size_t{1024};

/// The line as shown; drawing it starts over.
std::string take_line(long long workpackage, std::string& line) {
  return fmt::format("[{}] {}\n", workpackage, std::exchange(line, {}));
}

/// The files that the commands of a job append to, each once.
std::vector<std::filesystem::path> outputs_of(const machine::Job& job) {
  if (job.is_batch())
    return {job.work_directory / "stdout", job.work_directory / "stderr"};
  std::vector<std::filesystem::path> outputs;
  for (const machine::Snippet& snippet : job.snippets)
    for (const auto& file : {snippet.stdout_file, snippet.stderr_file})
      if (!file.empty() && std::ranges::find(outputs, file) == outputs.end())
        outputs.push_back(file);
  return outputs;
}

/// As much of the front of a text as fits.
std::string cut_to(std::size_t columns, const std::string& text) {
  return text.substr(0, bytes_of_front(text, columns));
}

/// A name whose end tells as much as its beginning.
std::string shortened(const std::string& name, std::size_t columns) {
  constexpr std::size_t ends = 3;
  if (display_width(name) <= columns)
    return name;
  if (columns < 2 * ends + 2)
    return cut_to(columns, name);
  std::string end = name;
  while (display_width(end) > ends)
    end.erase(0, bytes_of_front(end, 1) > 0 ? bytes_of_front(end, 1) : bytes_of_front(end, 2));
  return cut_to(columns - ends - 2, name) + ".." + end;
}

/// A part of a line.
struct Part {
  std::string text;
  Colour colour = Colour::none;
};

Colour colour_of(const workspace::StepCounts& sum) {
  return sum.failed == 0 && sum.ended() == sum.all() ? Colour::green : Colour::none;
}

/// The progress of a step: `train: 9 of 60 done, 1 failed, 2 running, 48 ready, about 3 min 20 s
/// left`. A line wider than `columns` loses its states from `ready` to `running`, then the middle
/// of the name.
/// @param left the time, or empty
std::string progress_line(const std::string& name, const workspace::StepCounts& counts,
                          const std::string& left, std::size_t columns) {
  using workspace::State;
  std::vector<State> named;
  for (const State state : workspace::all_states)
    if (state != State::done && counts.of(state) > 0)
      named.push_back(state);
  const auto text_of_named = [&] {
    std::string text = fmt::format(": {} of {} done", counts.done, counts.all());
    for (const State state : named)
      text += fmt::format(", {} {}", counts.of(state), name_of(state));
    return left.empty() ? text : text + fmt::format(", about {} left", left);
  };
  std::string text = text_of_named();
  while (display_width(name) + text.size() > columns && !named.empty() &&
         named.back() != State::failed && named.back() != State::skipped) {
    named.pop_back();
    text = text_of_named();
  }
  constexpr std::size_t least = 8;
  const std::size_t room = columns - std::min(columns, text.size());
  return cut_to(columns, shortened(name, std::max(room, least)) + text);
}

/// The progress of all steps: `total: 48 ready, 2 running, elapsed 1 min 05 s, 9 of 60 done, 1
/// failed, 3 min 20 s left`, without what there is none of. Where that is wider than `columns`,
/// parts are left out from the left: what has failed and the time left stay longest.
/// @param elapsed, left times, or empty
std::string overall_line(const workspace::StepCounts& sum, const std::string& elapsed,
                         const std::string& left, std::size_t columns) {
  std::vector<Part> parts;
  using workspace::State;
  for (const State state : {State::ready, State::waiting, State::submitted, State::running})
    if (sum.of(state) > 0)
      parts.push_back({fmt::format("{} {}", sum.of(state), name_of(state))});
  if (!elapsed.empty())
    parts.push_back({"elapsed " + elapsed});
  parts.push_back({fmt::format("{} of {} done", sum.done, sum.all()), colour_of(sum)});
  if (sum.failed > 0)
    parts.push_back({fmt::format("{} failed", sum.failed), Colour::red});
  if (!left.empty())
    parts.push_back({left + " left"});
  const std::string name = "total: ";
  std::size_t width = 0;
  std::size_t first = parts.size();
  while (first > 0) {
    const std::size_t wider = width + parts[first - 1].text.size() + (width > 0 ? 2 : 0);
    if (wider > columns)
      break;
    width = wider;
    --first;
  }
  if (first == parts.size())
    return cut_to(columns, parts.back().text);
  std::string line = first == 0 && name.size() + width <= columns ? name : "";
  for (std::size_t k = first; k < parts.size(); ++k)
    line += (k > first ? ", " : "") + coloured(parts[k].text, parts[k].colour, STDERR_FILENO);
  return line;
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

void Follower::start(const machine::Job& job) {
  std::vector<Output>& followed = running_[job.workpackage];
  followed.clear();
  for (const std::filesystem::path& file : outputs_of(job)) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(file, absent);
    followed.push_back({file, absent ? 0 : size, ""});
  }
}

void Follower::poll() {
  for (auto& [workpackage, outputs] : running_)
    for (Output& output : outputs)
      print_new(workpackage, output);
}

void Follower::stop(long long workpackage) {
  const auto found = running_.find(workpackage);
  if (found == running_.end())
    return;
  for (Output& output : found->second) {
    print_new(workpackage, output);
    if (!output.line.empty())
      print(take_line(workpackage, output.line));
    if (std::error_code gone; output.read < std::filesystem::file_size(output.file, gone) && !gone)
      print(fmt::format("[{}] ... and more in {}\n", workpackage, output.file.string()));
  }
  running_.erase(found);
}

void Follower::print_new(long long workpackage, Output& output) {
  const UniqueFd file = open_regular_file(output.file);
  std::array<char, longest_line> buffer;
  while (!console().is_behind()) {
    const ssize_t count =
        ::pread(file.get(), buffer.data(), buffer.size(), static_cast<::off_t>(output.read));
    if (count <= 0)
      return;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
    output.read += text.size();
    std::string lines;
    for (const char c : text) {
      if (c == '\n' || output.line.size() == longest_line)
        lines += take_line(workpackage, output.line);
      if (c != '\n')
        output.line += c;
    }
    print(lines);
  }
}

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
                      columns);
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

std::string run_summary(const workspace::StepCounts& sum, double elapsed_s, const std::string& why,
                        int fd) {
  using workspace::State;
  std::string text =
      coloured(fmt::format("{} of {} done", sum.done, sum.all()), colour_of(sum), fd);
  if (sum.failed > 0)
    text += ", " + coloured(fmt::format("{} failed", sum.failed), Colour::red, fd);
  if (sum.skipped > 0)
    text += fmt::format(", {} skipped", sum.skipped);
  for (const State state : {State::running, State::submitted, State::waiting, State::ready})
    if (sum.of(state) > 0)
      text += fmt::format(", {} {}", sum.of(state), name_of(state));
  text += " in " + human_duration(elapsed_s);
  return why.empty() ? text : text + "; why: " + with_visible_controls(why);
}

}  // namespace bench::cli
