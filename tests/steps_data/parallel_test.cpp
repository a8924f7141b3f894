#include "data/parallel.hpp"

#include "support/message_of.hpp"

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

TEST(ForEachIndex, CallsOncePerIndex) {
  for (const int threads : {0, 1, 3, 100}) {
    std::vector<std::atomic<int>> calls(50);
    for_each_index(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    EXPECT_THAT(std::vector<int>(calls.begin(), calls.end()), testing::Each(1)) << threads;
  }
}

TEST(ForEachIndex, ThrowsOnAndBeginsNothingMore) {
  for (const int threads : {1, 4}) {
    std::atomic<int> calls = 0;
    const auto work = [&](std::size_t i) {
      ++calls;
      if (i >= 5)
        throw std::runtime_error(std::to_string(i));
    };
    const std::string message =
        support::message_of<std::runtime_error>([&] { for_each_index(1000, threads, work); });
    EXPECT_THAT(message, testing::AnyOf("5", "6", "7", "8"));
    EXPECT_LE(calls, 5 + threads);
  }
}

}  // namespace
}  // namespace bench::steps
