// Copies to a GPU beside the computation: their order, with a stream that writes down what it is
// told; and on a real GPU, what comes out.

#include "data/generated_samples.hpp"
#include "harness/batches.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;
using Calls = std::vector<std::string>;

/// Copies at once.
class RecordingStream : public CopyStream {
 public:
  explicit RecordingStream(Calls& calls) : calls_(calls) {}

  void copy(std::size_t slot, const Batch& from, Batch& to) override {
    to.copy_from(from);
    call("copy", slot);
  }
  void wait_for_copy(std::size_t slot) override { call("wait", slot); }
  void release(std::size_t slot) override { call("release", slot); }

 private:
  void call(const std::string& name, std::size_t slot) {
    calls_.push_back(name + " " + std::to_string(slot));
  }

  Calls& calls_;
};

Batch number_batch(double number) {
  return Batch({{"number", torch::full({2}, number)}});
}

class BatchRingTest : public testing::Test {
 protected:
  /// @param slots of the ring
  BatchRing make(std::size_t slots) {
    std::vector<Batch> memory;
    for (std::size_t i = 0; i < slots; ++i)
      memory.push_back(number_batch(-1));
    BatchRing ring(std::move(memory), std::make_unique<RecordingStream>(calls_));
    return ring;
  }

  /// Copies the batch of that number before the one before it is used up, as a loader does that is
  /// ahead.
  void step(BatchRing& ring, int number) {
    if (!ring.has_next())
      ring.copy(number_batch(number));
    numbers_.push_back(ring.next()["number"]);
    ring.copy(number_batch(number + 1));
  }

  Calls calls_;
  std::vector<torch::Tensor> numbers_;  ///< Of each step.
};

TEST_F(BatchRingTest, CopiesTheNextBatchToTheSlotThatWasReadBefore) {
  BatchRing ring = make(2);
  EXPECT_THAT(calls_, ElementsAre("release 0", "release 1"));
  calls_.clear();
  step(ring, 0);
  EXPECT_THAT(calls_, ElementsAre("copy 0", "wait 0", "copy 1"));
  calls_.clear();
  step(ring, 1);
  EXPECT_THAT(calls_, ElementsAre("release 0", "wait 1", "copy 0"));
  calls_.clear();
  step(ring, 2);
  EXPECT_THAT(calls_, ElementsAre("release 1", "wait 0", "copy 1"));
}

TEST_F(BatchRingTest, ReleasesASlotOnlyWhenItsBatchIsNoLongerValid) {
  BatchRing ring = make(3);
  step(ring, 0);
  step(ring, 1);
  calls_.clear();
  step(ring, 2);
  EXPECT_THAT(calls_, ElementsAre("release 0", "wait 2", "copy 0"));
}

TEST_F(BatchRingTest, KeepsAllBatchesButOneUntouched) {
  for (const std::size_t slots : {2U, 4U}) {
    numbers_.clear();
    BatchRing ring = make(slots);
    for (int number = 0; number < 10; ++number) {
      step(ring, number);
      const auto valid = std::min<std::size_t>(slots - 1, numbers_.size());
      for (std::size_t age = 0; age < valid; ++age)
        EXPECT_EQ(numbers_[numbers_.size() - 1 - age][0].item<int>(),
                  number - static_cast<int>(age));
    }
  }
}

TEST_F(BatchRingTest, RefusesCallsOutOfOrder) {
  BatchRing ring = make(2);
  EXPECT_THROW(ring.next(), std::logic_error);
  ring.copy(number_batch(0));
  EXPECT_THROW(ring.copy(number_batch(1)), std::logic_error);
  EXPECT_THROW(make(1), std::invalid_argument);
}

struct GpuMode {
  std::string name;
  BatchOptions options;
};
void PrintTo(const GpuMode& mode, std::ostream* out) {
  *out << mode.name;
}
class BatchesOnGpu : public testing::TestWithParam<GpuMode> {
 protected:
  void SetUp() override {
    if (torch::cuda::device_count() == 0)
      GTEST_SKIP() << "LibTorch sees no GPU";
  }
};

// Each step multiplies matrices for a while before it reads the batch: a copy that did not wait
// for the step would overwrite the batch.
TEST_P(BatchesOnGpu, HaveTheNumbersOfTheCpu) {
  const auto makers = [] {
    return synthetic_field_makers({{.field = {"image", FieldType::float32, {3, 64, 64}}},
                                   {.field = {"label", FieldType::int64, {}}, .bound = 1000}},
                                  1, 2);
  };
  BatchOptions options = GetParam().options;
  options.share.batch_size = 16;
  LoadedBatches expected(makers(), {.share = options.share});
  options.device = torch::Device(torch::kCUDA, 0);
  LoadedBatches loaded(makers(), options);
  const torch::Tensor matrix = torch::rand({2048, 2048}, options.device);
  std::vector<torch::Tensor> images;
  for (int i = 0; i < 20; ++i) {
    const Batch& batch = loaded.next();
    torch::Tensor product = matrix;
    for (int k = 0; k < 20; ++k)
      product = torch::mm(matrix, product).div_(2048);
    images.push_back(batch["image"] + 0 * product.sum());
  }
  for (const torch::Tensor& image : images)
    EXPECT_TRUE(torch::equal(image.cpu(), expected.next()["image"]));
}

INSTANTIATE_TEST_SUITE_P(Modes, BatchesOnGpu,
                         testing::Values(GpuMode{"Plain", {}},
                                         GpuMode{"ChannelsLast", {.channels_last = true}},
                                         GpuMode{"FixedAddress", {.fixed_address = true}},
                                         GpuMode{"ThreeValid", {.valid_batches = 3}}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace bench::steps
