#include "ap2/data.hpp"
#include "ap2/network.hpp"
#include "data/files.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/expect_counted.hpp"
#include "steps/synthetic_batches.hpp"
#include "steps/trained.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"
#endif

namespace bench::ap2 {
namespace {

using Shape = std::vector<std::int64_t>;
using testing::HasSubstr;

/// 65,000 parameters.
constexpr Sizes tiny{.vocabulary = 100, .hidden = 32, .layers = 2, .heads = 4, .sequence = 12};

// Per layer 7,077,888 S + 1,536 S^2 + 786,432 S, and 603,979,776 for each batch; 591,360 behind the
// layers.
TEST(Ap2Cost, IsWhatIsPublished) {
  const Sizes sizes{.sequence = 48};
  const steps::Cost published = cost(sizes, 32);
  EXPECT_EQ(published.trainable_parameters(), 141'896'450);
  EXPECT_EQ(published.non_trainable_parameters(), 0);
  EXPECT_EQ(published.forward_macs_per_sample(),
            std::int64_t{6} * (7'077'888 * 48 + 1'536 * 48 * 48 + 786'432 * 48 + 603'979'776 / 32) +
                591'360);
  EXPECT_EQ(published.input_bytes_per_sample(), 48 * 8);
}

TEST(Ap2Cost, IsThatOfTheNetwork) {
  steps::expect_counted(cost(tiny, 2), *Deberta(tiny));
}

struct Distance {
  std::int64_t distance;
  std::int64_t bucket;
};
class Ap2PositionTest : public testing::TestWithParam<Distance> {};

// ceil(ln(d / 128) / ln(511 / 128) * 127) + 128: for 200 ceil(40.94), for 511 and beyond 127 and
// more.
TEST_P(Ap2PositionTest, IsExactNearbyAndLogarithmicFarAway) {
  EXPECT_EQ(position_bucket(GetParam().distance), GetParam().bucket);
  EXPECT_EQ(position_bucket(-GetParam().distance), -GetParam().bucket);
}

INSTANTIATE_TEST_SUITE_P(Distances, Ap2PositionTest,
                         testing::Values(Distance{0, 0}, Distance{1, 1}, Distance{128, 128},
                                         Distance{129, 129}, Distance{200, 169},
                                         Distance{511, 255}));

TEST(Ap2Positions, AreSeenFromQueryAndFromKey) {
  const RelativePositions positions = relative_positions(3);
  EXPECT_TRUE(torch::equal(positions.of_key,
                           torch::tensor({{256, 255, 254}, {257, 256, 255}, {258, 257, 256}})));
  EXPECT_TRUE(torch::equal(positions.of_query, positions.of_key.t()));
  EXPECT_EQ(relative_positions(600).of_key.max().item<std::int64_t>(), 511);
  EXPECT_EQ(relative_positions(600).of_key.min().item<std::int64_t>(), 0);
}

torch::Tensor loss_of(Deberta& network, const steps::Batch& batch) {
  return torch::cross_entropy_loss(network(batch["input_ids"]).to(torch::kFloat), batch["label"]);
}

TEST(Ap2Network, ScoresTwoClasses) {
  const torch::NoGradGuard no_gradient;
  EXPECT_EQ(Deberta(tiny)(synthetic_tweets(3, tiny)["input_ids"]).sizes(), (Shape{3, 2}));
}

TEST(Ap2Network, ReachesEveryParameterWithAGradient) {
  torch::manual_seed(1);
  Deberta network(tiny);
  loss_of(network, synthetic_tweets(2, tiny)).backward();
  for (const auto& parameter : network->named_parameters()) {
    ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
    EXPECT_GT(parameter.value().grad().abs().sum().item<double>(), 0) << parameter.key();
  }
}

TEST(Ap2Network, DoesNotSeePadding) {
  const torch::NoGradGuard no_gradient;
  torch::manual_seed(1);
  Deberta network(tiny);
  network->eval();
  const torch::Tensor tokens = torch::tensor({{7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
  Sizes three = tiny;
  three.sequence = 3;
  torch::manual_seed(1);
  Deberta same(three);
  same->eval();
  EXPECT_TRUE(torch::allclose(network(tokens), same(tokens.narrow(1, 0, 3)), 1e-4, 1e-6));
}

TEST(Ap2Network, SeesTheOrderOfTokens) {
  const torch::NoGradGuard no_gradient;
  torch::manual_seed(1);
  Deberta network(tiny);
  network->eval();
  const torch::Tensor tokens = torch::arange(1, 13).unsqueeze(0);
  torch::Tensor swapped = tokens.clone();
  swapped[0][5] = 7;
  swapped[0][6] = 6;
  EXPECT_FALSE(torch::allclose(network(tokens), network(swapped), 1e-6, 1e-8));
}

TEST(Ap2Network, LearnsAFixedBatch) {
  torch::manual_seed(1);
  Deberta network(tiny, 0);
  const steps::Batch batch = synthetic_tweets(8, tiny);
  const double first = loss_of(network, batch).item<double>();
  EXPECT_LT(steps::trained_loss(*network, 30, 3e-3, [&] { return loss_of(network, batch); }),
            0.7 * first);
}

TEST(Ap2Network, TrainsInBf16) {
  torch::manual_seed(1);
  Deberta network(tiny, 0);
  const steps::Batch batch = synthetic_tweets(4, tiny);
  const double exact = loss_of(network, batch).item<double>();
  const steps::Autocast autocast(torch::kCPU, steps::Precision::bf16);
  const torch::Tensor loss = loss_of(network, batch);
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  EXPECT_NEAR(loss.item<double>() / exact, 1, 0.05);
  loss.backward();
}

TEST(Ap2Synthetic, HasTheLabelOfItsFirstToken) {
  const steps::Batch batch = synthetic_tweets(64, tiny);
  const torch::Tensor& tokens = batch["input_ids"];
  EXPECT_TRUE(torch::equal((tokens.select(1, 0) > 50).to(torch::kLong), batch["label"]));
  const torch::Tensor lengths = (tokens != 0).sum(1);
  EXPECT_GE(lengths.min().item<std::int64_t>(), 8);
  EXPECT_EQ(lengths.max().item<std::int64_t>(), 12);
  EXPECT_LT(tokens.max().item<std::int64_t>(), 100);
}

TEST(Ap2Options, RefuseHeadsThatDoNotDivideTheWidth) {
  EXPECT_NO_THROW(check_sizes({}));
  try {
    check_sizes({.hidden = 30, .heads = 4});
    FAIL() << "was accepted";
  } catch (const steps::UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("4 heads do not divide a width of 30"));
  }
}

}  // namespace

// AP2's files, written with netCDF itself.

#ifdef BENCH_STEPS_NETCDF
namespace {

using support::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two texts of three tokens.
class Ap2DatasetTest : public testing::Test {
 protected:
  void write(const std::vector<double>& tokens, const std::vector<double>& labels) const {
    steps::NetcdfTestFile file(path());
    const int ids = file.define("input_ids", NC_INT64, {2, 3});
    const int label = file.define("label", NC_INT, {2});
    file.write(ids, tokens);
    file.write(label, labels);
  }

  std::string path() const { return folder_.file("tweets.nc"); }
  std::unique_ptr<steps::FieldSource> open() const {
    return open_dataset({path()}, {.vocabulary = 10, .sequence = 3});
  }
  std::string error_of(std::uint64_t sample) const {
    const auto source = open();
    return message_of<steps::DataError>([&] { steps::read_sample(*source, sample); });
  }

 private:
  steps::Folder folder_;
};

TEST_F(Ap2DatasetTest, HasTokensAndLabels) {
  write({1, 2, 0, 9, 8, 7}, {0, 1});
  const auto source = open();
  EXPECT_EQ(source->samples(), 2U);
  auto sample = steps::read_sample(*source, 1);
  EXPECT_THAT(sample["input_ids"], ElementsAre(9, 8, 7));
  EXPECT_THAT(sample["label"], ElementsAre(1));
}

TEST_F(Ap2DatasetTest, TellsThePlaceOfAnUnknownToken) {
  write({1, 2, 0, 9, 10, 7}, {0, 1});
  EXPECT_EQ(error_of(1), path() +
                             ": variable 'input_ids' at (1, 1): token 10 is not in a vocabulary of "
                             "10");
}

TEST_F(Ap2DatasetTest, TellsThePlaceOfAWrongLabel) {
  write({1, 2, 0, 9, 8, 7}, {0, 2});
  EXPECT_EQ(error_of(1), path() + ": variable 'label' at (1): 2 is not 0 or 1");
}

TEST_F(Ap2DatasetTest, RefusesAnotherLength) {
  write({1, 2, 0, 9, 8, 7}, {0, 1});
  EXPECT_THAT(message_of<steps::DataError>(
                  [&] { open_dataset({path()}, {.vocabulary = 10, .sequence = 4}); }),
              HasSubstr("variable 'input_ids'"));
}

}  // namespace

#endif
}  // namespace bench::ap2
