#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/ticks.hpp>

namespace bench::energy {

/// Which command a `CommandReader` runs, and which of its lines count.
struct CommandSettings {
  std::vector<std::string> arguments;
  double interval_s = 1;   ///< From one start to the next, for a command that ends.
  double patience_s = 10;  ///< A reading counts for this long; a command as long silent is killed.
  double start_patience_s = 8;  ///< For the first reading, while the measured program waits.
  std::function<bool(std::string_view line)> is_reading;
  std::string expected;  ///< What `is_reading` looks for, for messages: `a number of watts`.
};

/// The latest reading that a command has printed, one per line, without ever waiting for it.
///
/// A command that ends is started again and again; one that goes on and prints a line per reading
/// is left running. It is given no input, and its whole process group is killed when it ends, when
/// it is silent for too long, and with this object or this process, however that ends.
class CommandReader {
 public:
  explicit CommandReader(CommandSettings settings);

  /// Starts the command and waits for its first reading.
  /// @throws bench::Error with what came in its place
  void wait_for_first();
  /// The latest line that is a reading; nothing, with the reason in `failure`, where that is too
  /// long ago.
  std::optional<std::string> latest(std::string& failure);

 private:
  void advance();
  void start(Clock::time_point now);
  void drain(Clock::time_point now);
  void take_lines(Clock::time_point now);
  void take_line(std::string_view line, Clock::time_point now);
  void finish(Clock::time_point now);
  std::string reason(const ExitStatus& status) const;

  CommandSettings settings_;
  std::optional<Process> process_;
  UniqueFd output_;
  UniqueFd life_;        ///< Its closing kills the command.
  std::string pending_;  ///< The beginning of a line.
  std::string said_;     ///< The last line that was not a reading.
  std::string failure_;
  std::string reading_;
  std::optional<Clock::time_point> reading_time_;
  std::optional<Clock::time_point> start_;
  Clock::time_point last_sign_;  ///< When it was started or last printed something.
};

}  // namespace bench::energy
