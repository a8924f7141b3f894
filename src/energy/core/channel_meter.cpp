#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/integrate.hpp>

namespace bench::energy {
namespace {

/// So many are kept one by one, for regions.
constexpr std::size_t most_holes = 1024;

}  // namespace

void Coverage::note_hole(double begin_s, double end_s) {
  begin_s = std::max(begin_s, 0.0);
  if (end_s <= begin_s)
    return;
  holes_.push_back({begin_s, end_s});
  if (holes_.size() <= most_holes)
    return;
  older_s_ += holes_.front().end_s - holes_.front().begin_s;
  holes_.pop_front();
}

void Coverage::add(double time_s) {
  const double before_s = last_s_.value_or(0);
  if (time_s - before_s > longest_gap_s_)
    note_hole(before_s, time_s);
  last_s_ = std::max(time_s, before_s);
}

void Coverage::add_difference(double time_s, double lost_s) {
  if (!last_s_)
    return add(time_s);
  if (lost_s > 0)
    note_hole(std::max(time_s - lost_s, *last_s_), time_s);
  last_s_ = std::max(time_s, *last_s_);
}

double Coverage::missing_until_s(double end_s) const {
  double missing_s = older_s_;
  for (const Hole& hole : holes_)
    missing_s += std::max(0.0, std::min(hole.end_s, end_s) - hole.begin_s);
  const double last_s = std::max(last_s_.value_or(0), 0.0);
  if (end_s - last_s > longest_gap_s_)
    missing_s += end_s - last_s;
  return missing_s;
}

namespace {

static_assert(std::numeric_limits<double>::is_iec559);
constexpr double smallest_s = 0x1p-20;
constexpr double share = 0.99;
/// What is left of a number's bits are its exponent and the first four of its mantissa, which
/// number the bins. A logarithm took a tenth of the sampler's time.
constexpr int bits_within_bin = 48;

constexpr std::uint64_t bin_of(double value_s) {
  return std::bit_cast<std::uint64_t>(value_s) >> bits_within_bin;
}

constexpr std::uint64_t first_bin = bin_of(smallest_s);

}  // namespace

void IntervalJitter::add(double interval_s, double wanted_s) {
  const double difference_s = interval_s - wanted_s;
  ++count_;
  const double before_s = difference_s - mean_s_;
  mean_s_ += before_s / static_cast<double>(count_);
  squares_s2_ += before_s * (difference_s - mean_s_);
  const std::uint64_t bin = bin_of(std::max(std::fabs(difference_s), smallest_s)) - first_bin;
  ++bins_[std::min<std::uint64_t>(bin, bins_.size() - 1)];
}

std::optional<double> IntervalJitter::standard_deviation_s() const {
  if (count_ < 2)
    return std::nullopt;
  return std::sqrt(squares_s2_ / static_cast<double>(count_ - 1));
}

std::optional<double> IntervalJitter::p99_s() const {
  if (count_ == 0)
    return std::nullopt;
  const double enough = share * static_cast<double>(count_);
  std::uint64_t below = 0;
  std::size_t bin = 0;
  while (static_cast<double>(below += bins_[bin]) < enough)
    ++bin;
  return std::bit_cast<double>((first_bin + bin + 1) << bits_within_bin);
}

void ApparentPower::add(double time_s, double apparent_va) {
  integral_.add(time_s, apparent_va);
  coverage_.add(time_s);
  max_va_ = std::max(max_va_.value_or(0), apparent_va);
}

void ApparentPower::close(double end_s) {
  integral_.close(end_s);
  end_s_ = end_s;
}

bool ApparentPower::is_known() const {
  return max_va_ && end_s_ > 0 && is_covered(coverage_.missing_until_s(end_s_), end_s_);
}

std::optional<double> ApparentPower::mean_va() const {
  const auto sum = integral_.energy_until_j(end_s_);  // volt-ampere seconds
  return is_known() && sum ? std::optional(*sum / end_s_) : std::nullopt;
}

std::optional<double> ApparentPower::max_va() const {
  return is_known() ? max_va_ : std::nullopt;
}

namespace {

constexpr double counter_periods = 10;
constexpr double averaging_windows = 10;
constexpr double untrusted_percent = 20;
/// A single failed reading is a gap; this many to the end of the run are a broken sensor.
constexpr int failures_of_a_broken_sensor = 3;
/// Two readings that are further apart than this many intervals have a hole between them, but not
/// one that a busy machine makes.
constexpr double intervals_of_a_hole = 3;
constexpr double shortest_hole_s = 0.05;
/// A mean over some time is asked about a run only if the run is this many times as long.
constexpr double windows_of_a_witness = 3;

double longest_gap_s(const Channel& channel, double interval_s) {
  return std::max(shortest_hole_s,
                  intervals_of_a_hole * std::max(interval_s, channel.update_period_s)) +
         channel.averaging_window_s;
}

/// The highest that was seen; where none was, the highest that is possible, if that is known.
double highest_power_w(const Channel& channel, std::optional<double> seen_w) {
  const double limit_w = std::isfinite(channel.power_limit_w) ? channel.power_limit_w : 0;
  return seen_w.value_or(limit_w);
}

/// True if the counter may have passed its end more than once in this time.
bool may_have_restarted(const Channel& channel, double time_s, std::optional<double> seen_w) {
  return channel.counter_range_j > 0 && time_s > 0 &&
         time_s * highest_power_w(channel, seen_w) > channel.counter_range_j;
}

}  // namespace

ChannelEnergy unreadable_channel(const Channel& channel, double duration_s) {
  ChannelEnergy result;
  result.channel = channel;
  result.longest_gap_s = duration_s;
  result.absent = channel.unreadable;
  return result;
}

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
      counter_(channel.counter_period_s, history_points),
      power_coverage_(longest_gap_s(channel, interval_s)),
      counter_coverage_(longest_gap_s(channel, interval_s)),
      apparent_(channel.averaging_window_s, longest_gap_s(channel, interval_s)) {}

std::optional<double> ChannelMeter::add(double time_s, const Reading& reading,
                                        std::optional<double> wanted_s) {
  const bool inside = time_s >= 0 && (!end_s_ || time_s <= *end_s_);
  if (inside)
    take_time(time_s, wanted_s);
  lost_ = lost_ || reading.lost;
  if (!reading.failure.empty())
    failure_ = reading.failure;
  take_values(time_s, reading, inside);
  if (!reading.power_w && !reading.energy_j) {
    if (reading.counter_rests && !has_power_)  // nothing was asked
      return std::nullopt;
    failures_in_a_row_ += reading.counter_rests ? 0 : 1;
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

void ChannelMeter::take_values(double time_s, const Reading& reading, bool inside) {
  if (!reading.counter_rests)
    without_counter_in_a_row_ = reading.energy_j ? 0 : without_counter_in_a_row_ + 1;
  without_power_in_a_row_ = reading.power_w ? 0 : without_power_in_a_row_ + 1;
  has_power_ = has_power_ || reading.power_w;
  if (reading.stamp_s && reading.stamp_s == stamp_s_)
    return;  // the sensor has nothing new
  double taken_s = time_s;
  if (reading.stamp_s) {
    stamp_s_ = reading.stamp_s;
    stamp_delay_s_ = std::min(stamp_delay_s_.value_or(time_s - *stamp_s_), time_s - *stamp_s_);
    taken_s = *stamp_s_ + *stamp_delay_s_;
  }
  if (reading.energy_j) {
    longest_counter_gap_s_ =
        std::max(longest_counter_gap_s_, time_s - last_counter_s_.value_or(time_s));
    last_counter_s_ = time_s;
    counter_.add({.time_s = time_s,
                  .energy_j = *reading.energy_j,
                  .moved_s = reading.counter_age_s ? std::optional(time_s - *reading.counter_age_s)
                                                   : std::nullopt,
                  .stamp_s = reading.stamp_s});
    counter_coverage_.add_difference(time_s, reading.uncounted_s);
  }
  if (reading.apparent_va && inside)
    apparent_.add(taken_s, *reading.apparent_va);
  if (!reading.power_w)
    return;
  integral_.add(taken_s, *reading.power_w);
  power_coverage_.add(time_s);
  if (inside) {
    longest_power_gap_s_ = std::max(longest_power_gap_s_, time_s - last_power_s_);
    last_power_s_ = time_s;
  }
}

void ChannelMeter::take_time(double time_s, std::optional<double> wanted_s) {
  if (last_read_s_)
    jitter_.add(time_s - *last_read_s_,
                wanted_s && last_wanted_s_ ? *wanted_s - *last_wanted_s_ : interval_s_);
  last_read_s_ = time_s;
  last_wanted_s_ = wanted_s;
}

std::optional<double> ChannelMeter::slope_w(double time_s, double energy_j) {
  std::optional<double> slope;
  if (slope_time_s_ && time_s - *slope_time_s_ < slope_interval_s_)
    return slope;
  const double over_s = time_s - slope_time_s_.value_or(time_s);
  if (slope_time_s_ && energy_j >= slope_energy_j_)
    slope = std::min(channel_.power_limit_w, (energy_j - slope_energy_j_) / over_s);
  if (slope && over_s <= longest_gap_s(channel_, interval_s_))
    steady_power_w_ = std::max(steady_power_w_.value_or(0), *slope);
  else if (may_have_restarted(channel_, over_s, steady_power_w_))
    slope.reset();
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
  sum.stretches += edge.begins ? 1 : 0;
  sum.missing_counter_s += sign * counter_coverage_.missing_until_s(edge.time_s);
  sum.missing_power_s += sign * power_coverage_.missing_until_s(edge.time_s);
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
ChannelMeter::Choice ChannelMeter::chosen(std::optional<double> counter_j,
                                          std::optional<double> integral_j,
                                          const RegionSum& stretch, bool trusted) const {
  const double duration_s = stretch.duration_s;
  if (duration_s < channel_.update_period_s)
    return {.energy_j = {},
            .absent = fmt::format(
                "{:.3g} s are too short: {}, since its sensor shows a new value every {:.3g} s",
                duration_s, at_least(channel_.update_period_s / most_uncertainty),
                channel_.update_period_s)};
  const bool long_enough = duration_s >= counter_periods * channel_.counter_period_s;
  const bool counter_covers = is_covered(stretch.missing_counter_s, duration_s);
  const bool power_covers = is_covered(stretch.missing_power_s, duration_s);
  const bool better = counter_covers && !power_covers && trusted;
  const bool by_counter = counter_j && (!integral_j || better ||
                                        (long_enough && trusted && counter_covers >= power_covers));
  if (!counter_j && !integral_j)
    return {};
  if (by_counter ? counter_covers : power_covers)
    return {
        .energy_j = by_counter ? counter_j : integral_j, .absent = "", .by_counter = by_counter};
  return {.energy_j = {},
          .absent = fmt::format("it gave no reading for {:.3g} s of {:.3g} s{}",
                                by_counter ? stretch.missing_counter_s : stretch.missing_power_s,
                                duration_s, failure_.empty() ? "" : ": " + failure_)};
}

/// By the highest power that was seen; where only a counter moved, and hardly, by the mean.
std::optional<Uncertainty> ChannelMeter::uncertainty(const Choice& choice,
                                                     const RegionSum& stretch) const {
  if (!choice.energy_j || channel_.estimated)
    return std::nullopt;
  const Timing timing{
      .interval_s = interval_s_,
      .period_s = choice.by_counter ? channel_.counter_period_s : channel_.update_period_s,
      .averaging_window_s = channel_.averaging_window_s,
      .sample_s = choice.by_counter
                      ? 0
                      : std::max(*end_s_ / static_cast<double>(samples_), channel_.update_period_s),
      .missing_s = choice.by_counter ? stretch.missing_counter_s : stretch.missing_power_s};
  const double most_w = std::max(power_max_w_.value_or(0), *choice.energy_j / stretch.duration_s);
  return uncertainty_of(timing, most_w, most_w - power_min_w_.value_or(most_w));
}

RegionEnergy ChannelMeter::energy_of(const RegionSum& sum, bool trusted, bool has_counter) const {
  RegionEnergy energy;
  if (failed_for_good())
    return energy;
  if (sum.has_counter && has_counter)
    energy.energy_counter_j = sum.counter_j;
  if (sum.has_integral && !lost_power())
    energy.energy_integrated_j = sum.integral_j;
  Choice choice = chosen(energy.energy_counter_j, energy.energy_integrated_j, sum, trusted);
  energy.energy_j = choice.energy_j;
  if (const auto half_width = uncertainty(choice, sum))
    energy.uncertainty_j = half_width->half_width_j(sum.duration_s, sum.stretches);
  energy.absent = std::move(choice.absent);
  if (!energy.energy_j && energy.absent.empty())
    energy.absent = ambiguity();
  if (!energy.energy_j && energy.absent.empty() && samples_ > 0)
    energy.absent = "its marks arrived after the readings around them were discarded";
  return energy;
}

void ChannelMeter::close(double end_s) {
  end_s_ = end_s;
  integral_.close(end_s);
  counter_.close(end_s);
  apparent_.close(end_s);
}

void ChannelMeter::give_up(const std::string& reason) {
  failure_ = reason;
}

bool ChannelMeter::failed_for_good() const {
  return lost_ || failures_in_a_row_ >= failures_of_a_broken_sensor;
}

/// Its last reading is too far from the end for what came then to be taken from it.
bool ChannelMeter::ended_early() const {
  const double silence_s = *end_s_ - std::max(last_time_s_, counter_coverage_.last_s().value_or(0));
  return failed_for_good() ||
         (silence_s > longest_gap_s(channel_, interval_s_) && !is_covered(silence_s, *end_s_));
}

double ChannelMeter::measured_s() const {
  return ended_early() ? last_time_s_ : *end_s_;
}

std::string ChannelMeter::reason() const {
  if (failed_for_good())
    return fmt::format("failed after {:.3g} s of {:.3g} s: {}", last_time_s_, *end_s_, failure_);
  if (counter_.was_reset())
    return "its counter was reset during the run";
  if (std::string doubt = ambiguity(); !doubt.empty())
    return doubt;
  if (samples_ > 0 && has_power_)
    return "the run is too short for the window over which its sensor averages";
  if (samples_ == 0)
    return failure_.empty() ? "the program ended before the first sample" : failure_;
  return fmt::format("its counter did not move in {:.3g} s", *end_s_);
}

/// The reason why the counter gives no energy; empty if it does.
std::string ChannelMeter::ambiguity() const {
  const auto seen_w = has_power_ ? power_max_w_ : steady_power_w_;
  if (!may_have_restarted(channel_, longest_counter_gap_s_, seen_w))
    return "";
  return fmt::format(
      "its counter starts again after {:.3g} J, and may have done so more than once in {:.3g} s "
      "without a reading, at up to {:.3g} W",
      channel_.counter_range_j, longest_counter_gap_s_, highest_power_w(channel_, seen_w));
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

/// Between two movements of the counter by the counter, before and behind them by the power.
std::optional<double> ChannelMeter::counter_until_j(double end_s) const {
  const auto first = counter_.first_inside();
  const auto last = counter_.last_until(end_s);
  const auto by_slope_j = counter_.energy_until_j(end_s);
  if (channel_.counter_period_s == 0 || channel_.averaging_window_s > 0 || lost_power() ||
      !by_slope_j || !first || !last || last->time_s <= first->time_s)
    return by_slope_j;
  const auto before_j = integral_.energy_until_j(first->time_s);
  const auto until_last_j = integral_.energy_until_j(last->time_s);
  const auto until_end_j = integral_.energy_until_j(end_s);
  if (!before_j || !until_last_j || !until_end_j)
    return by_slope_j;
  return *before_j + (last->energy_j - first->energy_j) + (*until_end_j - *until_last_j);
}

std::optional<double> ChannelMeter::energy_counter_j() const {
  const auto energy_j =
      has_counter() && ambiguity().empty() ? counter_until_j(measured_s()) : std::nullopt;
  return energy_j == 0.0 ? std::nullopt : energy_j;  // it has not moved, which says nothing
}

std::optional<double> ChannelMeter::energy_integrated_j() const {
  return lost_power() ? std::nullopt : integral_.energy_until_j(measured_s());
}

ChannelEnergy ChannelMeter::result(const Witness& witness) const {
  ChannelEnergy result;
  result.channel = channel_;
  const bool resolved = *end_s_ >= channel_.update_period_s;
  if (resolved)
    result.energy_integrated_j = energy_integrated_j();
  if (resolved && witness.counter_is_anothers.empty())
    result.energy_counter_j = energy_counter_j();
  result.difference_percent =
      difference_percent(result.energy_counter_j, result.energy_integrated_j);
  result.longest_gap_s = std::max(longest_gap_s_, *end_s_ - last_time_s_);
  result.distrust =
      witness.counter_is_anothers.empty() ? distrust(result) : witness.counter_is_anothers;
  if (!result.distrust.empty() && witness.average_j &&
      *end_s_ >= windows_of_a_witness * witness.average_window_s &&
      std::abs(*witness.average_j - *result.energy_counter_j) <
          std::abs(*witness.average_j - *result.energy_integrated_j))
    result.missed_spikes = fmt::format(
        "its samples miss spikes: the mean over {:.3g} s agrees with its counter, not "
        "with them",
        witness.average_window_s);
  if (!result.missed_spikes.empty())
    result.distrust.clear();
  const bool trusted = result.distrust.empty();
  const RegionSum run{.duration_s = *end_s_,
                      .missing_counter_s = counter_coverage_.missing_until_s(*end_s_),
                      .missing_power_s = power_coverage_.missing_until_s(*end_s_)};
  const Choice choice = chosen(result.energy_counter_j, result.energy_integrated_j, run, trusted);
  if (!failed_for_good()) {
    result.energy_j = choice.energy_j;
    result.uncertainty = uncertainty(choice, run);
  }
  if (!result.energy_j)
    result.absent = failed_for_good() || choice.absent.empty() ? reason() : choice.absent;
  else if (lost_power())
    result.power_lost = fmt::format("its power could not be read after {:.3g} s of {:.3g} s: {}",
                                    last_power_s_, *end_s_, failure_);
  const std::optional<double> known_j = result.energy_j ? result.energy_j
                                        : result.energy_counter_j && trusted
                                            ? result.energy_counter_j
                                            : result.energy_integrated_j;
  if (known_j && measured_s() > 0)
    result.power_mean_w = *known_j / measured_s();
  const auto [min_w, max_w] = widened_to(result.power_mean_w, {power_min_w_, power_max_w_});
  result.power_min_w = min_w;
  result.power_max_w = max_w;
  if (result.energy_j) {
    result.apparent_mean_va = apparent_.mean_va();
    result.apparent_max_va = apparent_.max_va();
  }
  result.samples = samples_;
  result.failures = failures_;
  result.first_sample_s = first_time_s_;
  result.jitter_std_s = jitter_.standard_deviation_s();
  result.jitter_p99_s = jitter_.p99_s();
  result.regions = region_energies(
      trusted, has_counter() && ambiguity().empty() && witness.counter_is_anothers.empty());
  return result;
}

std::vector<RegionEnergy> ChannelMeter::region_energies(bool trusted, bool has_counter) const {
  std::vector<RegionSum> regions = regions_;
  for (const RegionEdge& edge : edges_)
    settle(edge, regions);
  std::vector<RegionEnergy> energies;
  for (const RegionSum& sum : regions)
    energies.push_back(energy_of(sum, trusted, has_counter));
  return energies;
}

}  // namespace bench::energy
