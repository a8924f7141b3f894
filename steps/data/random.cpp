#include "data/random.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace bench::steps {

std::uint32_t Random::below(std::uint32_t bound) {
  const auto draw = [&] { return (next() >> 32) * bound; };
  std::uint64_t product = draw();
  // Only the lowest of the fractions are drawn too often; `-bound % bound` is 2^32 mod bound.
  if (static_cast<std::uint32_t>(product) < bound)
    for (const std::uint32_t least = -bound % bound; static_cast<std::uint32_t>(product) < least;)
      product = draw();
  return static_cast<std::uint32_t>(product >> 32);
}

float Random::normal() {
  constexpr std::size_t bits = 12;
  static const std::vector<double> levels = normal_levels(std::size_t{1} << bits, 4);
  return static_cast<float>(levels[next() >> (64 - bits)]);
}

std::vector<std::uint32_t> permutation(std::uint32_t count, Random random) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  for (std::uint32_t left = count; left > 1; --left)
    std::swap(numbers[left - 1], numbers[random.below(left)]);
  return numbers;
}

namespace {

/// The share of the distribution below `x`, of what lies within the cut.
double share_below(double x, double cut) {
  const double end = std::erf(cut / std::sqrt(2.0));
  return (std::erf(x / std::sqrt(2.0)) + end) / (2 * end);
}

/// The value that this share lies below, by halving.
double quantile(double share, double cut) {
  double low = -cut;
  double high = cut;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (share_below(middle, cut) < share ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::vector<double> normal_levels(std::size_t count, double cut) {
  std::vector<double> levels;
  for (std::size_t i = 0; i < count; ++i)
    levels.push_back(quantile((static_cast<double>(i) + 0.5) / static_cast<double>(count), cut));
  return levels;
}

}  // namespace bench::steps
