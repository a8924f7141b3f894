#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <bench/energy/core/interval_jitter.hpp>

namespace bench::energy {
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

}  // namespace bench::energy
