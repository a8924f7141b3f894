#include "atmorep/data.hpp"
#include "atmorep/masking.hpp"
#include "atmorep/network.hpp"
#include "harness/precision.hpp"
#include "steps/atmorep_tiny.hpp"
#include "steps/expect_counted.hpp"
#include "steps/trained.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::atmorep {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr NetworkOptions plain{.dropout = 0, .recompute = false};

AtmoRep on_meta(const Sizes& sizes) {
  return AtmoRep(sizes, NetworkOptions(), torch::kMeta);
}

/// The parameters by AtmoRep's configuration: equal fields, each coupled to all others.
std::int64_t closed_formula(const Sizes& sizes) {
  const std::int64_t width = sizes.width;
  const std::int64_t head = width / sizes.heads;
  const std::int64_t points = sizes.token.volume();
  const std::int64_t others = sizes.field_count() - 1;
  const std::int64_t mlp = width * 2 * width + 2 * width + 2 * width * width + width;
  const std::int64_t encoder = 3 * width * width + head * (sizes.heads + others) * width +
                               width * head * others + others * width * 2 * head + mlp;
  const std::int64_t decoder = 4 * width * width + 2 * 2 * head + mlp;
  const std::int64_t tail = 2 * width + width * points + points;
  return sizes.field_count() * (8 * 16 + 16 + points * (width - 16) + width - 16 +
                                sizes.layers * (encoder + decoder) + sizes.ensemble * tail);
}

struct CountCase {
  std::string name;
  Sizes sizes;
  std::int64_t of_code;  ///< With the second token-info net of AtmoRep's code, which is not used.
};
void PrintTo(const CountCase& count, std::ostream* out) {
  *out << count.name;
}
class AtmoRepCountTest : public testing::TestWithParam<CountCase> {};

TEST_P(AtmoRepCountTest, IsTheClosedFormulaAndThatOfTheNetwork) {
  const auto& [name, sizes, of_code] = GetParam();
  const steps::Cost counted = cost(sizes, {});
  EXPECT_EQ(counted.trainable_parameters(), closed_formula(sizes));
  EXPECT_EQ(counted.trainable_parameters() + 8 * 16 + 16, of_code);
  steps::expect_counted(counted, *on_meta(sizes));
}

INSTANTIATE_TEST_SUITE_P(Fields, AtmoRepCountTest,
                         testing::Values(CountCase{"One", {.fields = {"t"}}, 117'656'336},
                                         CountCase{"Three", {}, 362'405'904},
                                         CountCase{"OneThatIsTiny", tiny({"u"}),
                                                   closed_formula(tiny({"u"})) + 144}),
                         [](const auto& test) { return test.param.name; });

// Every matrix is applied to all tokens of its field, those of the tail to the masked ones.
TEST(AtmoRepCost, CountsProductsOfAllMatricesAndOfAttention) {
  const Sizes sizes;
  const Masking masking;
  const std::int64_t tokens = 1080;
  const std::int64_t masked = 273;  // 5 levels of 54.5 on average
  std::int64_t macs = 0;
  for (const auto& parameter : on_meta(sizes)->named_parameters()) {
    const bool of_tail = parameter.key().find("_tail.") != std::string::npos;
    if (parameter.value().dim() == 2)
      macs += parameter.value().numel() * (of_tail ? masked : tokens);
  }
  const std::int64_t heads = 6 * (16 + 2) + 6 * 16;  // of encoder and decoder
  macs += 3 * heads * 2 * 64 * tokens * tokens;
  EXPECT_EQ(cost(sizes, masking).forward_macs_per_sample(), macs);
}

TEST(AtmoRepCost, CountsTheInput) {
  EXPECT_EQ(cost({}, {}).input_bytes_per_sample(), 4 * (3 * 5 * 36 * 54 * 108 + 1080 * 8));
}

TEST(AtmoRepTokens, HoldEachPointOnceWhereItBelongs) {
  const Sizes sizes = tiny({"t", "u"});
  const torch::Tensor fields =
      torch::arange(2 * 2 * 2 * 6 * 8 * 6, torch::kFloat).view({2, 2, 2, 6, 8, 6});
  const torch::Tensor tokens = tokens_of(fields, sizes);  // (F, B, N, points)
  ASSERT_EQ(tokens.sizes(), (Shape{2, 2, 24, 24}));
  torch::Tensor restored = torch::full_like(fields, -1);
  for (std::int64_t token = 0; token < 24; ++token) {
    const std::int64_t level = token / 12;
    const std::int64_t time = token / 4 % 3;
    const std::int64_t row = token / 2 % 2;
    const std::int64_t column = token % 2;
    restored.select(2, level)
        .narrow(2, 2 * time, 2)
        .narrow(3, 4 * row, 4)
        .narrow(4, 3 * column, 3)
        .copy_(tokens.select(2, token).view({2, 2, 2, 4, 3}).transpose(0, 1));
  }
  EXPECT_TRUE(torch::equal(restored, fields));
}

TEST(AtmoRepTokens, AreAtDifferentPlaces) {
  Sizes sizes = tiny();
  sizes.tokens = {.times = 3, .rows = 2, .columns = 4};
  const torch::Tensor positions = harmonic_positions(sizes);
  ASSERT_EQ(positions.sizes(), (Shape{48, 32}));
  const std::int64_t token = 1 * 24 + 2 * 8 + 1 * 4 + 3;  // level, time, row, column
  for (const std::int64_t pair : {0, 3, 15}) {
    const double frequency = 2 * std::numbers::pi * static_cast<double>(2 * pair) / 32;
    EXPECT_NEAR(positions[token][2 * pair].item<double>(),
                0.5 * std::sin(8 * 1 * frequency) + std::sin(2 * frequency), 1e-12);
    EXPECT_NEAR(positions[token][2 * pair + 1].item<double>(),
                0.5 * std::cos(8 * 3 * frequency) + std::cos(1 * frequency), 1e-12);
  }
}

/// A batch of two samples, and what a network makes of it.
struct Passes {
  explicit Passes(const Sizes& sizes, std::uint64_t seed = 1, std::int64_t samples = 2)
      : batch(synthetic_windows(samples, sizes, seed)),
        masked(mask(tokens_of(batch["fields"], sizes),
                    draw_masks({}, sizes, {.seed = seed, .count = samples}), sizes.token)) {}

  Loss loss(AtmoRep& network) const {
    return loss_of(network(masked.tokens, batch["token_info"], masked.rows), masked);
  }

  steps::Batch batch;
  MaskedBatch masked;
};

torch::Tensor gradients_of(const torch::nn::Module& network) {
  std::vector<torch::Tensor> parts;
  for (const torch::Tensor& parameter : network.parameters())
    parts.push_back(parameter.grad().flatten());
  return torch::cat(parts);
}

TEST(AtmoRepNetwork, PredictsMaskedTokensAsAnEnsemble) {
  const Passes passes(tiny());
  AtmoRep network(tiny(), plain);
  const auto predicted =
      network(passes.masked.tokens, passes.batch["token_info"], passes.masked.rows);
  ASSERT_EQ(predicted.size(), 3U);
  for (std::size_t field = 0; field < 3; ++field)
    EXPECT_EQ(predicted[field].sizes(), (Shape{3, passes.masked.rows[field].size(0), 24}));
}

TEST(AtmoRepNetwork, ReachesEveryParameterWithAGradient) {
  torch::manual_seed(1);
  AtmoRep network(tiny(), plain);
  Passes(tiny()).loss(network).total.backward();
  for (const auto& parameter : network->named_parameters()) {
    ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
    EXPECT_GT(parameter.value().grad().abs().sum().item<double>(), 0) << parameter.key();
  }
}

TEST(AtmoRepNetwork, LooksAtTheOtherFields) {
  torch::manual_seed(1);
  const Passes passes(tiny());
  AtmoRep network(tiny(), plain);
  const torch::Tensor tokens = passes.masked.tokens.clone().requires_grad_();
  network(tokens, passes.batch["token_info"], passes.masked.rows)[0].sum().backward();
  for (std::int64_t field = 0; field < 3; ++field)
    EXPECT_GT(tokens.grad()[field].abs().sum().item<double>(), 0) << field;
}

TEST(AtmoRepNetwork, StartsWithoutTheTokensPlacesInTimeAndSpace) {
  const Passes passes(tiny());
  AtmoRep network(tiny(), plain);
  const torch::Tensor info = passes.batch["token_info"];
  const auto& [tokens, rows, targets, weights] = passes.masked;
  EXPECT_TRUE(torch::equal(network(tokens, info, rows)[0], network(tokens, info + 1, rows)[0]));
}

/// How layers may be recomputed.
struct RecomputeCase {
  std::string name;
  double dropout;
  steps::Precision precision;
};
void PrintTo(const RecomputeCase& recompute, std::ostream* out) {
  *out << recompute.name;
}
class AtmoRepRecomputeTest : public testing::TestWithParam<RecomputeCase> {};

// bf16's gradients differ by sums in another order.
TEST_P(AtmoRepRecomputeTest, HasTheSameGradients) {
  const auto& [name, dropout, precision] = GetParam();
  const Passes passes(tiny());
  std::vector<torch::Tensor> gradients;
  for (const bool recompute : {false, true}) {
    torch::manual_seed(1);
    AtmoRep network(
        tiny(), NetworkOptions{.dropout = dropout, .recompute = recompute, .precision = precision});
    torch::manual_seed(2);
    torch::Tensor loss;
    {
      const steps::Autocast autocast(torch::kCPU, precision);
      loss = passes.loss(network).total;
    }
    loss.backward();
    gradients.push_back(gradients_of(*network));
  }
  const double tolerance = precision == steps::Precision::fp32 ? 1e-6 : 1e-3;
  EXPECT_LT((gradients[1] - gradients[0]).norm().item<double>(),
            tolerance * gradients[0].norm().item<double>());
}

INSTANTIATE_TEST_SUITE_P(
    Layers, AtmoRepRecomputeTest,
    testing::Values(RecomputeCase{"Exactly", 0, steps::Precision::fp32},
                    RecomputeCase{"WithTheSameDropout", 0.2, steps::Precision::fp32},
                    RecomputeCase{"InTheSamePrecision", 0, steps::Precision::bf16}),
    [](const auto& test) { return test.param.name; });

// A network that predicts 0 everywhere has a squared error of 1.
TEST(AtmoRepNetwork, FillsInWavesThatItHasNotSeen) {
  torch::manual_seed(1);
  Sizes sizes = tiny();
  sizes.layers = 1;
  AtmoRep network(sizes, plain);
  std::uint64_t seed = 1;
  steps::trained_loss(*network, 120, 5e-3, [&] {
    seed += 16;
    return Passes(sizes, seed, 16).loss(network).total;
  });
  const torch::NoGradGuard no_gradient;
  network->eval();
  EXPECT_LT(Passes(sizes, 1'000'000, 64).loss(network).squared_error.item<double>(), 0.65);
}

/// One field with masked tokens of two points.
Loss loss_of_tokens(const torch::Tensor& members, const torch::Tensor& targets,
                    const std::vector<double>& weights) {
  return loss_of({members}, {.tokens = {},
                             .rows = {},
                             .targets = {targets},
                             .weights = {torch::tensor(weights, torch::kDouble)}});
}

// Members 1 and 3: mean 2, variance 2. Errors of the first token: 0 and 2; of the second: 1 twice.
TEST(AtmoRepLoss, IsHalfOfErrorsAndSpread) {
  const torch::Tensor members =
      torch::tensor({1.0, 3.0}, torch::kDouble).view({2, 1, 1}).expand({2, 2, 2});
  const torch::Tensor targets = torch::tensor({{2.0, 4.0}, {3.0, 1.0}}, torch::kDouble);
  const double spread = std::pow(2.0, 0.25);
  const auto miss = [](double error) { return std::pow(std::exp(-error * error / 4) - 1, 2); };
  const double first = (1 + (9 + 1) / 2.0) / 2 + miss(2) / 2 + spread;
  const double second = (4 + 0) / 2.0 + miss(1) + spread;
  const Loss loss = loss_of_tokens(members, targets, {0.75, 0.25});
  EXPECT_NEAR(loss.total.item<double>(), (0.75 * first + 0.25 * second) / 2, 1e-9);
  EXPECT_NEAR(loss.squared_error.item<double>(), 0.75 * (0 + 4) / 2 + 0.25 * 1, 1e-9);
}

TEST(AtmoRepLoss, IsTheMeanOverFields) {
  torch::manual_seed(1);
  std::vector<torch::Tensor> predicted;
  MaskedBatch batch;
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    predicted.push_back(torch::randn({3, 2, 4}, torch::kDouble));
    batch.targets.push_back(torch::randn({2, 4}, torch::kDouble));
    batch.weights.push_back(torch::tensor({0.5, 0.5}, torch::kDouble));
    sum += loss_of_tokens(predicted.back(), batch.targets.back(), {0.5, 0.5}).total.item<double>();
  }
  EXPECT_NEAR(loss_of(predicted, batch).total.item<double>(), sum / 2, 1e-12);
}

TEST(AtmoRepLoss, HasAFiniteGradientWhereAllMembersAgree) {
  for (const double target : {0.0, 5.0}) {
    const torch::Tensor members = torch::zeros({3, 1, 2}).requires_grad_();
    loss_of_tokens(members, torch::full({1, 2}, target), {1}).total.backward();
    EXPECT_TRUE(torch::isfinite(members.grad()).all().item<bool>()) << target;
  }
}

TEST(AtmoRepLoss, IsOfFp32AlsoForPredictionsOfBf16) {
  const Loss loss =
      loss_of_tokens(torch::randn({3, 1, 2}).to(torch::kBFloat16), torch::zeros({1, 2}), {1});
  EXPECT_EQ(loss.total.scalar_type(), torch::kFloat);
}

}  // namespace
}  // namespace bench::atmorep
