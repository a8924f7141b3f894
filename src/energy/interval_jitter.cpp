#include <algorithm>
#include <cmath>

#include <bench/energy/interval_jitter.hpp>

namespace bench::energy {
namespace {

constexpr double smallest_s = 1e-6;
constexpr double share = 0.99;

}  // namespace

void IntervalJitter::add(double interval_s, double wanted_s) {
  const double difference_s = interval_s - wanted_s;
  ++count_;
  const double before_s = difference_s - mean_s_;
  mean_s_ += before_s / static_cast<double>(count_);
  squares_s2_ += before_s * (difference_s - mean_s_);
  const double decade = std::log10(std::max(std::fabs(difference_s), smallest_s) / smallest_s);
  const auto bin = static_cast<std::size_t>(std::ceil(decade * bins_per_decade));
  ++bins_[std::min(bin, bins_.size() - 1)];
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
  return smallest_s * std::pow(10, static_cast<double>(bin) / bins_per_decade);
}

}  // namespace bench::energy
