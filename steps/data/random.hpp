#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::steps {

/// A random function of its argument: Steele et al., Fast Splittable Pseudorandom Number Generators
/// (OOPSLA 2014), figure 16, SplitMix64 with variant 13 of the mixing function.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Random numbers of one stream; the same on every machine and with every compiler, which the
/// distributions of the standard library are not.
class Random {
 public:
  explicit Random(std::uint64_t stream) : state_(mixed(stream)) {}

  /// All 64 bits. SplitMix64 of the paper named at `mixed`.
  std::uint64_t next() {
    const std::uint64_t number = mixed(state_);
    state_ += 0x9e3779b97f4a7c15;
    return number;
  }

  /// Uniform in 0 <= number < bound, without bias. Lemire, Fast Random Integer Generation in an
  /// Interval (arXiv:1805.10941), algorithm 5, with words of 32 bits.
  /// @param bound at least 1
  std::uint32_t below(std::uint32_t bound);

  /// Uniform in 0 <= number < 1, a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// N(0, 1), as one of 4096 `normal_levels` within 4.
  float normal();

 private:
  std::uint64_t state_;
};

/// The numbers below `count` in random order (Fisher and Yates), 4 bytes each.
std::vector<std::uint32_t> permutation(std::uint32_t count, Random random);

/// Equally likely values, in rising order, that stand for N(0, 1): a random one of them costs a
/// look into a table, where exact draws cost logarithms.
///
/// Each is the quantile in the middle of its share of the distribution.
///
/// @param cut nothing lies further than that from 0
std::vector<double> normal_levels(std::size_t count, double cut);

}  // namespace bench::steps
