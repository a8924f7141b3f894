#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/command_reader.hpp>

namespace bench::energy {
namespace {

/// What is taken at most at a time, so that a command that prints without end holds nobody up.
constexpr std::size_t most_at_once = 65536;
constexpr std::chrono::milliseconds first_read_interval{5};

/// Runs its arguments beside a process that waits for the end of standard input, which comes when
/// the meter ends, however that is, and then kills the group of both. That process is not the
/// command's child: a command may wait for all of its own.
constexpr const char* run_while_meter_lives =
    "exec 3<&0 < /dev/null; "
    "( ( read -r line <&3; kill -KILL 0 ) > /dev/null 2>&1 & ); "
    "exec \"$@\" 3<&-";

std::chrono::nanoseconds duration_of(double s) {
  return std::chrono::nanoseconds(static_cast<long long>(s * 1e9));
}

std::string no_answer(double patience_s) {
  return fmt::format("no reading within {} s", patience_s);
}

bool is_readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, 0) > 0;
}

}  // namespace

CommandReader::CommandReader(CommandSettings settings) : settings_(std::move(settings)) {}

void CommandReader::wait_for_first() {
  const double patience_s = std::min(settings_.patience_s, settings_.start_patience_s);
  const auto deadline = Clock::now() + duration_of(patience_s);
  for (;;) {
    advance();
    if (reading_time_)
      return;
    if (!failure_.empty())
      throw Error(Id::program_failed, failure_);
    if (Clock::now() >= deadline)
      throw Error(Id::program_failed, no_answer(patience_s));
    std::this_thread::sleep_for(first_read_interval);
  }
}

std::optional<std::string> CommandReader::latest(std::string& failure) {
  advance();
  if (reading_time_ && Clock::now() - *reading_time_ <= duration_of(settings_.patience_s))
    return reading_;
  failure = failure_.empty() ? no_answer(settings_.patience_s) : failure_;
  return std::nullopt;
}

void CommandReader::advance() {
  const auto now = Clock::now();
  if (process_) {
    // Looked at before the pipe: what a command prints before it ends is then there to be read.
    const bool ended = is_readable(process_->pidfd());
    drain(now);
    if (ended)
      finish(now);
    else if (now - last_sign_ > duration_of(settings_.patience_s)) {
      failure_ = no_answer(settings_.patience_s);
      process_.reset();
    }
  }
  if (!process_ && (!start_ || now - *start_ >= duration_of(settings_.interval_s)))
    start(now);
}

void CommandReader::start(Clock::time_point now) {
  start_ = now;
  last_sign_ = now;
  pending_.clear();
  said_.clear();
  try {
    if (find_program(settings_.arguments[0]).empty())
      throw Error(Id::missing_program,
                  fmt::format("cannot start '{}': not found on PATH", settings_.arguments[0]));
    std::vector<std::string> arguments{"/bin/sh", "-c", run_while_meter_lives, "sh"};
    std::ranges::copy(settings_.arguments, std::back_inserter(arguments));
    auto [output, output_end] = make_pipe();
    auto [life, life_end] = make_pipe();
    ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
    process_.emplace(ProcessSpec{.arguments = std::move(arguments),
                                 .stdin_fd = life.get(),
                                 .stdout_fd = output_end.get(),
                                 .stderr_fd = output_end.get()});
    output_ = std::move(output);
    life_ = std::move(life_end);
  } catch (const Error& error) {
    failure_ = error.message();
  }
}

void CommandReader::drain(Clock::time_point now) {
  std::array<char, 4096> buffer;
  for (std::size_t taken = 0; taken < most_at_once;) {
    const auto count = ::read(output_.get(), buffer.data(), buffer.size());
    if (count <= 0)
      break;
    taken += static_cast<std::size_t>(count);
    pending_.append(buffer.data(), static_cast<std::size_t>(count));
    last_sign_ = now;
    take_lines(now);
  }
  if (pending_.size() > most_at_once)
    pending_.clear();
}

void CommandReader::take_lines(Clock::time_point now) {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = pending_.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    take_line(std::string_view(pending_).substr(begin, end - begin), now);
  pending_.erase(0, begin);
}

void CommandReader::take_line(std::string_view line, Clock::time_point now) {
  if (strip(line).empty())
    return;
  if (!settings_.is_reading(line)) {
    said_ = strip(line);
    return;
  }
  reading_ = line;
  reading_time_ = now;
}

void CommandReader::finish(Clock::time_point now) {
  take_line(std::exchange(pending_, ""), now);
  process_->signal_group(SIGKILL);  // before it is reaped: its number is not yet another's
  const std::string failure = reason(process_->wait());
  failure_ = reading_time_ && *reading_time_ >= *start_ ? "" : failure;
  process_.reset();
}

std::string CommandReader::reason(const ExitStatus& status) const {
  if (!status.success())
    return status.description() + (said_.empty() ? "" : ": " + said_);
  return fmt::format("it printed {}, not {}", said_.empty() ? "nothing" : "'" + said_ + "'",
                     settings_.expected);
}

}  // namespace bench::energy
