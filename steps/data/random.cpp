#include "data/random.hpp"

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

std::vector<std::uint32_t> permutation(std::uint32_t count, Random random) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  for (std::uint32_t left = count; left > 1; --left)
    std::swap(numbers[left - 1], numbers[random.below(left)]);
  return numbers;
}

}  // namespace bench::steps
