#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/cli/output/log_file.hpp>
#include <bench/cli/output/output.hpp>

namespace bench::cli {
namespace {

const char* word_of(Level level) {
  switch (level) {
    case Level::info:
      return "INFO";
    case Level::warning:
      return "WARNING";
    case Level::error:
      break;
  }
  return "ERROR";
}

/// Every line of the text with the time and the level in front.
std::string log_lines(Level level, std::string_view text) {
  const auto now = std::chrono::system_clock::now();
  const auto since_1970 =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const std::string head =
      fmt::format("[{},{:03}]:{}: ", local_time(now), since_1970.count() % 1000, word_of(level));
  std::string lines;
  for (const std::string& line : split(text, "\n"))
    lines += head + line + "\n";
  return lines;
}

void append(const UniqueFd& file, std::string_view text) {
  while (file.valid() && !text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written <= 0)
      return;  // a full disk costs the log, not the run
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

UniqueFd open_log(const std::filesystem::path& run_directory, const std::string& name) {
  const std::filesystem::path file = run_directory / (name + ".log");
  // Neither through a link nor into a pipe, which would wait for a reader.
  return UniqueFd(::open(
      file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
}

}  // namespace

void CommandLog::set_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"bench"};
  for (const std::string& argument : arguments)
    words.push_back(shell_quote(argument));
  command_ = replace_all(join(words, " "), "\n", " ");
}

void CommandLog::begin_parsing(std::string earlier) {
  close(0);
  parsing_ = true;
  parsed_ = earlier.empty() ? log_lines(Level::info, "command: " + command_) : std::move(earlier);
}

void CommandLog::write_parse_log(const std::filesystem::path& run_directory) {
  append(open_log(run_directory, "parse"), parsed_);
}

void CommandLog::open(const std::filesystem::path& run_directory, const std::string& name) {
  close(0);
  parsing_ = false;
  file_ = open_log(run_directory, name);
  opened_ = Clock::now();
  add(Level::info, "command: " + command_);
}

void CommandLog::add(Level level, std::string_view text) {
  add_told(level, text);
  if (verbose_)
    show_log_lines(log_lines(level, text));
}

void CommandLog::add_told(Level level, std::string_view text) {
  if (parsing_)
    parsed_ += log_lines(level, text);
  else
    append(file_, log_lines(level, text));
}

void CommandLog::close(int exit_code) {
  if (!file_.valid())
    return;
  const double seconds = std::chrono::duration<double>(Clock::now() - opened_).count();
  add(exit_code == 0 ? Level::info : Level::error,
      fmt::format("end: exit code {}, after {}", exit_code, human_duration(seconds)));
  file_ = UniqueFd();
}

CommandLog& command_log() {
  static CommandLog log;
  return log;
}

const std::vector<std::string>& log_names() {
  static const std::vector<std::string> names{"parse", "run", "continue", "analyse", "result"};
  return names;
}

}  // namespace bench::cli
