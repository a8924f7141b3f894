#include "cosmoflow/network.hpp"
#include "cosmoflow/options.hpp"
#include "data/example.hpp"
#include "data/files.hpp"
#include "data/tfrecord.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/command_line.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::cosmoflow {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::StartsWith;

TEST(CosmoFlowNetwork, GivesFourParametersWithinBounds) {
  const torch::NoGradGuard no_gradient;
  for (const Version version : {Version::v0_7, Version::v1}) {
    CosmoFlow network(NetworkOptions{.version = version, .size = 32});
    const torch::Tensor out = network(torch::randint(1000, {2, 4, 32, 32, 32}).to(torch::kFloat));
    EXPECT_EQ(out.sizes(), (std::vector<std::int64_t>{2, 4}));
    EXPECT_LE(out.abs().max().item<float>(), 1.2F);
  }
}

TEST(CosmoFlowNetwork, DropsOutInTrainingOnly) {
  const torch::NoGradGuard no_gradient;
  CosmoFlow network(NetworkOptions{.size = 32});
  const torch::Tensor counts = torch::ones({1, 4, 32, 32, 32});
  EXPECT_FALSE(network(counts).equal(network(counts)));
  network->eval();
  EXPECT_TRUE(network(counts).equal(network(counts)));
}

TEST(CosmoFlowLoss, IsTheMeanErrorOfEachSample) {
  const torch::Tensor prediction = torch::tensor({{0.5, 0.0, -1.0, 1.0}, {0.0, 0.0, 0.0, 0.0}});
  const torch::Tensor target = torch::tensor({{0.0, 0.0, 1.0, 0.0}, {0.1, -0.1, 0.2, -0.4}});
  // (0.25 + 0 + 4 + 1) / 4, (0.01 + 0.01 + 0.04 + 0.16) / 4
  EXPECT_TRUE(torch::allclose(squared_errors(prediction, target), torch::tensor({1.3125, 0.055})));
  // (0.5 + 0 + 2 + 1) / 4, (0.1 + 0.1 + 0.2 + 0.4) / 4
  EXPECT_TRUE(torch::allclose(absolute_errors(prediction, target), torch::tensor({0.875, 0.2})));
}

TEST(CosmoFlowLoss, HasThePrecisionOfTheTarget) {
  const torch::Tensor target = torch::rand({2, 4});
  const torch::Tensor rounded = target.to(torch::kBFloat16);
  EXPECT_EQ(squared_errors(rounded, target).scalar_type(), torch::kFloat);
  EXPECT_EQ(absolute_errors(rounded, target).scalar_type(), torch::kFloat);
}

TEST(CosmoFlowSynthetic, CountsFollowTheParameters) {
  std::vector<float> counts(std::size_t{32} * 32 * 32 * 4);
  std::vector<float> parameters(4);
  make_synthetic_sample(steps::Random(3), counts, parameters);
  for (std::size_t channel = 0; channel < 4; ++channel) {
    EXPECT_LE(std::abs(parameters[channel]), 1);
    double sum = 0;
    for (std::size_t i = channel; i < counts.size(); i += 4)
      sum += counts[i];
    // Exponentially distributed with this mean, rounded down: 1 / (e^(1/mean) - 1).
    const double mean = 2 * std::exp(parameters[channel]);
    EXPECT_NEAR(sum / 32768, 1 / (std::exp(1 / mean) - 1), 0.05 * mean) << channel;
  }
  std::vector<float> again(counts.size());
  make_synthetic_sample(steps::Random(3), again, parameters);
  EXPECT_EQ(counts, again);
}

struct RateCase {
  std::string arguments;
  std::int64_t global_batch;
  double first;
  double highest;
};

TEST(CosmoFlowOptions, ScaleTheLearningRateToTheBatch) {
  const RateCase cases[] = {
      {"", 64, 0.001, 0.001},
      {"", 1024, 0.001, 0.016},
      {"", 16, 0.001, 0.00025},
      {"--base-learning-rate 0.002", 128, 0.002, 0.004},
      {"--learning-rate 0.01", 1024, 0.01, 0.01},
      {"--learning-rate 0.01 --lr-first 0.002", 1024, 0.002, 0.01},
  };
  for (const RateCase& one : cases) {
    steps::Session session("cosmoflow", "");
    Options options;
    const std::string& text = one.arguments;
    ASSERT_TRUE(steps::with_arguments(
        text, [&](int argc, char** argv) { return read_options(session, argc, argv, options); }));
    scale_learning_rate(session.app(), options, one.global_batch);
    EXPECT_DOUBLE_EQ(options.schedule.first, one.first) << text;
    EXPECT_DOUBLE_EQ(options.schedule.highest, one.highest) << text;
    EXPECT_DOUBLE_EQ(options.schedule.rate(0), one.first) << text;
    EXPECT_DOUBLE_EQ(options.schedule.rate(4), one.highest) << text;
    EXPECT_DOUBLE_EQ(options.schedule.rate(32), one.highest / 4) << text;
    EXPECT_DOUBLE_EQ(options.schedule.rate(64), one.highest / 8) << text;
  }
}

/// Writes a file as MLPerf HPC has it, compressed if this build can, with the counts 0, 1, 2, ...
void write_sample_file(const std::string& path, std::int64_t size,
                       const std::vector<float>& parameters) {
  std::vector<std::int16_t> counts(static_cast<std::size_t>(size * size * size * 4));
  std::iota(counts.begin(), counts.end(), std::int16_t{0});
  const std::string bytes(reinterpret_cast<const char*>(counts.data()), 2 * counts.size());
#ifdef BENCH_STEPS_ZLIB
  steps::TfRecordWriter writer(path, steps::Compression::gzip);
#else
  steps::TfRecordWriter writer(path);
#endif
  writer.add(steps::write_example({{"x", steps::BytesList{bytes}}, {"y", parameters}}));
  writer.finish();
}

TEST(CosmoFlowSamples, AreReadFromTfRecordFiles) {
  const steps::Folder folder;
  for (const char* name : {"a.tfrecord", "b.tfrecord"})
    write_sample_file(folder.file(name), 2, {0.25F, -0.5F, 0.75F, -1});
  const auto source = open_samples({folder.file("a.tfrecord"), folder.file("b.tfrecord")}, 2, 1);
  EXPECT_EQ(source->samples(), 2U);
  EXPECT_EQ(source->fields(), fields(2));
  auto sample = steps::read_sample(*source, 1);
  EXPECT_EQ(sample["x"], steps::numbers_from(0, 32));
  EXPECT_THAT(sample["y"], ElementsAre(0.25, -0.5, 0.75, -1));
}

TEST(CosmoFlowSamples, NameFileOffsetAndFeatureThatAreWrong) {
  const steps::Folder folder;
  const std::string path = folder.file("a.tfrecord");
  const auto message = [&](std::int64_t size) {
    const auto source = open_samples({path}, size, 1);
    return support::message_of<steps::DataError>([&] { steps::read_sample(*source, 0); });
  };
  write_sample_file(path, 2, {1, 2, 3, 4});
  EXPECT_THAT(message(4), AllOf(StartsWith(path),
                                EndsWith(": byte 0: feature 'x' has 64 bytes, expected 512")));
  write_sample_file(path, 2, {1, 2, 3});
  EXPECT_THAT(message(2), EndsWith(": byte 0: feature 'y' has 3 numbers, expected 4"));
}

}  // namespace
}  // namespace bench::cosmoflow
