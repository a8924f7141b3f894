#include "ap2/data.hpp"
#include "ap2/network.hpp"
#include "data/files.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/command_line.hpp"
#include "steps/synthetic_batches.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"
#endif

namespace bench::ap2 {
namespace {

using Shape = std::vector<std::int64_t>;

/// 65,000 parameters.
constexpr Sizes tiny{.vocabulary = 100, .hidden = 32, .layers = 2, .heads = 4, .sequence = 12};

// ceil(ln(d / 128) / ln(511 / 128) * 127) + 128: for 200 ceil(40.94), for 511 and beyond 127 and
// more.
TEST(Ap2Positions, AreExactNearbyAndLogarithmicFarAway) {
  const std::pair<std::int64_t, std::int64_t> buckets[] = {{0, 0},     {1, 1},     {128, 128},
                                                           {129, 129}, {200, 169}, {511, 255}};
  for (const auto& [distance, bucket] : buckets) {
    EXPECT_EQ(position_bucket(distance), bucket);
    EXPECT_EQ(position_bucket(-distance), -bucket);
  }
}

TEST(Ap2Positions, AreSeenFromQueryAndFromKey) {
  const RelativePositions positions = relative_positions(3);
  EXPECT_TRUE(torch::equal(positions.of_key,
                           torch::tensor({{256, 255, 254}, {257, 256, 255}, {258, 257, 256}})));
  EXPECT_TRUE(torch::equal(positions.of_query, positions.of_key.t()));
  EXPECT_EQ(relative_positions(600).of_key.max().item<std::int64_t>(), 511);
  EXPECT_EQ(relative_positions(600).of_key.min().item<std::int64_t>(), 0);
}

TEST(Ap2Network, ScoresTwoClasses) {
  const torch::NoGradGuard no_gradient;
  EXPECT_EQ(Deberta(tiny)(synthetic_tweets(3, tiny)["input_ids"]).sizes(), (Shape{3, 2}));
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
  EXPECT_THAT(steps::refusal_of([] { check_sizes({.hidden = 30, .heads = 4}); }),
              testing::HasSubstr("4 heads do not divide a width of 30"));
}

// AP2's files, written with netCDF itself.

#ifdef BENCH_STEPS_NETCDF

using support::message_of;
using testing::ElementsAre;

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

#endif

}  // namespace
}  // namespace bench::ap2
