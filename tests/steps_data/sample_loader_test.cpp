#include "data/sample_loader.hpp"

#include "support/message_of.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;

/// Samples of two values, their number and its square; the label is minus the number.
class NumberMaker : public SampleMaker {
 public:
  explicit NumberMaker(std::function<void(std::uint64_t)> before) : before_(std::move(before)) {}

  std::int64_t make(std::uint64_t sample, std::span<float> values) override {
    before_(sample);
    values[0] = static_cast<float>(sample);
    values[1] = static_cast<float>(sample * sample);
    return -static_cast<std::int64_t>(sample);
  }

 private:
  std::function<void(std::uint64_t)> before_;
};

/// @param before is called for each sample that a thread begins
std::vector<std::unique_ptr<SampleMaker>> makers(
    int threads, const std::function<void(std::uint64_t)>& before = [](std::uint64_t) {}) {
  std::vector<std::unique_ptr<SampleMaker>> result;
  for (int i = 0; i < threads; ++i)
    result.push_back(std::make_unique<NumberMaker>(before));
  return result;
}

struct Memory {
  explicit Memory(std::size_t samples) : values(2 * samples), labels(samples, 1) {}
  SampleLoader::BatchMemory spans() { return {values, labels}; }

  std::vector<float> values;
  std::vector<std::int64_t> labels;
};

TEST(SampleLoader, FillsBatchesInTheOrderOfAsking) {
  for (const int threads : {1, 3}) {
    Memory first(3);
    Memory second(2);
    SampleLoader loader(makers(threads));
    loader.ask(4, first.spans());
    loader.ask(0, second.spans());
    loader.take();
    EXPECT_THAT(first.values, ElementsAre(4, 16, 5, 25, 6, 36));
    EXPECT_THAT(first.labels, ElementsAre(-4, -5, -6));
    loader.take();
    EXPECT_THAT(second.values, ElementsAre(0, 0, 1, 1));
  }
}

TEST(SampleLoader, SharesABatchAmongItsThreads) {
  std::latch all_began(3);
  Memory memory(3);
  SampleLoader loader(makers(3, [&](std::uint64_t) { all_began.arrive_and_wait(); }));
  loader.ask(0, memory.spans());
  loader.take();  // would hang if one thread made them all
  EXPECT_THAT(memory.labels, ElementsAre(0, -1, -2));
}

TEST(SampleLoader, WorksAheadOfTheCaller) {
  std::latch made(4);
  Memory first(2);
  Memory second(2);
  SampleLoader loader(makers(1, [&](std::uint64_t) { made.count_down(); }));
  loader.ask(0, first.spans());
  loader.ask(2, second.spans());
  made.wait();  // although nothing was taken
  loader.take();
  loader.take();
  EXPECT_EQ(loader.work().samples, 4U);
}

TEST(SampleLoader, TellsWhatAMakerThrewAndOfSeveralTheFirst) {
  for (const int threads : {1, 4}) {
    Memory good(2);
    Memory bad(8);
    SampleLoader loader(makers(threads, [](std::uint64_t sample) {
      if (sample >= 4)
        throw std::runtime_error("sample " + std::to_string(sample));
    }));
    loader.ask(0, good.spans());
    loader.ask(2, bad.spans());
    loader.take();
    EXPECT_EQ(message_of<std::runtime_error>([&] { loader.take(); }), "sample 4");
  }
}

TEST(SampleLoader, HasNothingThatNobodyAskedFor) {
  SampleLoader loader(makers(1));
  EXPECT_THROW(loader.take(), std::logic_error);
}

TEST(SampleLoader, NeedsAThread) {
  EXPECT_THROW(SampleLoader({}), std::invalid_argument);
}

TEST(SampleLoader, EndsWhileThreadsWaitForWork) {
  const SampleLoader loader(makers(4));
}

TEST(SampleLoader, EndsWhileBatchesAreUnderWay) {
  std::atomic<int> begun = 0;
  std::latch first_began(2);
  std::vector<Memory> memory(100, Memory(100));
  {
    SampleLoader loader(makers(2, [&](std::uint64_t) {
      if (++begun <= 2)
        first_began.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // all of them would take 5 s
    }));
    for (std::size_t i = 0; i < memory.size(); ++i)
      loader.ask(100 * i, memory[i].spans());
    first_began.wait();
  }
  EXPECT_LT(begun, 10'000);
}

}  // namespace
}  // namespace bench::steps
