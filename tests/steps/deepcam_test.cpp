#include "data/files.hpp"
#include "deepcam/network.hpp"
#include "deepcam/options.hpp"
#include "harness/log.hpp"
#include "harness/session.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/command_line.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_HDF5
#include "steps_data/hdf5_test_file.hpp"
#include "steps_data/sample_numbers.hpp"
#endif

namespace bench::deepcam {
namespace {

using support::message_of;

/// A network with a 64th of the weights.
constexpr std::int64_t small = 8;

TEST(DeepCamNetwork, GivesScoresAtEachGridPoint) {
  const torch::NoGradGuard no_gradient;
  DeepLab network{Architecture(small)};
  EXPECT_EQ(network(torch::rand({2, 16, 32, 48})).sizes(),
            (std::vector<std::int64_t>{2, 3, 32, 48}));
}

TEST(DeepCamNetwork, MapsTheRangeOfAChannelToOne) {
  const torch::NoGradGuard no_gradient;
  DeepLab network{Architecture(small)};
  network->eval();
  const torch::Tensor x = torch::rand({1, 16, 32, 32});
  const torch::Tensor expected = network(x);
  ValueRange range{};
  for (std::size_t i = 0; i < range.smallest.size(); ++i) {
    range.smallest[i] = -2;
    range.largest[i] = 6;
  }
  network->set_value_range(range);
  EXPECT_TRUE(torch::allclose(network(8 * x - 2), expected, 1e-3, 1e-4));
}

TEST(DeepCamLoss, WeighsTheClassesByTheirFrequencies) {
  const torch::Tensor weights = class_weights(torch::kDouble);
  EXPECT_TRUE(torch::allclose(weights, torch::tensor({1.00173, 2.61461, 1.71642}, torch::kDouble),
                              1e-5, 0));
  // Two points, whose scores are equal but for one: softmax gives it e / (e + 2).
  const torch::Tensor scores =
      torch::tensor({0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, torch::kDouble).view({1, 3, 1, 2});
  const double right = std::log((std::exp(1.0) + 2) / std::exp(1.0));
  const double even = std::log(3.0);
  EXPECT_NEAR(
      cross_entropies(scores, torch::tensor({1, 2}).view({1, 1, 2}), weights).item<double>(),
      (2.61461 * right + 1.71642 * even) / 2, 1e-5);
}

struct ScoreCase {
  std::string name;
  std::vector<std::int64_t> predicted;
  std::vector<std::int64_t> labels;
  double score;
};
TEST(DeepCamScore, IsTheMeanOverTheClasses) {
  const ScoreCase cases[] = {{"AllRight", {0, 1, 2, 0}, {0, 1, 2, 0}, 1},
                             {"AbsentClassesCountOne", {0, 0, 0, 0}, {0, 0, 0, 0}, 1},
                             {"AllWrong", {1, 2, 0}, {0, 1, 2}, 0},
                             // Background 2 of 3, cyclones 1 of 2, rivers are absent.
                             {"OneMissed", {0, 0, 0, 1}, {0, 0, 1, 1}, (2 / 3.0 + 1 / 2.0 + 1) / 3},
                             // Background 1 of 2, cyclones absent, rivers only predicted.
                             {"OneInvented", {0, 2}, {0, 0}, (1 / 2.0 + 1 + 0) / 3}};
  for (const ScoreCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto points = static_cast<std::int64_t>(c.labels.size());
    const torch::Tensor predicted = torch::tensor(c.predicted);
    const torch::Tensor scores =
        torch::one_hot(predicted, label::count).to(torch::kFloat).t().view({1, 3, 1, points});
    const torch::Tensor labels = torch::tensor(c.labels).view({1, 1, points});
    EXPECT_NEAR(intersections_over_unions(scores, labels).item<double>(), c.score, 1e-12);
  }
}

TEST(DeepCamScore, IsThatOfEachSample) {
  const torch::Tensor scores = torch::tensor({1.0, 0.0, 0.0, 1.0, 0.0, 0.0}).view({2, 3, 1, 1});
  const torch::Tensor labels = torch::tensor({0, 2}).view({2, 1, 1});
  EXPECT_TRUE(torch::allclose(intersections_over_unions(scores, labels),
                              torch::tensor({1.0, 1.0 / 3}, torch::kDouble)));
}

TEST(DeepCamSynthetic, HasWeatherInItsLabelsAndFields) {
  constexpr std::int64_t width = 144;
  constexpr std::int64_t height = 96;
  std::array<std::int64_t, label::count> points{};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<float> data(static_cast<std::size_t>(height * width * channel_count));
    std::vector<std::int64_t> labels(static_cast<std::size_t>(height * width));
    make_synthetic_sample(steps::Random(seed), width, data, labels);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      ++points.at(static_cast<std::size_t>(labels[i]));
      const float pressure = data[i * channel_count + channel::sea_level_pressure];
      const float vapour = data[i * channel_count + channel::water_vapour];
      ASSERT_EQ(pressure < 0, labels[i] == label::tropical_cyclone);
      ASSERT_EQ(vapour >= 1, labels[i] == label::atmospheric_river);
    }
  }
  const double all = 20.0 * width * height;
  EXPECT_NEAR(static_cast<double>(points[label::tropical_cyclone]) / all, 0.0007, 0.0005);
  EXPECT_NEAR(static_cast<double>(points[label::atmospheric_river]) / all, 0.0133, 0.006);
}

struct LinesCase {
  std::string arguments;
  std::vector<std::string> expected;  ///< Texts in MLPerf's lines.
};

TEST(DeepCamOptions, ArePrintedAsMlperfAsksForOfEachOptimizer) {
  const LinesCase cases[] = {
      {"",
       {"opt_name\", \"value\": \"Adam\"", "opt_lr\", \"value\": 0.001",
        "scheduler_type\", \"value\": \"multistep\"",
        "scheduler_milestones\", \"value\": [800.0]"}},
      {"--optimizer lamb --lr-schedule cosine --lr-warmup 10 --lr-decay 110",
       {"opt_name\", \"value\": \"LAMB\"", "opt_lr\", \"value\": 0.0055",
        "opt_max_grad_norm\", \"value\": 1.0", "scheduler_type\", \"value\": \"cosine_annealing\"",
        "scheduler_t_max\", \"value\": 100.0"}},
      {"--lr-schedule cosine --lr-warmup 10 --lr-decay-start 60 --lr-decay 110",
       {"scheduler_t_max\", \"value\": 50.0"}}};
  for (const auto& [arguments, expected] : cases) {
    steps::Session session("deepcam", "");
    Options options;
    ASSERT_TRUE(steps::with_arguments(arguments, [&](int argc, char** argv) {
      return read_options(session, argc, argv, options);
    }));
    testing::internal::CaptureStdout();
    steps::begin_mllog(true);
    log_options(options, session.arguments());
    steps::begin_mllog(false);
    const std::string lines = testing::internal::GetCapturedStdout();
    for (const std::string& text : expected)
      EXPECT_THAT(lines, testing::HasSubstr("\"key\": \"" + text)) << arguments;
    for (const char* key : {"batchnorm_group_size", "gradient_accumulation_frequency", "opt_betas",
                            "opt_eps", "scheduler_lr_warmup_steps", "scheduler_lr_warmup_factor"})
      EXPECT_THAT(lines, testing::HasSubstr(std::string("\"key\": \"") + key)) << arguments;
  }
}

#ifdef BENCH_STEPS_HDF5

/// @param labels a variable of integers first, first + 1, ...
void write_sample_file(const std::string& path, double first_label) {
  const steps::Hdf5TestFile file(path);
  file.add("climate/data", {1, 2, channel_count});
  file.add("climate/labels_0", {1, 2}, first_label, H5T_NATIVE_INT);
}

TEST(DeepCamSamples, AreReadFromHdf5Files) {
  const steps::Folder folder;
  write_sample_file(folder.file("a.h5"), 0);
  write_sample_file(folder.file("b.h5"), 1);
  const auto source = open_samples({folder.file("a.h5"), folder.file("b.h5")});
  EXPECT_EQ(source->fields(), fields(1, 2));
  auto sample = steps::read_sample(*source, 1);
  EXPECT_EQ(sample["data"], steps::numbers_from(0, 32));
  EXPECT_THAT(sample["labels"], testing::ElementsAre(1, 2));
}

TEST(DeepCamSamples, NameTheFileOfALabelThatIsNoClass) {
  const steps::Folder folder;
  write_sample_file(folder.file("a.h5"), 1);
  write_sample_file(folder.file("b.h5"), 2);
  const auto source = open_samples({folder.file("a.h5"), folder.file("b.h5")});
  EXPECT_EQ(message_of<steps::DataError>([&] { steps::read_sample(*source, 1); }),
            folder.file("b.h5") +
                ": variable 'climate/labels_0' at (0, 1): 3 is not a class from 0 to 2");
}

TEST(DeepCamValueRange, IsReadFromTheStatistics) {
  const steps::Folder folder;
  const std::string path = folder.file("stats.h5");
  {
    const steps::Hdf5TestFile file(path);
    file.add("climate/minval", {channel_count}, -3);
    file.add("climate/maxval", {channel_count}, 100);
  }
  const ValueRange range = read_value_range(path);
  EXPECT_EQ(range.smallest[0], -3);
  EXPECT_EQ(range.largest[15], 115);
}

TEST(DeepCamValueRange, MustHaveARangeForEachChannel) {
  const steps::Folder folder;
  const std::string path = folder.file("stats.h5");
  {
    const steps::Hdf5TestFile file(path);
    file.add("climate/minval", {channel_count}, 7);
    file.add("climate/maxval", {channel_count}, 7);
  }
  EXPECT_EQ(message_of<steps::DataError>([&] { read_value_range(path); }),
            path + ": variable 'climate/maxval' at (0): 7 is not above the smallest, 7");
  {
    const steps::Hdf5TestFile file(path);
    file.add("climate/minval", {8});
    file.add("climate/maxval", {8}, 100);
  }
  EXPECT_EQ(message_of<steps::DataError>([&] { read_value_range(path); }),
            path + ": variable 'climate/minval' has 8 numbers, expected 16");
}

#endif

}  // namespace
}  // namespace bench::deepcam
