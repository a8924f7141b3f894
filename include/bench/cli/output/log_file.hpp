#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/unique_fd.hpp>

namespace bench::cli {

enum class Level { info, warning, error };

/// What one call of bench leaves in the log files of the runs that it works on: lines
/// `[YYYY-MM-DD HH:MM:SS,mmm]:LEVEL: text`, appended to `<run>/<command>.log`. Nothing is logged
/// where the user may not write, and a log that cannot be written never stops the work.
class CommandLog {
 public:
  /// The arguments of the call, for the first line of every log.
  void set_command(const std::vector<std::string>& arguments);
  /// Log on the console, too.
  void set_verbose() { verbose_ = true; }

  /// From here on lines are kept back: the input is being read, and has no run yet.
  /// @param earlier what `parsed` gave where this goes on with an input that was read before
  void begin_parsing(std::string earlier = "");
  /// The lines that were kept back.
  const std::string& parsed() const { return parsed_; }
  /// Writes `parse.log` of a run that came out of that; may be called for several.
  void write_parse_log(const std::filesystem::path& run_directory);

  /// Ends the log of another run, if any, and goes on in `<run>/<name>.log`.
  void open(const std::filesystem::path& run_directory, const std::string& name);
  void add(Level level, std::string_view text);
  /// `add` of what is on the console already.
  void add_told(Level level, std::string_view text);
  /// Writes the last line.
  void close(int exit_code);

 private:
  using Clock = std::chrono::steady_clock;

  std::string command_;
  bool verbose_ = false;
  bool parsing_ = false;
  std::string parsed_;  ///< The lines of `parse.log`.
  UniqueFd file_;
  Clock::time_point opened_;
};

/// The log of this call.
CommandLog& command_log();

/// The names of log files, without `.log`, in the order in which they are shown.
const std::vector<std::string>& log_names();

}  // namespace bench::cli
