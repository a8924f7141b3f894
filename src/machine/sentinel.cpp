#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/sentinel.hpp>

namespace bench::machine {
namespace {

constexpr std::string_view node_word = "node ";
constexpr std::string_view failed_word = " failed: ";

/// Removes the last line that is not blank, with all that follows, from the text and returns it.
std::string_view take_last_line(std::string_view& text) {
  text = strip(text);
  const auto newline = text.find_last_of("\r\n");
  const std::string_view line = strip(text.substr(newline == text.npos ? 0 : newline + 1));
  text = text.substr(0, newline == text.npos ? 0 : newline);
  return line;
}

/// The same, without the lines of the meter.
std::string_view take_last_word(std::string_view& text) {
  std::string_view line = take_last_line(text);
  while (line.starts_with("bench-energy: "))
    line = take_last_line(text);
  return line;
}

/// The form in which bench, its meter, compilers and many other programs print errors.
bool is_error(std::string_view line) {
  return line.starts_with("error: ") || line.find(": error: ") != line.npos;
}

/// The end by the time that has passed on the node since the start: its clock may have been set
/// meanwhile. That time has hundredths of a second, so the clock's difference counts if it agrees.
std::optional<double> end_unix_s(const std::map<std::string, std::string>& values) {
  constexpr double agreement_s = 0.03;
  const auto number = [&](const char* name) {
    const auto value = values.find(name);
    return value == values.end() ? std::nullopt : parse_number(value->second);
  };
  const auto started = number("started_unix_s");
  const auto ended = number("ended_unix_s");
  const auto started_uptime = number("started_uptime_s");
  const auto ended_uptime = number("ended_uptime_s");
  if (!started || !ended || !started_uptime || !ended_uptime)
    return ended;
  const double passed_s = *ended_uptime - *started_uptime;
  return std::fabs(*ended - *started - passed_s) <= agreement_s ? *ended : *started + passed_s;
}

/// Of one attempt: later ones may run in the same directory.
std::filesystem::path cancellation_note(const Job& job) {
  return job.directory / ("cancelled." + job.uuid);
}

/// Copies one thing that lies in a directory; a directory with all that is in it. Nothing takes the
/// place of a link.
void copy_over(const std::filesystem::path& source, const std::filesystem::path& target,
               std::error_code& failure) {
  namespace fs = std::filesystem;
  std::error_code absent;
  if (fs::is_symlink(fs::symlink_status(target, absent)))
    return;
  const fs::file_status status = fs::symlink_status(source, failure);
  if (failure)
    return;
  if (fs::is_symlink(status)) {
    fs::copy_symlink(source, target, failure);
  } else if (fs::is_regular_file(status)) {
    fs::copy_file(source, target, fs::copy_options::overwrite_existing, failure);
  } else if (fs::is_directory(status)) {
    fs::create_directory(target, failure);
    for (fs::directory_iterator entry(source, failure); !failure && entry != fs::end(entry);
         entry.increment(failure)) {
      copy_over(entry->path(), target / entry->path().filename(), failure);
      if (failure)
        return;
    }
  }
}

}  // namespace

std::optional<Sentinel> read_sentinel(const std::filesystem::path& file) {
  if (!is_there(file))
    return std::nullopt;
  std::map<std::string, std::string> values;
  for (const std::string& line : split(read_file(file), "\n"))
    if (const auto equals = line.find('='); equals != std::string::npos)
      values[line.substr(0, equals)] = line.substr(equals + 1);
  if (values["attempt"].empty())
    return std::nullopt;
  std::optional<int> exit_code;
  if (const auto code = parse_integer(values["exit_code"]))
    exit_code = static_cast<int>(*code);
  return Sentinel{.attempt = values["attempt"],
                  .job_id = values["job_id"],
                  .exit_code = exit_code,
                  .started_unix_s = parse_number(values["started_unix_s"]),
                  .ended_unix_s = end_unix_s(values),
                  .host = values["host"],
                  .nodes = values["nodes"]};
}

std::optional<Completion> completion_from_sentinel(const Job& job) {
  const auto sentinel = read_sentinel(job.sentinel);
  if (!sentinel || !sentinel->exit_code || sentinel->attempt != job.uuid)
    return std::nullopt;
  Completion completion;
  completion.workpackage = job.workpackage;
  completion.outcome = sentinel->exit_code == 0 ? Outcome::done : Outcome::failed;
  completion.exit_code = sentinel->exit_code;
  completion.host = sentinel->host;
  completion.started_unix_s = sentinel->started_unix_s;
  completion.ended_unix_s = sentinel->ended_unix_s;
  if (job.keep_environment)
    completion.environment = take_environment(job.directory);
  if (!completion.success()) {
    completion.reason = fmt::format("exit code {}", *sentinel->exit_code);
    const std::string said = last_line(job.work_directory / "stderr");
    if (!said.empty())
      completion.reason += ": " + said;
  }
  return completion;
}

void note_cancellation(const Job& job) {
  const UniqueFd empty(
      ::open(cancellation_note(job).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

bool was_cancelled(const Job& job) {
  return is_there(cancellation_note(job));
}

bool was_restarted(const Job& job) {
  return is_there(job.directory / ("restarted." + job.uuid));
}

bool collect_attempt(const Job& job, const std::filesystem::path& former) {
  const std::filesystem::path name = job.sentinel.filename();
  const auto left = read_sentinel(former / name);
  if (!left || left->attempt != job.uuid)
    return false;
  const std::string sentinel = read_file(former / name);
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(former, failure);
       !failure && entry != std::filesystem::end(entry); entry.increment(failure)) {
    if (entry->path().filename() != name)
      copy_over(entry->path(), job.directory / entry->path().filename(), failure);
    if (failure)
      break;
  }
  if (failure)
    throw Error::of_system(
        fmt::format("cannot copy {} to {}", former.string(), job.directory.string()),
        failure.value());
  write_file_atomically(job.sentinel, sentinel);
  return true;
}

std::string tail_of(const std::filesystem::path& file, std::size_t bytes) {
  const UniqueFd fd = open_regular_file(file);  // a command may have put a pipe in its place
  const ::off_t size = fd.valid() ? std::max<::off_t>(0, ::lseek(fd.get(), 0, SEEK_END)) : 0;
  std::string tail(std::min(static_cast<std::size_t>(size), bytes), '\0');
  const auto count =
      ::pread(fd.get(), tail.data(), tail.size(), size - static_cast<::off_t>(tail.size()));
  tail.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  return tail;
}

std::string last_line(const std::filesystem::path& file, std::size_t limit) {
  const std::string tail = tail_of(file, 4096);
  std::string_view text = tail;
  std::string_view line = take_last_word(text);
  if (line.starts_with("hint: "))
    for (std::string_view above = text; !above.empty();)
      if (const std::string_view word = take_last_word(above); is_error(word)) {
        line = word;
        break;
      }
  std::size_t length = std::min(limit, line.size());
  while (length < line.size() && length > 0 && (line[length] & 0xC0) == 0x80)
    --length;  // not into a letter of several bytes
  return to_valid_utf8(line.substr(0, length));
}

bool may_be_fault_of_node(Outcome outcome) {
  return outcome == Outcome::node_fail || outcome == Outcome::boot_fail ||
         outcome == Outcome::launch_failure;
}

std::string reason_with_node(const std::string& node, const std::string& reason) {
  return fmt::format("{}{}{}{}", node_word, node, failed_word, reason);
}

std::string node_in_reason(std::string_view reason) {
  if (!reason.starts_with(node_word))
    return "";
  reason.remove_prefix(node_word.size());
  const auto end = reason.find(' ');
  return end != std::string_view::npos && reason.substr(end).starts_with(failed_word)
             ? std::string(reason.substr(0, end))
             : "";
}

}  // namespace bench::machine
