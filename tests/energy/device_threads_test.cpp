#include <atomic>
#include <barrier>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <bench/energy/drivers/device_threads.hpp>

namespace bench::energy {
namespace {

TEST(DeviceThreads, LookAtEveryDeviceOnceARound) {
  std::vector<int> looks(8, 0);
  DeviceThreads threads(looks.size(), [&](std::size_t device) { ++looks[device]; });
  for (int round = 1; round <= 100; ++round) {
    threads.read_all();
    EXPECT_EQ(looks, std::vector<int>(8, round));
  }
}

/// One that waited for another would never return.
TEST(DeviceThreads, LookAtAllDevicesAtTheSameTime) {
  std::barrier all_are_there(8);
  std::atomic<int> looks = 0;
  DeviceThreads threads(8, [&](std::size_t) {
    all_are_there.arrive_and_wait();
    ++looks;
  });
  threads.read_all();
  threads.read_all();
  EXPECT_EQ(looks, 16);
}

TEST(DeviceThreads, EndWithoutALook) {
  int looks = 0;
  {
    const DeviceThreads threads(8, [&](std::size_t) { ++looks; });
  }
  EXPECT_EQ(looks, 0);
}

}  // namespace
}  // namespace bench::energy
