#include "data/hdf5.hpp"
#include "data/parallel.hpp"

#include <algorithm>
#include <cstddef>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

TEST(Hdf5Lock, AdmitsOneThreadWhichMayHoldSeveral) {
  int inside = 0;  // not atomic: two threads at once would lose calls
  int calls = 0;
  int most_inside = 0;
  for_each_index(8, 8, [&](std::size_t) {
    for (int i = 0; i < 1000; ++i) {
      const Hdf5Lock outer;
      const Hdf5Lock inner;
      ++calls;
      most_inside = std::max(most_inside, ++inside);
      --inside;
    }
  });
  EXPECT_EQ(calls, 8000);
  EXPECT_EQ(most_inside, 1);
}

}  // namespace
}  // namespace bench::steps
