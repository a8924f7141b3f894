#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <sys/types.h>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/channel.hpp>

namespace bench::energy {

/// The power samples of a run as a CSV file that grows with every row, or every 10 ms where rows
/// come faster, so that a kill of the meter loses no more than that: `time_s` since the start of
/// the program on the steady clock, `unix_time_s`, then `<channel>_w` for every channel, empty
/// where there is no value.
class PowerLog {
 public:
  /// Starts the file anew.
  /// @throws bench::Error if it cannot be written
  explicit PowerLog(const std::filesystem::path& file);

  void write_header(std::span<const Channel> channels);
  /// Power to the milliwatt.
  void add(double time_s, double unix_time_s, std::span<const std::optional<double>> power_w);
  void flush();

  /// Why the file ends early, for example a full disk; empty while all is well.
  const std::string& failure() const { return failure_; }

 private:
  std::filesystem::path file_;
  UniqueFd fd_;
  std::string pending_;
  double flushed_at_s_ = 0;
  off_t size_ = 0;  ///< Of the rows that are whole.
  std::string failure_;
};

}  // namespace bench::energy
