#include "harness/errors.hpp"
#include "harness/optimizer.hpp"
#include "steps/in_ranks.hpp"
#include "steps/paused.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"
#include "transformer/training.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::transformer {
namespace {

/// Queries, keys and values, (B, heads, S, D), and what their attention is multiplied with for a
/// scalar to differentiate.
struct AttentionInputs {
  AttentionInputs(std::int64_t sequence, std::int64_t heads, std::int64_t key_value_heads) {
    torch::manual_seed(1);
    q = torch::randn({2, heads, sequence, 8}, torch::kDouble).requires_grad_();
    k = torch::randn({2, key_value_heads, sequence, 8}, torch::kDouble).requires_grad_();
    v = torch::randn({2, key_value_heads, sequence, 8}, torch::kDouble).requires_grad_();
    weights = torch::randn({2, heads, sequence, 8}, torch::kDouble);
  }
  torch::Tensor q, k, v, weights;
};

/// The formula, with every key/value head repeated for the queries of its group.
torch::Tensor reference_attention(const AttentionInputs& in) {
  const std::int64_t sequence = in.q.size(2);
  const std::int64_t heads_per_group = in.q.size(1) / in.k.size(1);
  const torch::Tensor k = in.k.repeat_interleave(heads_per_group, 1);
  const torch::Tensor v = in.v.repeat_interleave(heads_per_group, 1);
  const torch::Tensor later = torch::ones({sequence, sequence}, torch::kBool).triu(/*diagonal=*/1);
  const torch::Tensor scores = torch::matmul(in.q, k.transpose(2, 3)) / std::sqrt(8.0);
  const double infinity = std::numeric_limits<double>::infinity();
  return torch::matmul(torch::softmax(scores.masked_fill(later, -infinity), 3), v);
}

std::vector<AttentionKind> available_kinds() {
  std::vector<AttentionKind> kinds{AttentionKind::plain};
  if (BENCH_TORCH_AT_LEAST(2, 0))
    kinds.push_back(AttentionKind::fused);
  return kinds;
}

struct AttentionCase {
  std::string name;
  std::int64_t sequence;
  std::int64_t heads;
  std::int64_t key_value_heads;
};
TEST(Attention, EqualsTheFormulaInEveryKind) {
  const AttentionCase cases[] = {
      {"AHeadPerKey", 70, 3, 3}, {"Groups", 70, 6, 2}, {"OneGroup", 17, 4, 1}};
  for (const AttentionCase& c : cases) {
    SCOPED_TRACE(c.name);
    const AttentionInputs exact(c.sequence, c.heads, c.key_value_heads);
    const torch::Tensor expected = reference_attention(exact);
    (expected * exact.weights).sum().backward();
    for (const AttentionKind kind : available_kinds()) {
      const auto in_fp32 = [](const torch::Tensor& tensor) {
        return tensor.detach().to(torch::kFloat).requires_grad_();
      };
      const torch::Tensor q = in_fp32(exact.q), k = in_fp32(exact.k), v = in_fp32(exact.v);
      const torch::Tensor found = causal_attention(kind, q, k, v, 0);
      (found * exact.weights.to(torch::kFloat)).sum().backward();
      const auto expect_close = [&](const torch::Tensor& value, const torch::Tensor& reference) {
        EXPECT_TRUE(torch::allclose(value.to(torch::kDouble), reference, 1e-4, 1e-5))
            << attention_name(kind);
      };
      expect_close(found, expected);
      expect_close(q.grad(), exact.q.grad());
      expect_close(k.grad(), exact.k.grad());
      expect_close(v.grad(), exact.v.grad());
    }
  }
}

TEST(Attention, IsFusedIfLibTorchCanDoThat) {
  const AttentionKind kind = parse_attention("auto");
  EXPECT_EQ(attention_name(kind), BENCH_TORCH_AT_LEAST(2, 0) ? "fused" : "plain");
  EXPECT_NO_THROW(check_attention(kind));
  if (!BENCH_TORCH_AT_LEAST(2, 0)) {
    EXPECT_THROW(check_attention(parse_attention("fused")), steps::UsageError);
  }
  EXPECT_THROW(parse_attention("blocked"), steps::UsageError);
}

TEST(Loss, EqualsThatOfLibTorch) {
  for (const auto type : {torch::kFloat, torch::kBFloat16}) {
    torch::manual_seed(4);
    const torch::Tensor scores = (torch::randn({2, 5, 11}) * 40).to(type).requires_grad_();
    const torch::Tensor same = scores.detach().clone().requires_grad_();
    const torch::Tensor tokens = torch::randint(11, {2, 6}, torch::kLong);
    const torch::Tensor loss = next_token_loss(scores, tokens);
    const torch::Tensor expected = torch::cross_entropy_loss(same.view({10, 11}).to(torch::kFloat),
                                                             tokens.narrow(1, 1, 5).reshape({-1}));
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-5);
    (3 * loss).backward();
    (3 * expected).backward();
    EXPECT_TRUE(torch::allclose(scores.grad(), same.grad(), 1e-2, 1e-6));
  }
}

TEST(RotaryPositions, MakeProductsDependOnTheDistanceAlone) {
  torch::manual_seed(2);
  const Rotary rotary(40, 8, 10000, torch::TensorOptions(torch::kFloat));
  const torch::Tensor pair = torch::randn({1, 1, 1, 2, 8}).expand({1, 40, 1, 2, 8});
  const torch::Tensor rotated = rotary.rotate(pair)[0].squeeze(1);  // (S, 2, D)
  const auto product = [&](int query, int key) {
    return torch::dot(rotated[query][0], rotated[key][1]).item<double>();
  };
  EXPECT_NEAR(product(9, 4), product(39, 34), 1e-4);
  EXPECT_GT(std::abs(product(9, 4) - product(9, 5)), 1e-3);
  EXPECT_TRUE(torch::equal(rotated[0], pair[0][0][0]));
}

// Halves of a head are pairs, so element 1 of 4 is rotated with element 3, by base^(-2/4) per
// token.
TEST(RotaryPositions, RotateTheHalvesOfAHead) {
  const double base = 500'000;
  const Rotary rotary(6, 4, base, torch::TensorOptions(torch::kDouble));
  const torch::Tensor x =
      torch::tensor({3.0, 5.0, 7.0, 11.0}, torch::kDouble).expand({1, 6, 1, 1, 4});
  const torch::Tensor token = rotary.rotate(x)[0][5].flatten();
  const double fast = 5;
  const double slow = 5 / std::sqrt(base);
  EXPECT_NEAR(token[0].item<double>(), 3 * std::cos(fast) - 7 * std::sin(fast), 1e-12);
  EXPECT_NEAR(token[2].item<double>(), 7 * std::cos(fast) + 3 * std::sin(fast), 1e-12);
  EXPECT_NEAR(token[1].item<double>(), 5 * std::cos(slow) - 11 * std::sin(slow), 1e-12);
  EXPECT_NEAR(token[3].item<double>(), 11 * std::cos(slow) + 5 * std::sin(slow), 1e-12);
}

TEST(RotaryPositions, HaveTheGradientOfTheirFormula) {
  torch::manual_seed(2);
  const Rotary rotary(6, 4, 10000, torch::TensorOptions(torch::kDouble));
  const torch::Tensor x = torch::randn({1, 6, 2, 2, 4}, torch::kDouble).requires_grad_();
  const torch::Tensor weights = torch::randn_like(x);
  (rotary.rotate(x) * weights).sum().backward();
  const double step = 1e-5;
  for (const std::int64_t place : {0, 21, 50, 95}) {
    torch::Tensor shifted = x.detach().clone();
    shifted.view(-1)[place] += step;
    const double slope =
        ((rotary.rotate(shifted) - rotary.rotate(x)) * weights).sum().item<double>() / step;
    EXPECT_NEAR(x.grad().view(-1)[place].item<double>(), slope, 1e-6);
  }
}

TEST(RmsNormalisation, FollowsItsFormula) {
  RmsNorm norm(3, torch::TensorOptions(torch::kFloat));
  torch::Tensor weight = norm->parameters().at(0);
  weight.detach().copy_(torch::tensor({1.0, 2.0, -0.5}));
  const torch::Tensor found = norm->forward(torch::tensor({{1.0, -2.0, 4.0}, {0.1, 0.1, 0.1}}));
  const double first = std::sqrt((1 + 4 + 16) / 3.0 + 1e-5);
  const double second = std::sqrt(0.01 + 1e-5);
  const torch::Tensor expected = torch::tensor(
      {{1 / first, -4 / first, -2 / first}, {0.1 / second, 0.2 / second, -0.05 / second}});
  EXPECT_TRUE(torch::allclose(found, expected, 1e-5, 1e-6));
}

// d_x = (g w - y mean(g w y)) / rms with y = x / rms; d_w is the sum of g y over tokens.
TEST(RmsNormalisation, HasTheGradientOfItsFormula) {
  torch::manual_seed(6);
  RmsNorm norm(16, torch::TensorOptions(torch::kFloat));
  torch::Tensor weight = norm->parameters().at(0);
  weight.detach().copy_(torch::randn({16}));
  const torch::Tensor x = torch::randn({5, 16}).requires_grad_();
  const torch::Tensor g = torch::randn({5, 16});
  (norm->forward(x) * g).sum().backward();
  const torch::Tensor rms = (x.detach().square().mean(1, true) + 1e-5).sqrt();
  const torch::Tensor y = x.detach() / rms;
  const torch::Tensor gw = g * weight.detach();
  EXPECT_TRUE(torch::allclose(x.grad(), (gw - y * (gw * y).mean(1, true)) / rms, 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(weight.grad(), (g * y).sum(0), 1e-4, 1e-5));
}

TEST(RmsNormalisation, TakesTheMeanOfHalfPrecisionInFp32) {
  RmsNorm norm(4, torch::TensorOptions(torch::kHalf));
  const torch::Tensor found = norm->forward(torch::full({2, 4}, 3000.0, torch::kHalf));
  EXPECT_EQ(found.scalar_type(), torch::kHalf);
  EXPECT_TRUE(torch::allclose(found.to(torch::kFloat), torch::ones({2, 4})));  // 3000^2 overflows
}

TEST(SwiGluMlp, FollowsItsFormula) {
  SwiGlu mlp(WeightInit{}, 0, /*hidden=*/6, /*width=*/10, /*deviation=*/0.5,
             /*down_deviation=*/0.25);
  const auto parameters = mlp->named_parameters();
  EXPECT_EQ(parameters.size(), 2U);
  const torch::Tensor gate = parameters["gate_up.weight"].narrow(0, 0, 10);
  const torch::Tensor up = parameters["gate_up.weight"].narrow(0, 10, 10);
  const torch::Tensor x = torch::randn({2, 3, 6});
  const torch::Tensor g = torch::matmul(x, gate.t());
  const torch::Tensor wide = g / (1 + torch::exp(-g)) * torch::matmul(x, up.t());
  EXPECT_TRUE(torch::allclose(mlp->forward(x), torch::matmul(wide, parameters["down.weight"].t()),
                              1e-4, 1e-6));
}

TEST(FirstWeights, HaveTheDeviationOfTheirOptions) {
  const WeightInit init{.seed = 3};
  const torch::Tensor weights = init.split_rows(7, 300, 200, 0.02);
  EXPECT_NEAR(weights.std().item<double>(), 0.02, 0.0005);
  EXPECT_NEAR(weights.mean().item<double>(), 0, 0.0005);
  EXPECT_TRUE(torch::equal(weights, init.whole(7, 300, 200, 0.02)));
  EXPECT_FALSE(torch::equal(weights, init.whole(8, 300, 200, 0.02)));
}

TEST(Layouts, NameWhatTheyCannotSplit) {
  const DecoderSizes sizes{.layers = 6,
                           .hidden = 96,
                           .heads = 12,
                           .key_value_heads = 4,
                           .mlp = 90,
                           .sequence = 60,
                           .vocabulary = 88};
  EXPECT_EQ(layout_error(sizes, {.tensor = 2, .pipeline = 3}), "");
  const std::pair<Layout, const char*> cases[] = {
      {{.tensor = 5}, "12 heads cannot be shared by 5 tensor-parallel ranks"},
      {{.tensor = 3}, "4 key/value heads cannot be shared by 3 tensor-parallel ranks"},
      {{.tensor = 4}, "90 columns of the MLP cannot be shared by 4 tensor-parallel ranks"},
      {{.pipeline = 4}, "6 layers cannot be shared by 4 pipeline stages"}};
  for (const auto& [layout, message] : cases)
    EXPECT_EQ(layout_error(sizes, layout), message);
}

constexpr std::int64_t hidden = 6;
constexpr std::int64_t width = 10;

Experts four_experts(std::int64_t per_token) {
  return Experts(WeightInit{.seed = 3}, 0, 4, per_token, hidden, width, /*deviation=*/0.8,
                 /*down_deviation=*/0.4);
}

/// All experts compute all tokens; those that a token does not use have the weight 0.
torch::Tensor dense_result(const Experts& experts, std::int64_t per_token, const torch::Tensor& x) {
  const auto parameters = experts->named_parameters();
  const torch::Tensor scores = torch::matmul(x, parameters["router"].t());  // (B, S, 4)
  const torch::Tensor least = std::get<0>(scores.topk(per_token, 2)).amin(2, true);
  const torch::Tensor chosen = scores.masked_fill(scores < least, -INFINITY);
  const torch::Tensor weights = torch::softmax(chosen, 2);
  torch::Tensor sum = torch::zeros_like(x);
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::string name = "expert" + std::to_string(i);
    const auto gate_up = torch::matmul(x, parameters[name + ".gate_up.weight"].t()).chunk(2, 2);
    const torch::Tensor result =
        torch::matmul(torch::silu(gate_up[0]) * gate_up[1], parameters[name + ".down.weight"].t());
    sum = sum + weights.select(2, i).unsqueeze(2) * result;
  }
  return sum;
}

std::vector<torch::Tensor> gradients_of(const torch::Tensor& result, const torch::Tensor& factors,
                                        const torch::Tensor& x, const Experts& experts) {
  std::vector<torch::Tensor> inputs{x};
  for (const torch::Tensor& parameter : experts->parameters())
    inputs.push_back(parameter);
  return torch::autograd::grad({(result * factors).sum()}, inputs);
}

TEST(MixtureOfExperts, EqualsADenseComputation) {
  torch::manual_seed(4);
  const torch::Tensor x = torch::randn({3, 5, hidden}).requires_grad_();
  const torch::Tensor factors = torch::randn({3, 5, hidden});
  for (const std::int64_t per_token : {1, 2, 4}) {
    Experts experts = four_experts(per_token);
    const torch::Tensor found = experts->forward(x);
    const torch::Tensor expected = dense_result(experts, per_token, x);
    EXPECT_TRUE(torch::allclose(found, expected, 1e-4, 1e-5)) << per_token;
    const auto found_gradients = gradients_of(found, factors, x, experts);
    const auto expected_gradients = gradients_of(expected, factors, x, experts);
    for (std::size_t i = 0; i < found_gradients.size(); ++i)
      EXPECT_TRUE(torch::allclose(found_gradients[i], expected_gradients[i], 1e-4, 1e-5))
          << per_token << " " << i;
  }
}

// One token leaves experts without any; their weights have a gradient nevertheless, of 0.
TEST(MixtureOfExperts, HaveGradientsWithoutTokens) {
  Experts experts = four_experts(1);
  experts->forward(torch::ones({1, 1, hidden})).sum().backward();
  std::int64_t unused = 0;
  for (const auto& parameter : experts->named_parameters()) {
    ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
    unused += parameter.key().find("gate_up") != std::string::npos &&
              parameter.value().grad().abs().max().item<float>() == 0;
  }
  EXPECT_EQ(unused, 3);
}

TEST(MixtureOfExperts, CountsTheirTokensInTrainingOnly) {
  torch::manual_seed(4);
  Experts experts = four_experts(2);
  const torch::Tensor x = torch::randn({3, 5, hidden});
  experts->forward(x);
  experts->forward(x);
  EXPECT_EQ(experts->loads().sum().item<std::int64_t>(), 2 * 3 * 5 * 2);
  experts->eval();
  experts->forward(x);
  EXPECT_EQ(experts->loads().sum().item<std::int64_t>(), 2 * 3 * 5 * 2);
}

// By hand: both tokens score (a, 0, 0, 0) or (-a, 0, 0, 0) by their first number.
TEST(MixtureOfExperts, HaveTheBalanceLossOfTheFormula) {
  Experts experts = four_experts(1);
  torch::Tensor router = experts->named_parameters()["router"].detach();
  router.zero_();
  router[0][0] = 1;
  const double a = 2;
  torch::Tensor x = torch::zeros({1, 2, hidden});
  x[0][0][0] = a;
  x[0][1][0] = a;
  experts->forward(x);  // all to the first: 4 * 1 * P
  const double high = std::exp(a) / (std::exp(a) + 3);
  EXPECT_NEAR(experts->balance_loss().item<double>(), 4 * high, 1e-5);
  x.zero_();
  experts->forward(x);  // all alike: 4 * 1 * 1/4, whichever was chosen
  EXPECT_NEAR(experts->balance_loss().item<double>(), 1, 1e-6);
}

/// Rows for each of four experts, of two ranks that hold two of them each.
struct ExchangeCase {
  std::string name;
  std::vector<std::vector<std::int64_t>> counts;
  bool have_all_tokens = false;
};
// Expert i multiplies with i + 1, and so is the gradient.
TEST(ExpertExchange, TakesRowsToTheirExpertsAndBack) {
  const ExchangeCase cases[] = {{"Even", {{2, 1, 3, 4}, {1, 2, 3, 4}}},
                                {"WithoutAnyForOneExpert", {{2, 0, 1, 0}, {0, 0, 0, 3}}},
                                {"WithoutAnyForOneRank", {{2, 1, 0, 0}, {1, 0, 0, 0}}},
                                {"WithoutAnyOfOneRank", {{2, 1, 1, 2}, {0, 0, 0, 0}}},
                                {"OfAllTokens", {{2, 0, 1, 3}, {2, 0, 1, 3}}, true}};
  for (const ExchangeCase& c : cases) {
    SCOPED_TRACE(c.name);
    steps::in_ranks(2, [&](const steps::Communicator& all) {
      TensorRanks ranks(all);
      ranks.have_all_tokens = c.have_all_tokens;
      const auto& all_counts = c.counts;
      const torch::Tensor counts =
          torch::tensor(all_counts[static_cast<std::size_t>(ranks.rank())]);
      const torch::Tensor factors =
          torch::arange(1, 5).repeat_interleave(counts).to(torch::kFloat).unsqueeze(1);
      const int own = ranks.have_all_tokens ? 0 : 100 * ranks.rank();
      const torch::Tensor rows =
          (torch::arange(3 * factors.size(0), torch::kFloat).view({-1, 3}) + own)
              .set_requires_grad(true);
      ExpertExchange exchange(counts, ranks);
      std::vector<torch::Tensor> shares = exchange.to_experts(rows);
      ASSERT_EQ(shares.size(), 2);
      for (std::int64_t i = 0; i < 2; ++i) {
        const std::int64_t expert = std::int64_t{2} * ranks.rank() + i;
        torch::Tensor& share = shares[static_cast<std::size_t>(i)];
        EXPECT_EQ(share.size(0), exchange.counts()[expert].item<std::int64_t>());
        share = share * (expert + 1);
      }
      const torch::Tensor results = exchange.to_rows(shares);
      EXPECT_TRUE(torch::equal(results, rows * factors)) << ranks.rank();
      if (ranks.have_all_tokens)
        return;
      results.sum().backward();
      EXPECT_TRUE(torch::equal(rows.grad(), factors.expand_as(rows))) << ranks.rank();
    });
  }
}

using testing::HasSubstr;
using testing::Not;

class IterationLogTest : public testing::Test {
 protected:
  steps::Communicator alone_;
  torch::nn::Linear model_{2, 2};
  steps::Trainer trainer_{{.ranks = alone_, .device = torch::kCPU},
                          *model_,
                          {.optimizer = steps::make_adamw({.weight_decay = 0}),
                           .learning_rate = [](std::int64_t) { return 0.0; }}};
  TrainingOptions options_;
};

TEST_F(IterationLogTest, CountsNoPause) {
  options_.log_interval = 1;
  IterationLog log(options_, trainer_, 8, {});
  const steps::PausedStep step = steps::paused_step(log, {});
  EXPECT_LE(steps::number_behind(step.printed, "elapsed time per iteration (s): "),
            step.most_s + 0.0001)
      << step.printed;
}

// As Megatron-LM does, which prints no loss where no iteration has one.
TEST_F(IterationLogTest, LeavesSkippedIterationsOutOfTheLoss) {
  options_.log_interval = 2;
  IterationLog log(options_, trainer_, 8, {});
  const auto line_of = [&](const steps::StepResult& first, const steps::StepResult& second) {
    testing::internal::CaptureStdout();
    log.add({.result = first});
    log.add({.result = second});
    return testing::internal::GetCapturedStdout();
  };
  log.begin();
  EXPECT_THAT(line_of({.loss = 3}, {.loss = 100, .skipped = true}),
              HasSubstr("| lm loss: 3.000000E+00 | loss scale: "));
  EXPECT_THAT(line_of({.loss = 5, .skipped = true}, {.loss = 7, .skipped = true}),
              Not(HasSubstr("lm loss")));
  EXPECT_THAT(line_of({.loss = 1}, {.loss = 2}), HasSubstr("| lm loss: 1.500000E+00 "));
}

}  // namespace
}  // namespace bench::transformer
