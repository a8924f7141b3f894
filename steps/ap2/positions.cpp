#include "ap2/positions.hpp"

#include "ap2/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace bench::ap2 {

std::int64_t position_bucket(std::int64_t distance) {
  constexpr std::int64_t exact = position_buckets / 2;
  const std::int64_t size = std::abs(distance);
  if (size <= exact)
    return distance;
  const double share = std::log(static_cast<double>(size) / exact) /
                       std::log(static_cast<double>(most_positions - 1) / exact);
  const auto bucket = static_cast<std::int64_t>(std::ceil(share * (exact - 1))) + exact;
  return distance < 0 ? -bucket : bucket;
}

RelativePositions relative_positions(std::int64_t sequence) {
  RelativePositions positions{.of_key = torch::empty({sequence, sequence}, torch::kLong),
                              .of_query = torch::empty({sequence, sequence}, torch::kLong)};
  const auto row = [](std::int64_t bucket) {
    return std::clamp<std::int64_t>(bucket + position_buckets, 0, 2 * position_buckets - 1);
  };
  auto of_key = positions.of_key.accessor<std::int64_t, 2>();
  auto of_query = positions.of_query.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < sequence; ++i)
    for (std::int64_t j = 0; j < sequence; ++j) {
      const std::int64_t bucket = position_bucket(i - j);
      of_key[i][j] = row(bucket);
      of_query[i][j] = row(-bucket);
    }
  return positions;
}

}  // namespace bench::ap2
