#include "atmorep/data.hpp"
#include "atmorep/network.hpp"
#include "data/files.hpp"
#include "harness/errors.hpp"
#include "harness/precision.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/expect_counted.hpp"
#include "steps/synthetic_batches.hpp"
#include "steps/trained.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"
#endif

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
TEST(AtmoRepCount, IsTheClosedFormulaAndThatOfTheNetwork) {
  const CountCase cases[] = {{"One", {.fields = {"t"}}, 117'656'336},
                             {"Three", {}, 362'405'904},
                             {"OneThatIsTiny", tiny({"u"}), closed_formula(tiny({"u"})) + 144}};
  for (const CountCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto& [name, sizes, of_code] = c;
    const steps::Cost counted = cost(sizes, {});
    EXPECT_EQ(counted.trainable_parameters(), closed_formula(sizes));
    EXPECT_EQ(counted.trainable_parameters() + 8 * 16 + 16, of_code);
    steps::expect_counted(counted, *on_meta(sizes));
  }
}

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
// bf16's gradients differ by sums in another order.
TEST(AtmoRepRecompute, HasTheSameGradients) {
  const RecomputeCase cases[] = {{"Exactly", 0, steps::Precision::fp32},
                                 {"WithTheSameDropout", 0.2, steps::Precision::fp32},
                                 {"InTheSamePrecision", 0, steps::Precision::bf16}};
  for (const RecomputeCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto& [name, dropout, precision] = c;
    const Passes passes(tiny());
    std::vector<torch::Tensor> gradients;
    for (const bool recompute : {false, true}) {
      torch::manual_seed(1);
      AtmoRep network(
          tiny(),
          NetworkOptions{.dropout = dropout, .recompute = recompute, .precision = precision});
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
}

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

using support::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(AtmoRepOptions, KnowFieldsByNumberAndName) {
  EXPECT_THAT(parse_fields("1"), ElementsAre("t"));
  EXPECT_THAT(parse_fields("3"), ElementsAre("t", "u", "v"));
  EXPECT_THAT(parse_fields("5"), ElementsAre("t", "u", "v", "q", "w"));
  EXPECT_THAT(parse_fields("T,u,V"), ElementsAre("t", "u", "v"));
  EXPECT_THAT(parse_fields("q"), ElementsAre("q"));
}

struct WrongFields {
  std::string name;
  std::string text;
  std::string message;
};
TEST(AtmoRepFields, AreRefused) {
  const WrongFields cases[] = {{"Unknown", "t,ciwc", "unknown field 'ciwc'"},
                               {"Twice", "u,t,U", "field 'u' is given twice"},
                               {"None", "0", "0 fields are not among the 5 known ones"},
                               {"TooMany", "6", "6 fields are not among the 5 known ones"},
                               {"Empty", "", "no field is given"},
                               {"EmptyName", "t,,u", "unknown field ''"}};
  for (const WrongFields& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(message_of<steps::UsageError>([&] { parse_fields(c.text); }), c.message);
  }
}

TEST(AtmoRepOptions, RefuseWhatTheNetworkCannotBe) {
  const auto refused = [](const Sizes& sizes, const Masking& masking = {}) {
    return message_of<steps::UsageError>([&] { check_options(sizes, masking); });
  };
  EXPECT_NO_THROW(check_options({}, {}));
  EXPECT_NO_THROW(check_options({}, {.rates = {0.5, 0.25, 0.1}}));
  EXPECT_EQ(refused({.width = 100}), "16 heads do not divide a width of 100");
  EXPECT_THAT(refused({.width = 16, .heads = 2}), HasSubstr("no room for tokens"));
  EXPECT_EQ(refused({}, {.rates = {0.5, 0.1}}), "2 masking rates for 3 fields");
}

TEST(AtmoRepOptions, RaiseTheLearningRateForTwoEpochsAndThenLowerIt) {
  const auto rate_after = [](double epochs) { return default_schedule().rate(epochs * 49'152); };
  EXPECT_NEAR(rate_after(0), 5e-6, 1e-12);
  EXPECT_NEAR(rate_after(1), 7.75e-5, 1e-12);
  EXPECT_NEAR(rate_after(2), 1.5e-4, 1e-12);
  EXPECT_NEAR(rate_after(3), 1.5e-4 / 1.025, 1e-10);
  EXPECT_NEAR(rate_after(12), 1.5e-4 / std::pow(1.025, 10), 1e-10);
  EXPECT_NEAR(rate_after(1000), 4e-5, 1e-12);
}

// 1 March 2020, 13 o'clock is the last hour of the second token.
TEST(AtmoRepTokenInfo, TellsLastTimeAndMiddleOfEachToken) {
  const Sizes sizes{.fields = {"t"},
                    .levels = 2,
                    .tokens = {.times = 2, .rows = 1, .columns = 2},
                    .token = {.times = 2, .rows = 3, .columns = 2}};
  constexpr float last = 24 * 43'889 + 13;
  const std::vector<float> hours{last - 27, last - 26, last - 1, last};
  const std::vector<float> levels{96, 137};
  const std::vector<float> latitudes{45, 30, 15};
  const std::vector<float> longitudes{0, 18, 36, 54};
  std::vector<float> info(static_cast<std::size_t>(sizes.field_tokens() * token_info_count));
  fill_token_info(
      {.hours = hours, .levels = levels, .latitudes = latitudes, .longitudes = longitudes}, sizes,
      info);
  const auto token = [&](std::size_t number) {
    return std::vector<double>(info.begin() + static_cast<std::ptrdiff_t>(8 * number),
                               info.begin() + static_cast<std::ptrdiff_t>(8 * number + 8));
  };
  const auto near = [](const std::vector<double>& numbers) {
    std::vector<testing::Matcher<double>> matchers;
    for (const double number : numbers)
      matchers.push_back(testing::DoubleNear(number, 1e-6));
    return testing::ElementsAreArray(matchers);
  };
  EXPECT_THAT(token(0), near({2020 / 2100.0, 59 / 365.0, 11 / 24.0, 0.096, 30 / 90.0, 18 / 360.0,
                              0.096, 18}));
  EXPECT_THAT(token(7), near({2020 / 2100.0, 60 / 365.0, 13 / 24.0, 0.137, 30 / 90.0, 54 / 360.0,
                              0.137, 18}));
}

TEST(AtmoRepSynthetic, IsNormalisedOverAllSamples) {
  const torch::Tensor fields = synthetic_windows(400, tiny())["fields"];
  EXPECT_NEAR(fields.mean().item<double>(), 0, 0.1);
  EXPECT_NEAR(fields.std().item<double>(), 1, 0.05);
}

// Four waves of less than two periods in the window: neighbours differ little.
TEST(AtmoRepSynthetic, IsSmoothInTimeAndSpace) {
  const torch::Tensor fields = synthetic_windows(20, Sizes{.fields = {"t"}, .levels = 2})["fields"];
  for (const std::int64_t dimension : {3, 4, 5})
    EXPECT_LT(fields.diff(1, dimension).abs().max().item<double>(), 0.6) << dimension;
}

// Files of ERA5's fields, written with netCDF itself.

#ifdef BENCH_STEPS_NETCDF

/// Windows of two times, two levels, one row and two columns, of two tokens.
const Sizes window{.fields = {"t", "u"},
                   .levels = 2,
                   .tokens = {.times = 1, .rows = 1, .columns = 2},
                   .token = {.times = 2, .rows = 1, .columns = 1}};

/// Two files of two rows and five columns, which have four windows each. A number of `t` is its
/// place in its file, of `u` a hundred more.
class AtmoRepDatasetTest : public testing::Test {
 protected:
  AtmoRepDatasetTest() {
    for (const char* name : {"1.nc", "2.nc"})
      write(name);
  }

  void write(const std::string& name, std::size_t times = 2, const std::string& wind = "u") const {
    steps::NetcdfTestFile file(path(name));
    file.add("t", {times, 2, 2, 5});
    file.add(wind, {times, 2, 2, 5}, 100);
    file.add("time", {times}, 24 * 36'524 + 22, NC_INT);  // 1 January 2000
    file.add("level", {2}, 136);
    file.add("latitude", {2}, 45, NC_DOUBLE);
    file.add("longitude", {5}, 90);
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  std::unique_ptr<steps::FieldSource> open() const {
    return open_dataset({path("1.nc"), path("2.nc")}, window, options_);
  }

  DatasetOptions options_;

 private:
  steps::Folder folder_;
};

TEST_F(AtmoRepDatasetTest, HasAllWindowsOfAllFiles) {
  const auto source = open();
  EXPECT_EQ(source->samples(), 2U * 4);
  EXPECT_EQ(source->fields(), fields(window));
}

// The windows have columns 0 to 3. Level 0 has 0 to 3, 5 to 8 and, at the second time, 20 more.
TEST_F(AtmoRepDatasetTest, IsNormalisedOnEachLevel) {
  const auto source = open();
  auto sample = steps::read_sample(*source, 3);  // second row, columns 2 and 3
  double squares = 0;
  for (const double number : {0, 1, 2, 3, 5, 6, 7, 8, 20, 21, 22, 23, 25, 26, 27, 28})
    squares += (number - 14) * (number - 14) / 16;
  std::vector<testing::Matcher<double>> expected;
  for (int field_and_level = 0; field_and_level < 4; ++field_and_level)
    for (const double number : {7, 8, 27, 28})
      expected.push_back(testing::DoubleNear((number - 14) / std::sqrt(squares), 1e-6));
  EXPECT_THAT(sample["fields"], testing::ElementsAreArray(expected));
}

TEST_F(AtmoRepDatasetTest, TellsWhereAndWhenTokensAre) {
  auto sample = steps::read_sample(*open(), 3);
  std::vector<testing::Matcher<double>> expected;
  for (const double level : {136, 137})
    for (const double longitude : {92, 93})
      for (const double number : {2000 / 2100.0, 0 / 365.0, 23 / 24.0, level / 1000, 46 / 90.0,
                                  longitude / 360, level / 1000, 1.0})
        expected.push_back(testing::DoubleNear(number, 1e-6));
  EXPECT_THAT(sample["token_info"], testing::ElementsAreArray(expected));
}

TEST_F(AtmoRepDatasetTest, KnowsCoordinatesByOtherNames) {
  options_.coordinates = {"time", "hybrid", "latitude", "longitude"};
  EXPECT_THAT(message_of<steps::DataError>([&] { open(); }),
              AllOf(HasSubstr(path("1.nc")), HasSubstr("variable 'hybrid'")));
}

TEST_F(AtmoRepDatasetTest, RefusesAnotherNumberOfTimes) {
  write("1.nc", 3);
  EXPECT_THAT(message_of<steps::DataError>([&] { open(); }),
              AllOf(HasSubstr(path("1.nc")), HasSubstr("variable 't' is float32 (3, 2, 1, 2), "
                                                       "expected float32 (2, 2, 1, 2)")));
}

#endif

}  // namespace
}  // namespace bench::atmorep
