#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/channel.hpp>

namespace bench::energy {

/// Columns of a power log; a value that is absent is an empty cell.
enum class PowerLayout {
  own,   ///< `time_s` since the start of the program on the steady clock, `unix_time_s`, then
         ///< `<channel>_w` for every channel.
  jpwr,  ///< A number of the row without a name, `timestamps` in Unix seconds, then a column in
         ///< watts for each channel that `jpwr_columns` names.
};

/// The power samples of a run as a CSV file that grows with every row, so that a kill of the
/// meter loses none: a call of the system for each takes 1.3 us (ext4).
class PowerLog {
 public:
  /// Empties the file, or creates it.
  /// @throws bench::Error if it cannot be written
  explicit PowerLog(const std::filesystem::path& file, PowerLayout layout = PowerLayout::own);

  void write_header(std::span<const Channel> channels);
  /// Writes the file once more, since others have come up behind those that it has: in the rows so
  /// far their cells are empty.
  /// @param channels all of them
  void add_columns(std::span<const Channel> channels);
  /// Power to the milliwatt.
  void add(double time_s, double unix_time_s, std::span<const std::optional<double>> power_w);

  /// Why the file ends early, for example a full disk; empty while all is well.
  const std::string& failure() const { return failure_; }

 private:
  std::string header(std::span<const Channel> channels);
  void replace_file(const std::string& text);
  void write_pending();

  std::filesystem::path file_;
  PowerLayout layout_;
  UniqueFd fd_;
  std::vector<std::size_t> written_;  ///< The channels that have a column.
  std::string pending_;               ///< The line that is being made.
  long long rows_ = 0;
  off_t size_ = 0;  ///< Of the rows that are whole.
  std::string failure_;
};

/// Reads a power log again, line by line, in constant memory.
class PowerLogReader {
 public:
  /// @throws bench::Error if it cannot be read
  explicit PowerLogReader(const std::filesystem::path& file);
  /// @param file its name, for errors
  PowerLogReader(UniqueFd fd, std::filesystem::path file);

  /// None where the file or its first line is empty.
  const std::vector<std::string>& columns() const { return columns_; }
  /// A channel in a log of PowerLayout::own.
  struct ChannelColumn {
    std::string name;  ///< `nvml:0`, without `_w`.
    std::size_t column = 0;
  };
  /// In order of their columns; none in another file.
  std::vector<ChannelColumn> channels() const;

  /// The next row, an absent value as NaN; false at the end, and at a line that was cut off.
  /// @throws bench::Error if it cannot be read
  bool next(std::vector<double>& row);
  /// The line at which `next` ended although others follow; 0: none.
  int damaged_line() const { return damaged_line_; }

 private:
  /// The rest of the file where nothing ends it; false then.
  bool read_line(std::string& line);

  UniqueFd fd_;
  std::filesystem::path file_;
  std::string piece_;      ///< What was read last.
  std::size_t taken_ = 0;  ///< Of it.
  std::vector<std::string> columns_;
  int line_ = 1;
  int damaged_line_ = 0;
};

}  // namespace bench::energy
