#include "harness/batches.hpp"

#include "data/field_samples.hpp"
#include "data/token_dataset.hpp"
#include "harness/loader_options.hpp"
#include "support/case_name.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {

// Copies to a GPU beside the computation: their order, with a stream that writes down what it is
// told; and on a real GPU, what comes out.

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
                         support::case_name);

using support::message_of;

/// Images and grids as (C, H, W) and (H, W, C), masks and labels.
SampleMakers mixed_makers(int threads = 1) {
  return synthetic_field_makers({{.field = {"image", FieldType::float32, {3, 4, 6}}},
                                 {.field = {"grid", FieldType::float32, {4, 6, 3}}},
                                 {.field = {"mask", FieldType::int64, {4, 6}}, .bound = 5},
                                 {.field = {"label", FieldType::int64, {}}, .bound = 1000}},
                                1, threads);
}

/// All tokens of so many batches, (batches, B, S + 1).
torch::Tensor tokens_of(const BatchShare& share, int batches, int threads = 1,
                        std::int64_t prefetch = 2) {
  LoadedBatches loaded(synthetic_token_makers(3, 50000, 6, threads),
                       {.share = share, .prefetch = prefetch});
  std::vector<torch::Tensor> tokens;
  for (int i = 0; i < batches; ++i)
    tokens.push_back(loaded.next()["tokens"]);
  return torch::stack(tokens);
}

TEST(Batch, HasTensorsByName) {
  const Batch batch({{"image", torch::zeros({2, 3})}, {"label", torch::ones({2}, torch::kLong)}});
  EXPECT_TRUE(torch::equal(batch["label"], torch::ones({2}, torch::kLong)));
  EXPECT_EQ(batch.samples(), 2);
  EXPECT_EQ(batch.bytes(), 2 * 3 * 4 + 2 * 8);
  EXPECT_EQ(message_of<std::out_of_range>([&] { batch["mask"]; }),
            "no field 'mask' in a batch of: image, label");
}

TEST(LoadedBatches, HaveEveryFieldInItsShapeAndType) {
  LoadedBatches loaded(mixed_makers(), {.share = {.batch_size = 2}});
  const Batch& batch = loaded.next();
  ASSERT_EQ(batch.tensors().size(), 4U);
  EXPECT_EQ(batch["image"].sizes(), torch::IntArrayRef({2, 3, 4, 6}));
  EXPECT_EQ(batch["mask"].sizes(), torch::IntArrayRef({2, 4, 6}));
  EXPECT_EQ(batch["label"].sizes(), torch::IntArrayRef({2}));
  EXPECT_EQ(batch["image"].scalar_type(), torch::kFloat);
  EXPECT_EQ(batch["label"].scalar_type(), torch::kLong);
  EXPECT_EQ(loaded.bytes_per_sample(), 2 * 72 * 4 + 24 * 8 + 8);
  EXPECT_EQ(batch.bytes(), 2 * loaded.bytes_per_sample());
}

TEST(LoadedBatches, DoNotDependOnThreadsAndPrefetch) {
  const torch::Tensor alone = tokens_of({.batch_size = 5}, 4, 1, 1);
  EXPECT_TRUE(torch::equal(tokens_of({.batch_size = 5}, 4, 3, 6), alone));
}

struct ShareCase {
  std::string name;
  std::int64_t ranks;
  std::int64_t micro_batches;
};
TEST(BatchShare, DividesTheSamplesOfEachStepWithoutLossOrDouble) {
  const ShareCase cases[] = {
      {"OneRank", 1, 1}, {"Ranks", 3, 1}, {"MicroBatches", 1, 4}, {"RanksWithMicroBatches", 2, 3}};
  for (const ShareCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto [name, ranks, micro_batches] = c;
    constexpr int steps = 3;
    const std::int64_t batch_size = 12 / ranks / micro_batches;
    const torch::Tensor expected = tokens_of({.batch_size = 12, .first_sample = 24}, steps);
    std::vector<torch::Tensor> shares;
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      shares.push_back(tokens_of({.batch_size = batch_size,
                                  .micro_batches = micro_batches,
                                  .rank = rank,
                                  .ranks = ranks,
                                  .first_sample = 24},
                                 steps * static_cast<int>(micro_batches))
                           .view({steps, 12 / ranks, 7}));
    EXPECT_TRUE(torch::equal(torch::cat(shares, 1), expected));
  }
}

TEST(LoadedBatches, BeginAtAnySample) {
  const torch::Tensor all = tokens_of({.batch_size = 4}, 5);
  EXPECT_TRUE(
      torch::equal(tokens_of({.batch_size = 4, .first_sample = 8}, 3), all.narrow(0, 2, 3)));
}

TEST(LoadedBatches, OnACpuLiveAsLongAsTheirHolder) {
  LoadedBatches loaded(mixed_makers(2), {.share = {.batch_size = 4}, .prefetch = 3});
  const torch::Tensor first = loaded.next()["image"];
  const torch::Tensor copy = first.clone();
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(torch::equal(loaded.next()["image"], copy));
  EXPECT_TRUE(torch::equal(first, copy));
  EXPECT_GE(loaded.work()->samples, 24U);
}

TEST(LoadedBatches, ShowChannelsFirstWhereTheyLieLast) {
  LoadedBatches plain(mixed_makers(), {.share = {.batch_size = 2}});
  LoadedBatches hwc(mixed_makers(), {.share = {.batch_size = 2}, .hwc_fields = {"grid"}});
  const Batch& batch = hwc.next();
  EXPECT_EQ(batch["grid"].sizes(), torch::IntArrayRef({2, 3, 4, 6}));
  EXPECT_TRUE(batch["grid"].is_contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::equal(batch["grid"].permute({0, 2, 3, 1}), plain.next()["grid"]));
  EXPECT_TRUE(batch["image"].is_contiguous());
}

TEST(LoadedBatches, ConvertFloatImagesToChannelsLastMemory) {
  LoadedBatches plain(mixed_makers(), {.share = {.batch_size = 2}});
  LoadedBatches converted(mixed_makers(), {.share = {.batch_size = 2}, .channels_last = true});
  const Batch& batch = converted.next();
  EXPECT_TRUE(batch["image"].is_contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_FALSE(batch["image"].is_contiguous());
  EXPECT_TRUE(torch::equal(batch["image"], plain.next()["image"]));
  EXPECT_TRUE(batch["mask"].is_contiguous());
}

TEST(LoadedBatches, RefuseChannelsThatDoNotExist) {
  const auto refusal = [](const char* field) {
    return message_of<std::invalid_argument>(
        [&] { LoadedBatches(mixed_makers(), {.hwc_fields = {field}}); });
  };
  EXPECT_EQ(refusal("pixels"), "no field 'pixels' with channels");
  EXPECT_EQ(refusal("label"), "field 'label' has too few dimensions for channels");
}

TEST(LoadedBatches, HaveOneValidBatchAtAFixedAddress) {
  EXPECT_THROW(LoadedBatches(mixed_makers(), {.fixed_address = true, .valid_batches = 2}),
               std::invalid_argument);
  EXPECT_THROW(LoadedBatches(mixed_makers(), {.valid_batches = 0}), std::invalid_argument);
}

/// Throws for every sample from the third on.
class DamagedMaker : public SampleMaker {
 public:
  const std::vector<Field>& fields() const override { return fields_; }
  std::optional<std::uint64_t> samples_per_epoch() const override { return 10; }
  void make(std::uint64_t sample, const FieldMemory&) override {
    if (sample >= 2)
      throw std::runtime_error("sample " + std::to_string(sample));
  }

 private:
  std::vector<Field> fields_ = {{"label", FieldType::int64, {}}};
};

SampleMakers damaged_makers() {
  SampleMakers makers;
  makers.push_back(std::make_unique<DamagedMaker>());
  return makers;
}

TEST(LoadedBatches, FailInTheStepWhoseSampleIsDamaged) {
  LoadedBatches loaded(damaged_makers(), {.share = {.batch_size = 2}});
  loaded.next();
  EXPECT_EQ(message_of<std::runtime_error>([&] { loaded.next(); }), "sample 2");
}

TEST(LoadedBatches, KnowTheirEpoch) {
  EXPECT_EQ(LoadedBatches(damaged_makers(), {}).samples_per_epoch(), 10U);
  EXPECT_FALSE(LoadedBatches(mixed_makers(), {}).samples_per_epoch());
}

TEST(ResidentBatches, AreTheSameInEveryStep) {
  LoadedBatches loaded(mixed_makers(), {.share = {.batch_size = 2}});
  ResidentBatches resident(loaded.next());
  const torch::Tensor first = resident.next()["image"];
  EXPECT_EQ(resident.next()["image"].data_ptr(), first.data_ptr());
  EXPECT_EQ(resident.bytes_per_sample(), loaded.bytes_per_sample());
  EXPECT_FALSE(resident.work());
}

TEST(DefaultLoaderThreads, LeaveACpuToTheProgramOnAGpuAndFollowTheCpusElse) {
  struct Case {
    int cpus;
    int node_cpus;
    int ranks_on_node;
    bool on_gpu;
    int expected;
  };
  const Case cases[] = {
      {64, 64, 1, true, 63},  // alone
      {64, 64, 4, true, 15},  // four that nobody bound share the node
      {16, 64, 4, true, 15},  // four of which each has its own
      {1, 64, 64, true, 1},  {64, 64, 1, false, 4}, {2, 2, 1, false, 1},
  };
  for (const Case& c : cases)
    EXPECT_EQ(default_loader_threads(c.cpus, c.node_cpus, c.ranks_on_node, c.on_gpu), c.expected)
        << c.cpus << " " << c.ranks_on_node;
}

}  // namespace
}  // namespace bench::steps
