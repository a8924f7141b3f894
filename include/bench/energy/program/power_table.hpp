#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/power_log.hpp>

namespace bench::energy {

class RunRecord;

/// The least and the most that the additive channels draw together at one tick.
class TotalPower {
 public:
  using Values = std::vector<std::optional<double>>;  ///< One for each channel.

  /// Sets the channels, and forgets the range.
  void start(const std::vector<Channel>& channels);
  /// Keeps the value of a slow source for the ticks until its next one.
  void hold(std::size_t channel, std::optional<double> power_w) { latest_[channel] = power_w; }
  void add(const Values& power_w);
  const PowerRange& range() const { return range_; }

 private:
  std::vector<std::size_t> additive_;  ///< Channels that are added up.
  Values latest_;                      ///< What slow sources showed last.
  PowerRange range_;
};

/// Brings the samples of several sources, each read by its own thread, together in rows, one
/// per tick. A source that is late or stuck holds nobody up: its values of that tick are missing
/// then. Safe to use by several threads.
class PowerTable {
 public:
  using Values = TotalPower::Values;

  explicit PowerTable(std::size_t sources) { wanted_.parts.resize(sources); }

  /// Rows wait for `set_log`. Otherwise they are only added up until then.
  /// @param record learns the columns; may be null
  void await_log(std::shared_ptr<RunRecord> record);
  /// Takes the rows from now on.
  /// @param log none where there will be none
  void set_log(std::optional<PowerLog> log);

  /// What the source has.
  /// @param slow it does not sample at every tick
  void declare(std::size_t source, std::size_t channels, bool slow);
  /// The channels of all sources that have declared theirs, those of the first source first;
  /// `additive` is set. Rows are written from now on, until then they wait. Called again when
  /// others have come up late, or others are additive: new columns follow those that are there, and
  /// sums begin again at 0.
  /// @param unreadable channels that have no column, for the record
  void start(std::vector<Channel> channels, std::vector<Channel> unreadable = {});
  /// @param unix_time_s of the moment 0 s
  void set_unix_time(double unix_time_s);
  void add(std::size_t source, Clock::time_point tick, double time_s, Values power_w);
  /// Writes the rest; waits up to two seconds for `set_log` where rows do.
  void finish();

  PowerRange total_power() const;
  /// Why rows are missing; empty while all is well.
  std::string failure() const;

 private:
  struct Part {
    std::optional<std::size_t> first;  ///< Column; none before its source has started.
    std::size_t channels = 0;
    bool slow = false;
  };
  struct Layout {
    std::vector<Part> parts;        ///< By source.
    std::vector<Channel> channels;  ///< By column.
    std::vector<Channel> unreadable;
    std::size_t version = 0;  ///< Counts the calls of `start`.
  };
  struct Row {
    Clock::time_point tick;
    double time_s = 0;
    std::vector<Values> parts;  ///< By source; empty: not there.
  };

  Row& row_of(Clock::time_point tick, double time_s);
  bool is_complete(const Row& row) const;
  std::vector<Row> take_rows(bool all);
  void begin_writing();
  void write_all(const std::vector<Row>& rows);
  void write_header();
  void record_columns() const;
  void write(const Row& row);

  mutable std::mutex mutex_;
  std::condition_variable log_is_set_;
  Layout wanted_;  ///< As far as it is known.
  std::deque<Row> rows_;
  std::size_t dropped_ = 0;
  bool started_ = false;
  bool awaits_log_ = false;
  bool writing_ = false;  ///< A thread is about to write; it alone uses what follows.

  Layout layout_;
  std::optional<PowerLog> log_;
  std::shared_ptr<RunRecord> record_;
  std::size_t recorded_version_ = 0;
  std::size_t columns_in_log_ = 0;
  bool has_header_ = false;
  double unix_time_s_ = 0;
  TotalPower total_;
};

}  // namespace bench::energy
