#include <atomic>
#include <barrier>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <bench/energy/sources/nvml.hpp>

namespace bench::energy {
namespace {

TEST(DeviceThreads, ReadEveryDeviceOnceARound) {
  std::vector<int> reads(8, 0);
  DeviceThreads threads(reads.size(), [&](std::size_t device) { ++reads[device]; });
  for (int round = 1; round <= 100; ++round) {
    threads.read_all();
    EXPECT_EQ(reads, std::vector<int>(8, round));
  }
}

/// One that waited for another would never return.
TEST(DeviceThreads, ReadAllDevicesAtTheSameTime) {
  std::barrier all_are_there(8);
  std::atomic<int> reads = 0;
  DeviceThreads threads(8, [&](std::size_t) {
    all_are_there.arrive_and_wait();
    ++reads;
  });
  threads.read_all();
  threads.read_all();
  EXPECT_EQ(reads, 16);
}

TEST(DeviceThreads, EndWithoutAReading) {
  int reads = 0;
  {
    const DeviceThreads threads(8, [&](std::size_t) { ++reads; });
  }
  EXPECT_EQ(reads, 0);
}

}  // namespace
}  // namespace bench::energy
