#include "atmorep/masking.hpp"
#include "atmorep/network.hpp"
#include "steps/atmorep_tiny.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <gmock/gmock.h>

namespace bench::atmorep {
namespace {

using testing::ElementsAreArray;
using testing::Not;

/// 216 tokens on each of five levels, as in AtmoRep.
const Sizes full{.fields = {"t", "u"}};

double share(std::size_t count, std::size_t of) {
  return static_cast<double>(count) / static_cast<double>(of);
}

// 200 samples have 54,500 masked tokens of a field on average, the sum of uniform shares.
TEST(AtmoRepMask, HasTheRatesOfItsFields) {
  const Masking masking{.rates = {0.5, 0.1}};
  const auto masks = draw_masks(masking, full, {.seed = 3, .count = 200});
  for (std::size_t field = 0; field < 2; ++field) {
    const FieldMask& mask = masks[field];
    const double mean = share(mask.rows.size(), 200 * 5);
    EXPECT_NEAR(mean / masking.mean_count(field, 216), 1, 0.06) << field;
    EXPECT_NEAR(share(mask.hidden.size(), mask.rows.size()), 0.9, 0.01);
    EXPECT_NEAR(share(mask.noisy.size(), mask.rows.size()), 0.2, 0.01);
    EXPECT_NEAR(share(mask.coarse.size(), mask.rows.size()), 0.05, 0.01);
    EXPECT_EQ(mask.kept.size(), mask.noisy.size());
  }
}

TEST(AtmoRepMask, HasUpToTheRateOfTheTokensOfEachLevelAndAtLeastOne) {
  const FieldMask mask = draw_masks({}, full, {.count = 100})[0];
  std::vector<std::size_t> counts(500);
  for (const std::int64_t row : mask.rows)
    ++counts.at(static_cast<std::size_t>(row / 216));
  EXPECT_EQ(*std::ranges::max_element(counts), 108U);
  EXPECT_LE(*std::ranges::min_element(counts), 2U);
  EXPECT_GE(*std::ranges::min_element(counts), 1U);
  EXPECT_EQ(std::set(mask.rows.begin(), mask.rows.end()).size(), mask.rows.size());
}

TEST(AtmoRepMask, KnowsItsMeanCount) {
  for (const double rate : {0.5, 0.3, 0.003}) {
    const Masking masking{.rates = {rate}};
    double sum = 0;
    constexpr int steps = 100'000;
    for (int i = 0; i < steps; ++i)
      sum += std::ceil(rate * 216 * (i + 0.5) / steps);
    EXPECT_NEAR(masking.mean_count(0, 216), sum / steps, 1e-3) << rate;
  }
}

TEST(AtmoRepMask, FollowsFromSeedSampleAndField) {
  const auto rows = [](std::uint64_t seed, std::int64_t sample, std::size_t field) {
    return draw_masks({}, full, {.seed = seed, .first = sample})[field].rows;
  };
  EXPECT_THAT(rows(1, 7, 0), ElementsAreArray(rows(1, 7, 0)));
  EXPECT_THAT(rows(1, 7, 0), Not(ElementsAreArray(rows(2, 7, 0))));
  EXPECT_THAT(rows(1, 7, 0), Not(ElementsAreArray(rows(1, 8, 0))));
  EXPECT_THAT(rows(1, 7, 0), Not(ElementsAreArray(rows(1, 7, 1))));
}

TEST(AtmoRepMask, IsTheSameInEveryBatch) {
  const Sizes sizes = tiny();
  const steps::Batch batch = synthetic_windows(4, sizes);
  const torch::Tensor tokens = tokens_of(batch["fields"], sizes);
  const auto masked = [&](std::int64_t first, std::int64_t count) {
    return mask(tokens.narrow(1, first, count).contiguous(),
                draw_masks({.noisy = 1}, sizes, {.first = first, .count = count}), sizes.token)
        .tokens;
  };
  const torch::Tensor parts = torch::cat({masked(0, 2), masked(2, 1), masked(3, 1)}, 1);
  EXPECT_TRUE(torch::equal(masked(0, 4), parts));
}

TEST(AtmoRepMask, WeighsAllSamplesTheSame) {
  const FieldMask mask = draw_masks({}, full, {.count = 3})[0];
  std::vector<double> sums(3);
  for (std::size_t i = 0; i < mask.rows.size(); ++i)
    sums.at(static_cast<std::size_t>(mask.rows[i] / (5 * 216))) +=
        static_cast<double>(mask.weights[i]);
  EXPECT_THAT(sums, testing::Each(testing::DoubleNear(1.0 / 3, 1e-6)));
}

/// One field, whose masked tokens all meet with the same.
MaskedBatch masked_field(const torch::Tensor& tokens, const Masking& masking, FieldMask& mask) {
  const Sizes sizes = tiny({"t"});
  mask = draw_masks(masking, sizes, {.count = 2})[0];
  return atmorep::mask(tokens, {mask}, sizes.token);
}

TEST(AtmoRepMask, HidesMaskedTokensAndKeepsTheOthers) {
  const torch::Tensor tokens = torch::rand({1, 2, 24, 24}) + 1;
  FieldMask mask;
  const MaskedBatch batch = masked_field(tokens, {.hidden = 1, .noisy = 0, .coarse = 0}, mask);
  const torch::Tensor rows = batch.tokens[0].flatten(0, 1);
  const torch::Tensor before = tokens[0].flatten(0, 1);
  for (std::int64_t row = 0; row < 48; ++row)
    if (std::ranges::count(mask.rows, row) == 1)
      EXPECT_TRUE(torch::equal(rows[row], torch::zeros({24}))) << row;
    else
      EXPECT_TRUE(torch::equal(rows[row], before[row])) << row;
  EXPECT_TRUE(torch::equal(batch.targets[0], before.index_select(0, batch.rows[0])));
}

TEST(AtmoRepMask, WeakensNoisyTokens) {
  const torch::Tensor tokens = torch::full({1, 2, 24, 24}, 100.0);
  FieldMask mask;
  const MaskedBatch batch = masked_field(tokens, {.hidden = 0, .noisy = 1, .coarse = 0}, mask);
  const torch::Tensor noise = batch.tokens[0].flatten(0, 1).index_select(0, batch.rows[0]) -
                              100 * torch::tensor(mask.kept).unsqueeze(1);
  EXPECT_NEAR(noise.mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(noise.std().item<double>(), 0.1, 0.02);
  EXPECT_GT(torch::tensor(mask.kept).std().item<double>(), 0.1);
}

// Steps of two rows and columns become means, which a field without them stays as it is.
TEST(AtmoRepMask, CoarsensTokens) {
  torch::Tensor tokens = torch::full({1, 2, 24, 24}, 3.0);
  tokens[0][0].view({24, 2, 4, 3}).slice(2, 0, 4, 2).fill_(5);  // every second row
  FieldMask mask;
  const MaskedBatch batch = masked_field(tokens, {.hidden = 0, .noisy = 0, .coarse = 1}, mask);
  const torch::Tensor rows = batch.tokens[0].flatten(0, 1);
  for (const std::int64_t row : mask.rows) {
    const torch::Tensor expected = torch::full({24}, row < 24 ? 4.0 : 3.0);
    EXPECT_TRUE(torch::allclose(rows[row], expected)) << row;
  }
}

}  // namespace
}  // namespace bench::atmorep
