#include "ap6/data.hpp"
#include "ap6/network.hpp"
#include "data/field_samples.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "harness/errors.hpp"
#include "harness/rate_schedule.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/in_ranks.hpp"
#include "steps/synthetic_batches.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"
#endif

namespace bench::ap6 {
namespace {

using Shape = std::vector<std::int64_t>;
using testing::Each;

constexpr Grid small{.height = 20, .width = 30};

TEST(Ap6Network, GivesFeaturesOfLengthOne) {
  const torch::NoGradGuard no_gradient;
  DeepCluster network(Grid{.height = 16, .width = 24}, Heads{});
  const torch::Tensor features = network->features(torch::randn({3, 2, 25, 16, 24}));
  EXPECT_EQ(features.sizes(), (Shape{3, 2, feature_count}));
  EXPECT_TRUE(torch::allclose(features.norm(2, 2), torch::ones({3, 2})));
}

TEST(Ap6Network, GivesTheSameFeaturesWithChannelsLast) {
  const torch::NoGradGuard no_gradient;
  torch::manual_seed(1);
  DeepCluster network(Grid{.height = 33, .width = 40}, Heads{});
  network->eval();
  const torch::Tensor crops = torch::randn({2, 2, 25, 33, 40});
  const torch::Tensor features = network->features(crops);
  network->use_channels_last();
  EXPECT_TRUE(torch::allclose(network->features(crops), features, 1e-3, 1e-4));
}

/// Two heads with two clusters along three axes: features (2, 1, 3), prototypes (2, 2, 3).
struct HandExample {
  torch::Tensor features = torch::tensor({{{1.0, 0.0, 0.0}}, {{0.0, 0.6, 0.8}}}, torch::kDouble);
  torch::Tensor prototypes = torch::tensor(
      {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, {{0.0, 0.0, 1.0}, {0.8, 0.0, 0.6}}}, torch::kDouble);
};

/// @param labels of the two samples, in the first head and in the second one
double loss_of_labels(const std::vector<std::int64_t>& labels) {
  const HandExample example;
  return cluster_loss(example.features, example.prototypes,
                      torch::tensor(labels, torch::kLong).view({2, 2}))
      .item<double>();
}

// -log(softmax) of scores s and t with label s is log(1 + exp(t - s)). The scores are 10 and 0, 0
// and 6 in the first head, 0 and 8, 8 and 4.8 in the second one.
TEST(Ap6Loss, IsTheMeanCrossEntropyOverHeadsAndSamples) {
  const auto term = [](double difference) { return std::log1p(std::exp(difference)); };
  const double expected = (term(-10) + term(6) + term(8) + term(3.2)) / 4;
  EXPECT_NEAR(loss_of_labels({0, 0, 0, 1}), expected, 1e-12);
}

TEST(Ap6Loss, LeavesOutSamplesWithoutALabel) {
  const double expected = (std::log1p(std::exp(-10)) + std::log1p(std::exp(8))) / 2;
  EXPECT_NEAR(loss_of_labels({0, no_label, 0, no_label}), expected, 1e-12);
  EXPECT_EQ(loss_of_labels({no_label, no_label, no_label, no_label}), 0);
}

// Each crop by itself has the loss of a sample with that crop alone.
TEST(Ap6Loss, IsTheMeanOverCrops) {
  torch::manual_seed(2);
  const torch::Tensor features = torch::randn({3, 2, 8}, torch::kDouble);
  const torch::Tensor prototypes = torch::randn({4, 5, 8}, torch::kDouble);
  const torch::Tensor labels = torch::randint(5, {4, 3}, torch::kLong);
  const auto loss = [&](const torch::Tensor& some) {
    return cluster_loss(some, prototypes, labels).item<double>();
  };
  EXPECT_NEAR(loss(features), (loss(features.narrow(1, 0, 1)) + loss(features.narrow(1, 1, 1))) / 2,
              1e-12);
}

torch::Tensor synthetic(const Grid& grid, std::uint64_t stream) {
  const torch::Tensor fields = torch::empty({channel_count, grid.height, grid.width});
  generate_fields(steps::Random(stream), grid, steps::numbers(fields));
  return fields;
}

TEST(Ap6Synthetic, IsTheSameForTheSameSeed) {
  EXPECT_TRUE(torch::equal(synthetic(small, 5), synthetic(small, 5)));
  EXPECT_FALSE(torch::equal(synthetic(small, 5), synthetic(small, 6)));
}

TEST(Ap6Synthetic, IsNormalAtEverySixteenthPoint) {
  const torch::Tensor knots = synthetic({.height = 401, .width = 401}, 1)
                                  .slice(1, 0, c10::nullopt, 16)
                                  .slice(2, 0, c10::nullopt, 16);
  EXPECT_NEAR(knots.mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(knots.std().item<double>(), 1, 0.02);
}

// Of the knots of two samples in one regime, half of the variance is common.
TEST(Ap6Synthetic, IsInOneOfEightRegimes) {
  const Grid grid{.height = 65, .width = 65};
  const torch::Tensor first = synthetic(grid, 0);
  int similar = 0;
  for (std::uint64_t stream = 1; stream <= 400; ++stream) {
    const torch::Tensor other = synthetic(grid, stream);
    const double correlation =
        ((first * other).sum() / (first.norm() * other.norm())).item<double>();
    const bool same_regime = correlation > 0.25;
    EXPECT_NEAR(correlation, same_regime ? 0.5 : 0, 0.25) << stream;
    similar += same_regime ? 1 : 0;
  }
  EXPECT_NEAR(similar, 50, 20);
}

TEST(Ap6Synthetic, IsBilinearBetweenThem) {
  const torch::Tensor fields = synthetic({.height = 33, .width = 49}, 2);
  const torch::Tensor knots =
      fields.slice(1, 0, c10::nullopt, 16).slice(2, 0, c10::nullopt, 16).unsqueeze(0);
  const torch::Tensor enlarged = torch::upsample_bilinear2d(knots, {33, 49}, true)[0];
  EXPECT_TRUE(torch::allclose(fields, enlarged, 1e-4, 1e-5));
}

TEST(Ap6Crops, HaveFourFifthsOfEachSide) {
  EXPECT_EQ(crop_of({}), (Grid{.height = 440, .width = 280}));
  EXPECT_EQ(crop_of({.height = 2, .width = 33}), (Grid{.height = 1, .width = 26}));
  const std::vector<steps::Field> fields = cropped_fields(small);
  EXPECT_EQ(fields[0].shape, (Shape{2, 25, 16, 24}));
  EXPECT_EQ(fields[1].shape, Shape{});
}

/// Samples in which a number tells its place: 1000 channel + 30 row + column.
std::unique_ptr<steps::FieldSource> places() {
  const auto fill = [](std::uint64_t, const steps::FieldMemory& memory) {
    std::size_t place = 0;
    for (float& number : steps::floats(memory[0])) {
      const std::size_t points = 20 * 30;
      const std::size_t plane = place / points;
      number = static_cast<float>(1000 * plane + place % points);
      ++place;
    }
  };
  return steps::made_fields({stored_fields(small).front()}, 3, 7, [=] { return fill; });
}

class Ap6CropsTest : public testing::Test {
 protected:
  /// The sample with that number in the training.
  steps::SampleNumbers sample(std::uint64_t number) const {
    const auto makers = random_crops(steps::field_makers(numbered(places()), 4, 1), small, 4);
    steps::FieldBuffers buffers(makers[0]->fields());
    makers[0]->make(number, buffers.memory());
    return steps::numbers_of(buffers, makers[0]->fields());
  }
};

TEST_F(Ap6CropsTest, AreRectanglesOfTheFields) {
  const std::vector<double> numbers = sample(0)["crops"];
  ASSERT_EQ(numbers.size(), 2U * 25 * 16 * 24);
  for (std::size_t crop = 0; crop < 2; ++crop) {
    const double corner = numbers[crop * 25 * 16 * 24];
    EXPECT_LE(std::floor(corner / 30), 4);
    EXPECT_LE(std::fmod(corner, 30), 6);
    for (std::size_t i = 0; i < 25 * 16 * 24; ++i) {
      const std::size_t place = 1000 * (i / (16 * 24)) + 30 * (i / 24 % 16) + i % 24;
      const double expected = corner + static_cast<double>(place);
      ASSERT_EQ(numbers[crop * 25 * 16 * 24 + i], expected) << i;
    }
  }
}

// 5 x 7 places for each.
TEST_F(Ap6CropsTest, AreAnywhere) {
  std::set<double> corners;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const std::vector<double> numbers = sample(number)["crops"];
    corners.insert(numbers.front());
    corners.insert(numbers[25 * 16 * 24]);
  }
  EXPECT_EQ(corners.size(), 5U * 7);
}

TEST_F(Ap6CropsTest, ChangeWithTheEpoch) {
  EXPECT_EQ(sample(1), sample(1));
  std::vector<double> corners;
  for (std::uint64_t number = 0; number < 30; ++number)
    if (auto one = sample(number); one["index"] == std::vector<double>{0})
      corners.push_back(one["crops"].front());
  ASSERT_EQ(corners.size(), 10U);
  EXPECT_THAT(corners, testing::Not(Each(corners.front())));
}

TEST_F(Ap6CropsTest, KeepTheNumberOfTheSample) {
  std::multiset<double> numbers;
  for (std::uint64_t number = 0; number < 6; ++number)
    numbers.insert(sample(number)["index"].front());
  EXPECT_EQ(numbers, (std::multiset<double>{0, 0, 1, 1, 2, 2}));
}

// The progress is in epochs, here of 1,000 samples.
TEST(Ap6Options, HaveTheRatesThatArePublished) {
  steps::RateSchedule schedule = default_schedule();
  schedule.end = 20;
  const auto rate = trainer_options(schedule, 1000, 64).learning_rate;
  EXPECT_DOUBLE_EQ(rate(0), 0.3);
  EXPECT_DOUBLE_EQ(rate(5000), 0.3 + (4.8 - 0.3) / 2);
  EXPECT_DOUBLE_EQ(rate(10000), 4.8);
  EXPECT_NEAR(rate(15000), 0.0048 + (4.8 - 0.0048) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(rate(20000), 0.0048);
}

TEST(Ap6Dataset, RefusesVariablesWithDifferentNumbersOfLevels) {
  for (const std::size_t count : {1U, 5U, 25U})
    EXPECT_NO_THROW(check_dataset_options({std::vector<std::string>(count, "t")}));
  EXPECT_EQ(support::message_of<steps::UsageError>([] {
              check_dataset_options({{"t", "u", "v"}});
            }),
            "3 variables cannot have as many levels each and 25 fields in all");
}

// The clustering of AP6: memory banks, k-means, labels.

torch::Tensor integers(const std::vector<std::int64_t>& numbers) {
  return torch::tensor(numbers, torch::kLong);
}

/// Rows of length 1, at these angles in degrees: (n, 2).
torch::Tensor directions(const std::vector<double>& degrees) {
  const torch::Tensor angles = torch::tensor(degrees, torch::kDouble) * (std::acos(-1.0) / 180);
  return torch::stack({angles.cos(), angles.sin()}, 1);
}

Clusters clusters_of(const torch::Tensor& rows, const torch::Tensor& centroids, int iterations) {
  steps::Communicator alone;
  return spherical_k_means(rows, centroids, iterations, alone);
}

// The centroids at 0 and 50 degrees divide the rows between 20 and 30, those at 10 and 60 between
// 30 and 60. The mean of two rows is at the mean of their angles, that of 30, 60 and 90 at 60.
TEST(Ap6KMeans, MovesCentroidsToTheirRows) {
  const torch::Tensor rows = directions({0, 20, 30, 60, 90});
  const Clusters once = clusters_of(rows, directions({0, 50}), 1);
  EXPECT_TRUE(torch::allclose(once.centroids, directions({10, 60})));
  EXPECT_TRUE(torch::equal(once.labels, integers({0, 0, 0, 1, 1})));
  const Clusters twice = clusters_of(rows, directions({0, 50}), 2);
  const torch::Tensor first = directions({0, 20, 30}).sum(0);
  EXPECT_TRUE(torch::allclose(twice.centroids[0], first / first.norm()));
  EXPECT_TRUE(torch::allclose(twice.centroids[1], directions({75})[0]));
}

TEST(Ap6KMeans, WithoutIterationsOnlyAssigns) {
  const torch::Tensor centroids = directions({0, 50});
  const Clusters clusters = clusters_of(directions({20, 30, -100}), centroids, 0);
  EXPECT_TRUE(torch::equal(clusters.centroids, centroids));
  EXPECT_TRUE(torch::equal(clusters.labels, integers({0, 1, 0})));
}

TEST(Ap6KMeans, KeepsACentroidWithoutRows) {
  const Clusters clusters =
      clusters_of(directions({-10, 10, 80, 100}), directions({5, 200, 95}), 10);
  EXPECT_TRUE(torch::allclose(clusters.centroids, directions({0, 200, 90})));
  EXPECT_TRUE(torch::equal(clusters.labels, integers({0, 0, 2, 2})));
}

TEST(Ap6MemoryBank, KeepsTheNewestBatches) {
  MemoryBank bank({.batches = 2, .batch_size = 2, .crops = 2, .features = 3}, torch::kCPU);
  const auto batch = [](double begin) {  // (2, 2, 3)
    return torch::arange(begin, begin + 12, torch::kFloat).view({2, 2, 3});
  };
  bank.add(integers({4, 5}), batch(0));
  bank.add(integers({6, 7}), batch(100));
  bank.add(integers({8, 9}), batch(200));
  EXPECT_TRUE(torch::equal(bank.index(), integers({8, 9, 6, 7})));
  EXPECT_TRUE(torch::equal(bank.features(1), torch::tensor({{203.F, 204.F, 205.F},
                                                            {209.F, 210.F, 211.F},
                                                            {103.F, 104.F, 105.F},
                                                            {109.F, 110.F, 111.F}})));
}

/// Features around three directions, of which a head with three clusters finds each.
class Ap6ClusteringTest : public testing::Test {
 protected:
  static constexpr std::int64_t samples = 24;
  static constexpr std::int64_t batches = 4;
  static constexpr Heads heads{.count = 4, .clusters = 3};

  Ap6ClusteringTest() {
    torch::manual_seed(7);
    const torch::Tensor near =
        torch::eye(3, feature_count).index_select(0, torch::arange(samples) % 3);
    const torch::Tensor all = near.unsqueeze(1) + 0.02 * torch::randn({samples, 2, feature_count});
    features_ = all / all.norm(2, {2}, true);
    order_ = torch::randperm(samples, torch::kLong);
  }

  /// The bank of a rank after an epoch in which each rank had its share of each step.
  MemoryBank bank_of(const steps::Communicator& ranks) const {
    const std::int64_t own = samples / batches / ranks.size();
    MemoryBank bank({.batches = batches, .batch_size = own}, torch::kCPU);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const torch::Tensor index =
          order_.narrow(0, (batch * ranks.size() + ranks.rank()) * own, own);
      bank.add(index, features_.index_select(0, index));
    }
    return bank;
  }

  struct Result {
    torch::Tensor prototypes;
    torch::Tensor labels;
  };
  Result result(steps::Communicator& ranks, const Heads& of_heads = heads) const {
    Clustering clustering(of_heads, samples + 1, 5, ranks, torch::kCPU);
    Prototypes prototypes(of_heads);
    clustering.update(bank_of(ranks), prototypes);
    return {prototypes->weight.detach(), clustering.labels(torch::arange(samples + 1))};
  }

  torch::Tensor features_;  // (samples, 2, 128)
  torch::Tensor order_;     // of an epoch
};

TEST_F(Ap6ClusteringTest, GivesSamplesTheirNearestPrototypes) {
  steps::Communicator alone;
  const auto [prototypes, labels] = result(alone);
  for (std::int64_t head = 0; head < heads.count; ++head) {
    EXPECT_TRUE(torch::allclose(prototypes[head].norm(2, 1), torch::ones(heads.clusters)));
    const torch::Tensor scores = features_.select(1, head % 2).mm(prototypes[head].t());
    EXPECT_TRUE(torch::equal(labels[head].narrow(0, 0, samples), scores.argmax(1))) << head;
  }
}

TEST_F(Ap6ClusteringTest, KnowsNoClusterOfASampleThatIsInNoBank) {
  steps::Communicator alone;
  const torch::Tensor labels = result(alone).labels;
  EXPECT_TRUE(labels.select(1, samples).eq(no_label).all().item<bool>());
  EXPECT_TRUE(labels.narrow(1, 0, samples).ge(0).all().item<bool>());
}

// Heads 0 and 2 have the same features, and so have heads 1 and 3.
TEST_F(Ap6ClusteringTest, BeginsEachHeadWithOtherCentroids) {
  steps::Communicator alone;
  const torch::Tensor prototypes = result(alone, {.count = 4, .clusters = 12}).prototypes;
  EXPECT_FALSE(torch::allclose(prototypes[0], prototypes[2]));
  EXPECT_FALSE(torch::allclose(prototypes[1], prototypes[3]));
}

#ifdef BENCH_STEPS_GLOO
TEST_F(Ap6ClusteringTest, GivesTwoRanksTheCentroidsOfOne) {
  const Heads many{.count = 4, .clusters = 7};
  steps::Communicator alone;
  const Result expected = result(alone, many);
  steps::in_ranks(2, [&](steps::Communicator& ranks) {
    const Result found = result(ranks, many);
    EXPECT_TRUE(torch::allclose(found.prototypes, expected.prototypes, 1e-5, 1e-6));
    EXPECT_TRUE(torch::equal(found.labels, expected.labels));
  });
}
#endif

// AP6's files, written with netCDF itself.

#ifdef BENCH_STEPS_NETCDF

using support::message_of;

constexpr Grid tiny{.height = 1, .width = 2};

/// Two files with two times and with one. Variable v has 100 v + 0, 1, 2, ... on five levels.
class Ap6DatasetTest : public testing::Test {
 protected:
  Ap6DatasetTest() {
    write("era5_2000.nc", 2, 0);
    write("era5_2001.nc", 1, 20);
  }

  void write(const std::string& name, std::size_t times, std::uint64_t first,
             std::size_t levels = 5) const {
    steps::NetcdfTestFile file(path(name));
    std::uint64_t variable = 0;
    for (const char* variable_name : {"q", "t", "u", "v", "z"})
      file.add(variable_name, {times, levels, 1, 2}, 100 * variable++ + first);
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  std::unique_ptr<steps::FieldSource> open() const {
    return open_era5({path("era5_2000.nc"), path("era5_2001.nc")}, tiny, options_);
  }

  DatasetOptions options_;

 private:
  steps::Folder folder_;
};

// A level has the numbers 0, 1, 10, 11, 20, 21 above its smallest one: mean 10.5, variance
// 200.75/3.
TEST_F(Ap6DatasetTest, NormalisesEachLevelOfEachVariable) {
  const auto source = open();
  EXPECT_EQ(source->samples(), 3U);
  EXPECT_EQ(source->fields(), stored_fields(tiny));
  auto sample = steps::read_sample(*source, 2);
  EXPECT_EQ(sample["index"], std::vector<double>{2});
  const double deviation = std::sqrt(200.75 / 3);
  std::vector<testing::Matcher<double>> expected;
  for (int channel = 0; channel < 25; ++channel) {
    expected.push_back(testing::DoubleNear(9.5 / deviation, 1e-5));
    expected.push_back(testing::DoubleNear(10.5 / deviation, 1e-5));
  }
  EXPECT_THAT(sample["fields"], testing::ElementsAreArray(expected));
}

TEST_F(Ap6DatasetTest, RefusesOtherLevels) {
  write("era5_2000.nc", 2, 0, 4);
  write("era5_2001.nc", 1, 20, 4);
  EXPECT_EQ(message_of<steps::DataError>([&] { open(); }),
            path("era5_2000.nc") +
                ": a sample of variable 'q' is float32 (4, 1, 2), expected float32 (5, 1, 2)");
}

TEST_F(Ap6DatasetTest, ReadsOneVariableWithAllLevels) {
  steps::NetcdfTestFile(path("whole.nc")).add("fields", {2, 25, 1, 2});
  const auto source = open_era5({path("whole.nc")}, tiny, {{"fields"}});
  auto sample = steps::read_sample(*source, 0);
  EXPECT_EQ(sample["fields"].size(), 50U);
}

#endif

}  // namespace
}  // namespace bench::ap6
