#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <bench/energy/channel.hpp>
#include <bench/energy/integrate.hpp>
#include <bench/energy/interval_jitter.hpp>

namespace bench::energy {

inline constexpr double joules_per_wh = 3600;

/// What a run says about one channel. Absent values are absent, never zero.
struct ChannelEnergy {
  Channel channel;
  std::optional<double> energy_j;  ///< The figure to use: counter or integral, see `ChannelMeter`.
  std::optional<double> energy_counter_j;
  std::optional<double> energy_integrated_j;
  std::optional<double> difference_percent;  ///< Counter against integral.
  std::optional<double> power_min_w;
  std::optional<double> power_mean_w;
  std::optional<double> power_max_w;
  std::optional<double> power_idle_w;  ///< Mean before the run, if that was measured.
  std::uint64_t samples = 0;           ///< Readings inside the run that gave a value.
  std::uint64_t failures = 0;          ///< Readings inside the run that gave none.
  double longest_gap_s = 0;  ///< Longest time without a value, start and end of the run included.
  /// Of the times between looks at this channel, see `IntervalJitter`.
  std::optional<double> jitter_std_s;
  std::optional<double> jitter_p99_s;
  std::string absent;  ///< Why there is no `energy_j`, or only of a part of the run.
};

/// By how much a counter exceeds an integral; nothing without both, or over nothing.
std::optional<double> difference_percent(std::optional<double> counter_j,
                                         std::optional<double> integral_j);

/// Collects the readings of one channel during a run.
///
/// `energy_j` is the counter's where there is one that was not reset, else the integral's. In runs
/// shorter than ten counter periods, where the counter's steps weigh more than the sampling error,
/// it is the integral's. A device that stopped answering has energy up to its last answer only and
/// no `energy_j`.
class ChannelMeter {
 public:
  /// @param interval_s the sampling interval; counters are turned into power over at least half of
  ///        it
  ChannelMeter(const Channel& channel, double interval_s);

  /// Takes a reading made `time_s` seconds after the start of the run (negative: before it).
  /// Returns the power to record for that moment, if there is one: the sensor's, or the counter's
  /// mean slope since the last one returned.
  /// @param wanted_s the moment the reading was planned for, where that is known; without it the
  ///        interval is what was wanted since the last one
  std::optional<double> add(double time_s, const Reading& reading,
                            std::optional<double> wanted_s = std::nullopt);
  void close(double end_s);

  /// The result of the closed run.
  ChannelEnergy result() const;

 private:
  std::optional<double> slope_w(double time_s, double energy_j);
  void take_time(double time_s, std::optional<double> wanted_s);
  void record(double time_s, std::optional<double> power_w);
  bool failed_for_good() const;
  std::string reason() const;

  Channel channel_;
  double interval_s_;
  double slope_interval_s_;
  WindowIntegral integral_;
  CounterDifference counter_;
  std::optional<double> slope_time_s_;
  double slope_energy_j_ = 0;
  bool has_power_ = false;
  std::optional<double> power_min_w_;
  std::optional<double> power_max_w_;
  std::uint64_t samples_ = 0;
  std::uint64_t failures_ = 0;
  int failures_in_a_row_ = 0;
  int without_counter_in_a_row_ = 0;
  bool lost_ = false;
  std::string failure_;
  double last_time_s_ = 0;
  double longest_gap_s_ = 0;
  IntervalJitter jitter_;
  std::optional<double> last_look_s_;
  std::optional<double> last_wanted_s_;
  std::optional<double> end_s_;
};

}  // namespace bench::energy
