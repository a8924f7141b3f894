#include "vision/data.hpp"
#include "vision/options.hpp"
#include "vision/report.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench::vision {
namespace {

TEST(SyntheticPixels, AreATruncatedNormalDistribution) {
  torch::manual_seed(3);
  const torch::Tensor pixels = synthetic_pixels(4, 128, torch::Device(torch::kCPU));
  EXPECT_EQ(pixels.sizes(), (std::vector<std::int64_t>{4, 3, 128, 128}));
  EXPECT_GE(pixels.min().item<double>(), 7);
  EXPECT_LE(pixels.max().item<double>(), 247);
  EXPECT_NEAR(pixels.mean().item<double>(), 127, 0.5);
  // A normal distribution cut at 2 deviations keeps 0.8796 of its deviation.
  EXPECT_NEAR(pixels.std().item<double>(), 0.8796 * 60, 0.3);
}

steps::Batch made_with(std::uint64_t seed, const std::string& memory_format = "contiguous") {
  Options options;
  options.common.batch_size = 64;
  options.image_size = 32;
  options.classes = 10;
  options.memory_format = memory_format;
  torch::manual_seed(seed);
  return synthetic_batch(options, torch::Device(torch::kCPU));
}

TEST(SyntheticBatch, IsNormalisedAndLabelled) {
  const steps::Batch batch = made_with(3, "channels_last");
  EXPECT_TRUE(batch["image"].is_contiguous(torch::MemoryFormat::ChannelsLast));
  // (127/255 - 0.485) / 0.229, ... per channel
  const torch::Tensor mean = batch["image"].mean({0, 2, 3});
  EXPECT_NEAR(mean[0].item<double>(), 0.057, 0.02);
  EXPECT_NEAR(mean[1].item<double>(), 0.188, 0.02);
  EXPECT_NEAR(mean[2].item<double>(), 0.409, 0.02);
  const torch::Tensor& labels = batch["label"];
  EXPECT_EQ(labels.scalar_type(), torch::kLong);
  EXPECT_GE(labels.min().item<std::int64_t>(), 0);
  EXPECT_LT(labels.max().item<std::int64_t>(), 10);
  EXPECT_EQ(std::get<0>(torch::_unique(labels)).numel(), 10);
}

TEST(SyntheticBatch, FollowsTheSeed) {
  EXPECT_TRUE(torch::equal(made_with(5)["image"], made_with(5)["image"]));
  EXPECT_TRUE(torch::equal(made_with(5)["label"], made_with(5)["label"]));
  EXPECT_FALSE(torch::equal(made_with(5)["image"], made_with(6)["image"]));
}

TEST(StepLog, LineIsThatOfTfCnnBenchmarks) {
  // Speeds 4, 2, 1, 8: their deviation over n is sqrt(28.75 / 4), the distances from their median
  // 3 are 1, 1, 2, 5. The mean step takes 3.75 s.
  EXPECT_EQ(step_line(8, std::vector<double>{2, 4, 8, 1}, 7.5926),
            "4\timages/sec: 2.1 +/- 1.3 (jitter = 2.2)\t7.593");
  EXPECT_EQ(step_line(8, std::vector<double>{2}, 8.169),
            "1\timages/sec: 4.0 +/- 0.0 (jitter = 0.0)\t8.169");
}

TEST(StepLog, TotalIsThatOfTfCnnBenchmarks) {
  const std::string rule = std::string(64, '-') + "\n";
  EXPECT_EQ(step_log_total(24, 6.25), rule + "total images/sec: 3.84\n" + rule);
}

}  // namespace
}  // namespace bench::vision
