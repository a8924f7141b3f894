#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <bench/energy/channel_meter.hpp>

namespace bench::energy {
namespace {

constexpr double counter_periods = 10;
constexpr double averaging_windows = 10;
constexpr double untrusted_percent = 20;
/// A single failed reading is a gap; this many to the end of the run are a broken sensor.
constexpr int failures_of_a_broken_sensor = 3;

}  // namespace

std::optional<double> difference_percent(std::optional<double> counter_j,
                                         std::optional<double> integral_j) {
  if (!counter_j || !integral_j || *integral_j <= 0)
    return std::nullopt;
  return (*counter_j / *integral_j - 1) * 100;
}

ChannelMeter::ChannelMeter(const Channel& channel, double interval_s, std::size_t history_points)
    : channel_(channel),
      interval_s_(interval_s),
      slope_interval_s_(std::max(interval_s / 2, counter_periods * channel.counter_period_s)),
      integral_(channel.averaging_window_s, history_points),
      counter_(history_points) {}

std::optional<double> ChannelMeter::add(double time_s, const Reading& reading,
                                        std::optional<double> wanted_s) {
  const bool inside = time_s >= 0 && (!end_s_ || time_s <= *end_s_);
  if (inside)
    take_time(time_s, wanted_s);
  lost_ = lost_ || reading.lost;
  if (!reading.failure.empty())
    failure_ = reading.failure;
  without_counter_in_a_row_ = reading.energy_j ? 0 : without_counter_in_a_row_ + 1;
  if (reading.energy_j)
    counter_.add(time_s, *reading.energy_j);
  without_power_in_a_row_ = reading.power_w ? 0 : without_power_in_a_row_ + 1;
  if (reading.power_w) {
    has_power_ = true;
    integral_.add(time_s, *reading.power_w);
    if (inside) {
      longest_power_gap_s_ = std::max(longest_power_gap_s_, time_s - last_power_s_);
      last_power_s_ = time_s;
    }
  }
  if (!reading.power_w && !reading.energy_j) {
    ++failures_in_a_row_;
    failures_ += inside ? 1 : 0;
    return std::nullopt;
  }
  failures_in_a_row_ = 0;
  while (!edges_.empty() && reaches(edges_.front().time_s)) {
    settle(edges_.front(), regions_);
    edges_.pop_front();
  }
  if (!inside)
    return std::nullopt;
  const std::optional<double> power_w =
      shows_power() || !reading.energy_j ? reading.power_w : slope_w(time_s, *reading.energy_j);
  record(time_s, power_w);
  return power_w;
}

void ChannelMeter::take_time(double time_s, std::optional<double> wanted_s) {
  if (last_look_s_)
    jitter_.add(time_s - *last_look_s_,
                wanted_s && last_wanted_s_ ? *wanted_s - *last_wanted_s_ : interval_s_);
  last_look_s_ = time_s;
  last_wanted_s_ = wanted_s;
}

std::optional<double> ChannelMeter::slope_w(double time_s, double energy_j) {
  std::optional<double> slope;
  if (slope_time_s_ && time_s - *slope_time_s_ < slope_interval_s_)
    return slope;
  if (slope_time_s_ && energy_j >= slope_energy_j_)
    slope =
        std::min(channel_.power_limit_w, (energy_j - slope_energy_j_) / (time_s - *slope_time_s_));
  slope_time_s_ = time_s;
  slope_energy_j_ = energy_j;
  return slope;
}

void ChannelMeter::record(double time_s, std::optional<double> power_w) {
  ++samples_;
  if (!first_time_s_)
    first_time_s_ = time_s;
  longest_gap_s_ = std::max(longest_gap_s_, time_s - last_time_s_);
  last_time_s_ = time_s;
  if (!power_w)
    return;
  power_min_w_ = std::min(power_min_w_.value_or(*power_w), *power_w);
  power_max_w_ = std::max(power_max_w_.value_or(*power_w), *power_w);
}

void ChannelMeter::cut(const RegionEdge& edge) {
  if (edges_.empty() && reaches(edge.time_s))
    settle(edge, regions_);
  else
    edges_.push_back(edge);
}

/// Whether all that this channel can tell of a moment is there.
bool ChannelMeter::reaches(double time_s) const {
  const bool power = !has_power_ || integral_.reaches(time_s);
  const bool counter = without_counter_in_a_row_ > 0 || counter_.reaches(time_s);
  return power && counter;
}

void ChannelMeter::settle(const RegionEdge& edge, std::vector<RegionSum>& regions) const {
  if (regions.size() <= edge.region)
    regions.resize(edge.region + 1);
  RegionSum& sum = regions[edge.region];
  const double sign = edge.begins ? -1 : 1;
  const auto counter_j = counter_.shown_j(edge.time_s);
  const auto integral_j = integral_.energy_until_j(edge.time_s);
  sum.counter_j += sign * counter_j.value_or(0);
  sum.integral_j += sign * integral_j.value_or(0);
  sum.duration_s += sign * edge.time_s;
  sum.has_counter = sum.has_counter && counter_j;
  sum.has_integral = sum.has_integral && integral_j;
}

bool ChannelMeter::has_counter() const {
  return without_counter_in_a_row_ < failures_of_a_broken_sensor;
}

bool ChannelMeter::shows_power() const {
  return has_power_ && without_power_in_a_row_ < failures_of_a_broken_sensor;
}

/// Its power could not be read any more, and its counter could.
bool ChannelMeter::lost_power() const {
  return has_power_ && !shows_power() && !failed_for_good();
}

/// The counter's energy where its steps are small beside the stretch of time.
std::optional<double> ChannelMeter::chosen(std::optional<double> counter_j,
                                           std::optional<double> integral_j, double duration_s,
                                           bool trusted) const {
  const bool long_enough = duration_s >= counter_periods * channel_.counter_period_s;
  return counter_j && ((long_enough && trusted) || !integral_j) ? counter_j : integral_j;
}

RegionEnergy ChannelMeter::energy_of(const RegionSum& sum, bool trusted) const {
  RegionEnergy energy;
  if (failed_for_good())
    return energy;
  if (sum.has_counter && !counter_.was_reset() && has_counter())
    energy.energy_counter_j = sum.counter_j;
  if (sum.has_integral && !lost_power())
    energy.energy_integrated_j = sum.integral_j;
  energy.energy_j =
      chosen(energy.energy_counter_j, energy.energy_integrated_j, sum.duration_s, trusted);
  return energy;
}

void ChannelMeter::close(double end_s) {
  end_s_ = end_s;
  integral_.close(end_s);
  counter_.close(end_s);
}

bool ChannelMeter::failed_for_good() const {
  return lost_ || failures_in_a_row_ >= failures_of_a_broken_sensor;
}

std::string ChannelMeter::reason() const {
  if (failed_for_good())
    return fmt::format("failed after {:.3g} s of {:.3g} s: {}", last_time_s_, *end_s_, failure_);
  if (counter_.was_reset())
    return "its counter was reset during the run";
  if (samples_ > 0 && has_power_)
    return "the run is too short for the window over which its sensor averages";
  if (samples_ == 0)
    return failure_.empty() ? "the program ended before the first sample" : failure_;
  return fmt::format("its counter did not move in {:.3g} s", *end_s_);
}

std::string ChannelMeter::distrust(const ChannelEnergy& result) const {
  if (!result.difference_percent || !power_max_w_ || failed_for_good() ||
      *end_s_ < counter_periods * channel_.counter_period_s ||
      *end_s_ < averaging_windows * channel_.averaging_window_s)
    return "";
  const double relative_range =
      (*power_max_w_ - *power_min_w_) * *end_s_ / *result.energy_integrated_j;
  const double gap_s = std::max(longest_power_gap_s_, *end_s_ - last_power_s_);
  const double sampling_percent =
      100 * relative_range * (1 / std::sqrt(static_cast<double>(samples_)) + gap_s / *end_s_);
  if (std::abs(*result.difference_percent) <= untrusted_percent + sampling_percent)
    return "";
  return fmt::format("its counter differs from the integrated power by {:+.1f} % and is not used",
                     *result.difference_percent);
}

ChannelEnergy ChannelMeter::result() const {
  ChannelEnergy result;
  result.channel = channel_;
  const double measured_s = failed_for_good() ? last_time_s_ : *end_s_;
  if (!lost_power())
    result.energy_integrated_j = integral_.energy_until_j(measured_s);
  if (has_counter())
    result.energy_counter_j = counter_.energy_until_j(measured_s);
  if (result.energy_counter_j == 0.0)  // it has not moved, which says nothing
    result.energy_counter_j.reset();
  result.difference_percent =
      difference_percent(result.energy_counter_j, result.energy_integrated_j);
  result.longest_gap_s = std::max(longest_gap_s_, *end_s_ - last_time_s_);
  result.distrust = distrust(result);
  const bool trusted = result.distrust.empty();
  const std::optional<double> energy_j =
      chosen(result.energy_counter_j, result.energy_integrated_j, *end_s_, trusted);
  if (!failed_for_good())
    result.energy_j = energy_j;
  if (energy_j && measured_s > 0)
    result.power_mean_w = *energy_j / measured_s;
  result.power_min_w = power_min_w_;
  result.power_max_w = power_max_w_;
  result.samples = samples_;
  result.failures = failures_;
  result.first_sample_s = first_time_s_;
  result.jitter_std_s = jitter_.standard_deviation_s();
  result.jitter_p99_s = jitter_.p99_s();
  if (!result.energy_j)
    result.absent = reason();
  else if (lost_power())
    result.power_lost = fmt::format("its power could not be read after {:.3g} s of {:.3g} s: {}",
                                    last_power_s_, *end_s_, failure_);
  result.regions = region_energies(trusted);
  return result;
}

std::vector<RegionEnergy> ChannelMeter::region_energies(bool trusted) const {
  std::vector<RegionSum> regions = regions_;
  for (const RegionEdge& edge : edges_)
    settle(edge, regions);
  std::vector<RegionEnergy> energies;
  for (const RegionSum& sum : regions)
    energies.push_back(energy_of(sum, trusted));
  return energies;
}

}  // namespace bench::energy
