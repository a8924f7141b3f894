#include "pages/envelope.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gmock/gmock.h>

namespace bench::pages {
namespace {

using Point = Envelope::Point;

std::vector<Point> kept_of(int count, std::size_t most_points, double (*y)(int)) {
  Envelope envelope(most_points);
  for (int k = 0; k < count; ++k)
    envelope.add({.x = 0.01 * k, .y = y(k)});
  return envelope.points();
}

TEST(EnvelopeTest, KeepsPeaksOrderAndTheEnds) {
  constexpr std::size_t most = 800;
  const auto points = kept_of(100'000, most, [](int k) {
    return k == 77'777 ? 900.0 : k == 1234 ? 3.0 : 100.0;
  });
  EXPECT_LE(points.size(), most);
  EXPECT_GE(points.size(), most / 4);
  const Point highest = *std::ranges::max_element(points, {}, &Point::y);
  EXPECT_EQ(highest.y, 900);
  EXPECT_DOUBLE_EQ(highest.x, 777.77);
  EXPECT_EQ(std::ranges::min_element(points, {}, &Point::y)->y, 3);
  EXPECT_EQ(std::ranges::adjacent_find(points, std::ranges::greater_equal(), &Point::x),
            points.end());
  EXPECT_EQ(points.front().x, 0);
  EXPECT_DOUBLE_EQ(points.back().x, 999.99);
}

TEST(EnvelopeTest, NeverExceedsItsLimit) {
  for (const std::size_t most : {5U, 6U, 7U, 8U, 2000U})
    for (const int count : {1, 5, 9, 2001, 6000})
      EXPECT_LE(kept_of(count, most, [](int k) { return k % 2 == 0 ? 1.0 * k : -1.0 * k; }).size(),
                most)
          << count;
}

TEST(EnvelopeTest, KeepsAllOfAFewPoints) {
  EXPECT_TRUE(kept_of(0, 100, [](int) { return 0.0; }).empty());
  EXPECT_EQ(kept_of(40, 100, [](int) { return 7.0; }).size(), 40U);
}

}  // namespace
}  // namespace bench::pages
