#include "data/sample_loader.hpp"

#include "harness/errors.hpp"
#include "support/message_of.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using Items = std::vector<std::uint64_t>;

Items epoch(EpochOrder& order, std::uint64_t items, std::uint64_t number) {
  Items result;
  for (std::uint64_t sample = number * items; sample < (number + 1) * items; ++sample)
    result.push_back(order.item(sample));
  return result;
}

Items all_items(std::uint64_t items) {
  Items result(items);
  std::iota(result.begin(), result.end(), 0U);
  return result;
}

TEST(EpochOrder, HoldsEachItemOnceInEveryEpoch) {
  EpochOrder order(1000, 7);
  for (const std::uint64_t number : {0U, 1U, 5U, 4U})
    EXPECT_THAT(epoch(order, 1000, number), testing::UnorderedElementsAreArray(all_items(1000)));
}

TEST(EpochOrder, IsAnotherOneInEachEpochAndForEachSeed) {
  EpochOrder order(100, 7);
  EpochOrder other(100, 8);
  const Items first = epoch(order, 100, 0);
  EXPECT_NE(first, all_items(100));
  EXPECT_NE(first, epoch(order, 100, 1));
  EXPECT_NE(first, epoch(other, 100, 0));
  EXPECT_EQ(first, epoch(order, 100, 0));
}

TEST(EpochOrder, CountsWithoutSeed) {
  EpochOrder order(5, std::nullopt);
  EXPECT_EQ(epoch(order, 5, 0), all_items(5));
  EXPECT_EQ(epoch(order, 5, 3), all_items(5));
}

TEST(EpochOrder, IsTheSameForThreadsInDifferentEpochs) {
  EpochOrder alone(50, 3);
  Items expected;
  for (std::uint64_t sample = 0; sample < 400; ++sample)
    expected.push_back(alone.item(sample));
  EpochOrder shared(50, 3);
  Items found(400);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        for (std::size_t sample = thread; sample < 400; sample += 4)
          found[sample] = shared.item(sample);
      });
  }
  EXPECT_EQ(found, expected);
}

TEST(EpochOrder, NeedsItemsThatFourBytesCount) {
  EXPECT_THROW(EpochOrder(0, 1), UsageError);
  EXPECT_THROW(EpochOrder(std::uint64_t{1} << 32, 1), UsageError);
}

using support::message_of;
using testing::ElementsAre;

/// Samples of two values, their number and its square; the label is minus the number.
class NumberMaker : public SampleMaker {
 public:
  explicit NumberMaker(std::function<void(std::uint64_t)> before) : before_(std::move(before)) {}

  const std::vector<Field>& fields() const override { return fields_; }

  void make(std::uint64_t sample, const FieldMemory& memory) override {
    before_(sample);
    floats(memory[0])[0] = static_cast<float>(sample);
    floats(memory[0])[1] = static_cast<float>(sample * sample);
    integers(memory[1])[0] = -static_cast<std::int64_t>(sample);
  }

 private:
  std::vector<Field> fields_ = {{"values", FieldType::float32, {2}},
                                {"label", FieldType::int64, {}}};
  std::function<void(std::uint64_t)> before_;
};

/// @param before is called for each sample that a thread begins
SampleMakers makers(
    int threads, const std::function<void(std::uint64_t)>& before = [](std::uint64_t) {}) {
  SampleMakers result;
  for (int i = 0; i < threads; ++i)
    result.push_back(std::make_unique<NumberMaker>(before));
  return result;
}

struct Memory {
  explicit Memory(std::size_t samples) : values(2 * samples), labels(samples, 1) {}
  SampleLoader::BatchMemory spans() {
    return {.fields = {std::as_writable_bytes(std::span(values)),
                       std::as_writable_bytes(std::span(labels))},
            .samples = labels.size()};
  }

  std::vector<float> values;
  std::vector<std::int64_t> labels;
};

TEST(SampleLoader, FillsBatchesInTheOrderOfTheRequests) {
  for (const int threads : {1, 3}) {
    Memory first(3);
    Memory second(2);
    SampleLoader loader(makers(threads));
    loader.request(4, first.spans());
    loader.request(0, second.spans());
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
  loader.request(0, memory.spans());
  loader.take();  // would hang if one thread made them all
  EXPECT_THAT(memory.labels, ElementsAre(0, -1, -2));
}

TEST(SampleLoader, WorksAheadOfTheCaller) {
  std::latch made(4);
  Memory first(2);
  Memory second(2);
  SampleLoader loader(makers(1, [&](std::uint64_t) { made.count_down(); }));
  loader.request(0, first.spans());
  loader.request(2, second.spans());
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
    loader.request(0, good.spans());
    loader.request(2, bad.spans());
    loader.take();
    EXPECT_EQ(message_of<std::runtime_error>([&] { loader.take(); }), "sample 4");
  }
}

TEST(SampleLoader, HasNothingThatNobodyRequested) {
  SampleLoader loader(makers(1));
  EXPECT_THROW(loader.take(), std::logic_error);
}

TEST(SampleLoader, IsReadyOnceTheOldestBatchIsComplete) {
  std::latch may_end(1);
  std::latch second_began(1);
  Memory first(1);
  Memory second(1);
  SampleLoader loader(makers(1, [&](std::uint64_t sample) {
    if (sample == 0)
      may_end.wait();
    else
      second_began.count_down();
  }));
  EXPECT_FALSE(loader.is_ready());
  loader.request(0, first.spans());
  loader.request(1, second.spans());
  EXPECT_FALSE(loader.is_ready());
  may_end.count_down();
  second_began.wait();
  EXPECT_TRUE(loader.is_ready());
}

TEST(SampleLoader, IsNotReadyToThrow) {
  std::latch second_began(1);
  Memory first(1);
  Memory second(1);
  SampleLoader loader(makers(1, [&](std::uint64_t sample) {
    if (sample == 0)
      throw std::runtime_error("damaged");
    second_began.count_down();
  }));
  loader.request(0, first.spans());
  loader.request(1, second.spans());
  second_began.wait();
  EXPECT_FALSE(loader.is_ready());
}

TEST(SampleLoader, RefusesMemoryThatDoesNotFitTheFields) {
  Memory memory(2);
  SampleLoader loader(makers(1));
  SampleLoader::BatchMemory empty = memory.spans();
  empty.samples = 0;
  SampleLoader::BatchMemory large = memory.spans();
  large.samples = 3;
  SampleLoader::BatchMemory without_labels = memory.spans();
  without_labels.fields.pop_back();
  const auto refusal = [&](const SampleLoader::BatchMemory& wrong) {
    return message_of<std::invalid_argument>([&] { loader.request(0, wrong); });
  };
  EXPECT_EQ(refusal(empty), "a batch without samples");
  EXPECT_EQ(refusal(large), "a batch with 16 bytes for field 'values' instead of 3 x 8");
  EXPECT_EQ(refusal(without_labels), "a batch with memory for 1 fields instead of 2");
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
      loader.request(100 * i, memory[i].spans());
    first_began.wait();
  }
  EXPECT_LT(begun, 10'000);
}

}  // namespace
}  // namespace bench::steps
