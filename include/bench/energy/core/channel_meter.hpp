#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/integrate.hpp>

namespace bench::energy {

/// Below this share of its time a run, or a region, has no energy: the rest would be guessed.
inline constexpr double least_coverage = 0.95;

/// The parts of a run that a sensor gave no reading for.
class Coverage {
 public:
  /// @param longest_gap_s between two readings; a longer time is a hole
  explicit Coverage(double longest_gap_s) : longest_gap_s_(longest_gap_s) {}

  /// A reading stands for `time_s`. Times are seconds since the start of the run and increase.
  void add(double time_s);
  /// As `add`, of a counter: its difference holds all that was drawn since the reading before, but
  /// for the last `lost_s` seconds.
  void add_difference(double time_s, double lost_s);

  /// Seconds of holes from the start of the run to `end_s`. Of holes that lie far back only the
  /// latest are known one by one.
  double missing_until_s(double end_s) const;
  std::optional<double> last_s() const { return last_s_; }

 private:
  struct Hole {
    double begin_s = 0;
    double end_s = 0;
  };
  void note_hole(double begin_s, double end_s);

  double longest_gap_s_;
  std::optional<double> last_s_;
  double older_s_ = 0;  ///< In holes that are no longer kept.
  std::deque<Hole> holes_;
};

/// Whether that many seconds may be missing of a time.
inline bool is_covered(double missing_s, double duration_s) {
  return missing_s <= (1 - least_coverage) * duration_s;
}

/// How far the times between samples are from the wanted ones, in constant memory.
class IntervalJitter {
 public:
  /// Takes one time between two samples; both in seconds.
  void add(double interval_s, double wanted_s);

  /// Standard deviation of the differences; nothing before there are two. Welford's method (Knuth,
  /// The Art of Computer Programming, vol. 2, 3rd ed., 4.2.2).
  std::optional<double> standard_deviation_s() const;
  /// The value that 99 % of the differences do not exceed in size, rounded up by at most
  /// 6.25 %; 1.01 us is the least it tells. Nothing before there is one.
  std::optional<double> p99_s() const;

 private:
  // 16 equal bins for each factor of two, from 2^-20 s to 2^10 s.
  std::array<std::uint32_t, std::size_t{30} * 16> bins_{};
  std::uint64_t count_ = 0;
  double mean_s_ = 0;
  double squares_s2_ = 0;
};

/// Apparent power of one channel during a run: voltage times current, which supplies and cables
/// must be made for. It exceeds the power by what returns to the grid.
class ApparentPower {
 public:
  /// @param averaging_window_s of the channel
  /// @param longest_gap_s between two readings; a longer time is a hole
  ApparentPower(double averaging_window_s, double longest_gap_s)
      : integral_(averaging_window_s), coverage_(longest_gap_s) {}

  /// Times are seconds since the start of the run, inside it, and increase.
  void add(double time_s, double apparent_va);
  void close(double end_s);

  /// Volt-amperes of the closed run; nothing if it was readable for less than 95 % of it.
  std::optional<double> mean_va() const;
  std::optional<double> max_va() const;

 private:
  bool is_known() const;

  WindowIntegral integral_;
  Coverage coverage_;
  double end_s_ = 0;
  std::optional<double> max_va_;
};

inline constexpr double joules_per_wh = 3600;

inline std::optional<double> in_wh(std::optional<double> energy_j) {
  return energy_j ? std::optional(*energy_j / joules_per_wh) : std::nullopt;
}

/// Energy in all stretches of a region together. Absent values are absent, never zero.
struct RegionEnergy {
  std::optional<double> energy_j;  ///< Counter or integral, as for the run.
  std::optional<double> energy_counter_j;
  std::optional<double> energy_integrated_j;
  std::string absent = {};  ///< Why there is no `energy_j` although the run has one.
  std::optional<double> uncertainty_j = {};  ///< Half width of `energy_j`.
};

/// What other channels of a device tell about the counter of one.
struct Witness {
  std::optional<double> average_j;  ///< Integral of the same power through a slower filter.
  double average_window_s = 0;
  /// Why the counter is that of something else; empty where it is not.
  std::string counter_is_anothers = {};
};

/// A moment in which a region begins or ends.
struct RegionEdge {
  std::size_t region = 0;  ///< Number of the region.
  bool begins = false;
  double time_s = 0;  ///< Since the start of the run.
};

/// What a run says about one channel. Absent values are absent, never zero.
struct ChannelEnergy {
  Channel channel;
  std::optional<double> energy_j;  ///< The figure to use: counter or integral, see `ChannelMeter`.
  std::optional<double> energy_counter_j;
  std::optional<double> energy_integrated_j;
  std::optional<Uncertainty> uncertainty;    ///< Of `energy_j`, unless it is an estimate.
  std::optional<double> difference_percent;  ///< Counter against integral.
  std::optional<double> power_min_w;
  std::optional<double> power_mean_w;
  std::optional<double> power_max_w;
  std::optional<double> apparent_mean_va;  ///< See `ApparentPower`.
  std::optional<double> apparent_max_va;
  std::optional<double> power_idle_w;    ///< Mean before the run, if that was measured.
  std::uint64_t samples = 0;             ///< Readings inside the run that gave a value.
  std::uint64_t failures = 0;            ///< Readings inside the run that gave none.
  std::optional<double> first_sample_s;  ///< When the first of them was, from the start on.
  double longest_gap_s = 0;  ///< Longest time without a value, start and end of the run included.
  /// Of the times between readings of this channel, see `IntervalJitter`.
  std::optional<double> jitter_std_s;
  std::optional<double> jitter_p99_s;
  /// Why `energy_j` is not the counter's although there is one; empty where all is well.
  std::string distrust;
  /// Why `energy_j` is the counter's although the samples tell another story; likewise.
  std::string missed_spikes;
  /// Why there is no integral although the sensor showed power; likewise.
  std::string power_lost;
  std::string absent;                 ///< Why there is no `energy_j`, or only of a part of the run.
  std::vector<RegionEnergy> regions;  ///< By their numbers.
};

/// The result of a channel that cannot be read: its reason.
ChannelEnergy unreadable_channel(const Channel& channel, double duration_s);

/// By how much a counter exceeds an integral; nothing without both, or over nothing.
std::optional<double> difference_percent(std::optional<double> counter_j,
                                         std::optional<double> integral_j);

/// Collects the readings of one channel during a run.
///
/// `energy_j` is the counter's where there is one that was not reset, else the integral's. In runs
/// shorter than ten counter periods, where the counter's steps weigh more than the sampling error,
/// it is the integral's; also where the two differ by more than 20 % and more than sampling can
/// explain, since counters have been seen to run at a wrong rate (amdsmi issue 38, zeus issue 181).
/// Sampling is taken to err by the range of the power times (1/sqrt(samples) + the share of the run
/// of the longest time without a power), two standard errors of a power that is either low or high;
/// and runs shorter than ten averaging windows of the sensor are not judged. Where the same power
/// is there through a slower filter, the one of the two that is nearer to it counts: short samples
/// miss spikes. Where the power cannot be read any more and the counter can, there is no integral,
/// and power is the counter's slope. A device that stopped answering has energy up to its last
/// answer only and no `energy_j`; so has one that gave no reading for more than 5 % of the run, or
/// that shows a new value only after its end. A counter that may have started again more than once
/// between two readings, by the highest power, gives no energy.
///
/// Of a counter that moves in steps, the energy between its first and its last movement counts;
/// what lies before and behind them is the integral's, where that is of an instantaneous power.
class ChannelMeter {
 public:
  /// @param interval_s the sampling interval; counters are turned into power over at least half of
  ///        it
  /// @param history_points how many readings stay, for edges of regions that arrive late
  ChannelMeter(const Channel& channel, double interval_s, std::size_t history_points = 256);

  /// What has become known of the channel since it was opened.
  void describe(const Channel& channel) { channel_ = channel; }
  /// Takes a reading made `time_s` seconds after the start of the run (negative: before it).
  /// Returns the power to record for that moment, if there is one: the sensor's, or where that has
  /// none, or none any more, the counter's mean slope since the last one returned.
  /// @param wanted_s the moment the reading was planned for, where that is known; without it the
  ///        interval is what was wanted since the last one
  std::optional<double> add(double time_s, const Reading& reading,
                            std::optional<double> wanted_s = std::nullopt);
  /// Cuts the energy at the edge of a region, exactly, also between two readings. Edges come in the
  /// order of their times, and not later than the readings around them are kept.
  void cut(const RegionEdge& edge);
  void close(double end_s);
  /// Notes why no reading comes any more.
  void give_up(const std::string& reason);

  const Channel& channel() const { return channel_; }
  /// Of the closed run; nothing where it has none.
  std::optional<double> energy_counter_j() const;
  std::optional<double> energy_integrated_j() const;
  /// The result of the closed run.
  ChannelEnergy result(const Witness& witness = {}) const;

 private:
  std::optional<double> slope_w(double time_s, double energy_j);
  void take_time(double time_s, std::optional<double> wanted_s);
  void take_values(double time_s, const Reading& reading, bool inside);
  void record(double time_s, std::optional<double> power_w);
  bool failed_for_good() const;
  bool shows_power() const;
  bool lost_power() const;
  bool ended_early() const;
  double measured_s() const;
  std::string reason() const;
  std::string ambiguity() const;
  std::string distrust(const ChannelEnergy& result) const;
  std::optional<double> counter_until_j(double end_s) const;

  /// Of the edges so far: what was shown at the ends less what was shown at the beginnings.
  struct RegionSum {
    double counter_j = 0;
    double integral_j = 0;
    double duration_s = 0;
    double missing_counter_s = 0;
    double missing_power_s = 0;
    int stretches = 0;
    bool has_counter = true;
    bool has_integral = true;
  };
  /// The energy to use of a stretch of time, and why there is none.
  struct Choice {
    std::optional<double> energy_j;
    std::string absent;
    bool by_counter = false;
  };
  void settle(const RegionEdge& edge, std::vector<RegionSum>& regions) const;
  RegionEnergy energy_of(const RegionSum& sum, bool trusted, bool has_counter) const;
  std::vector<RegionEnergy> region_energies(bool trusted, bool has_counter) const;
  bool reaches(double time_s) const;
  bool has_counter() const;
  Choice chosen(std::optional<double> counter_j, std::optional<double> integral_j,
                const RegionSum& stretch, bool trusted) const;
  std::optional<Uncertainty> uncertainty(const Choice& choice, const RegionSum& stretch) const;

  Channel channel_;
  double interval_s_;
  double slope_interval_s_;
  WindowIntegral integral_;
  CounterDifference counter_;
  Coverage power_coverage_;
  Coverage counter_coverage_;
  ApparentPower apparent_;
  std::optional<double> stamp_s_;        ///< The last of the sensor's own times.
  std::optional<double> stamp_delay_s_;  ///< The shortest of our times less the sensor's.
  std::optional<double> slope_time_s_;
  double slope_energy_j_ = 0;
  std::optional<double> steady_power_w_;  ///< The highest slope between readings without a hole.
  std::optional<double> last_counter_s_;
  double longest_counter_gap_s_ = 0;
  bool has_power_ = false;
  std::optional<double> power_min_w_;
  std::optional<double> power_max_w_;
  std::uint64_t samples_ = 0;
  std::uint64_t failures_ = 0;
  int failures_in_a_row_ = 0;
  int without_counter_in_a_row_ = 0;
  int without_power_in_a_row_ = 0;
  bool lost_ = false;
  std::string failure_;
  std::optional<double> first_time_s_;
  double last_time_s_ = 0;
  double longest_gap_s_ = 0;
  double last_power_s_ = 0;
  double longest_power_gap_s_ = 0;
  IntervalJitter jitter_;
  std::optional<double> last_read_s_;
  std::optional<double> last_wanted_s_;
  std::optional<double> end_s_;
  std::deque<RegionEdge> edges_;  ///< Waiting for the readings behind them.
  std::vector<RegionSum> regions_;
};

}  // namespace bench::energy
