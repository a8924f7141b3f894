#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/power_table.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {

struct SamplerSettings {
  SourceSettings sources;
  std::chrono::nanoseconds interval{std::chrono::milliseconds(100)};
  /// Readings of each channel that stay in memory for the edges of regions: a program may mark them
  /// when it knows their times, long after.
  std::size_t history_points = 256;
};

struct SamplerState;
class RunRecord;

/// Samples every source in its own thread, so that none holds up another, or the program that
/// is measured: whatever a driver does, each call here returns within its stated time.
///
/// Start it, wait until it is ready (sources are open and counters have been read once), start the
/// program, `begin`, wait for the program, `end`.
class Sampler {
 public:
  /// Starts the threads, with every signal blocked.
  explicit Sampler(SamplerSettings settings);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  /// Leaves threads behind that hang in a driver.
  ~Sampler();

  /// Every source has come up, or turned out to be absent.
  bool is_ready() const;
  /// False if one has not come up in time; it joins in when it does.
  bool wait_until_ready(std::chrono::nanoseconds at_most);
  /// The sources that are not there; complete once the sampler is ready.
  std::vector<Absence> absences() const;
  /// Samples wait for `log_to`; to be called before `begin`.
  /// @param record learns what explains them
  void await_log(std::shared_ptr<RunRecord> record);
  /// Writes the samples of the run.
  /// @param log none where there will be none
  void log_to(std::optional<PowerLog> log);
  /// The program was started at `time`.
  void begin(Clock::time_point time);
  /// The program has reached the edge of a region.
  void cut(const RegionEdge& edge);
  /// The program has ended at `time`. Takes the closing readings: at once, or after the averaging
  /// window of sensors that have no counter; gives up on a driver that does not answer for two
  /// seconds more.
  Measurement end(Clock::time_point time);

 private:
  std::shared_ptr<SamplerState> state_;
  std::vector<std::thread> threads_;
};

}  // namespace bench::energy
