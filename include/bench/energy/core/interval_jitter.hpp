#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace bench::energy {

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

}  // namespace bench::energy
