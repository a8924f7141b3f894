#include "transformer/experts.hpp"

#include "steps/in_ranks.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace bench::transformer {
namespace {

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
void PrintTo(const ExchangeCase& c, std::ostream* out) {
  *out << c.name;
}
class ExpertExchangeTest : public testing::TestWithParam<ExchangeCase> {};

// Expert i multiplies with i + 1, and so is the gradient.
TEST_P(ExpertExchangeTest, TakesRowsToTheirExpertsAndBack) {
  steps::in_ranks(2, [](const steps::Communicator& all) {
    TensorRanks ranks(all);
    ranks.have_all_tokens = GetParam().have_all_tokens;
    const auto& all_counts = GetParam().counts;
    const torch::Tensor counts = torch::tensor(all_counts[static_cast<std::size_t>(ranks.rank())]);
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

INSTANTIATE_TEST_SUITE_P(
    Ranks, ExpertExchangeTest,
    testing::Values(ExchangeCase{"Even", {{2, 1, 3, 4}, {1, 2, 3, 4}}},
                    ExchangeCase{"WithoutAnyForOneExpert", {{2, 0, 1, 0}, {0, 0, 0, 3}}},
                    ExchangeCase{"WithoutAnyForOneRank", {{2, 1, 0, 0}, {1, 0, 0, 0}}},
                    ExchangeCase{"WithoutAnyOfOneRank", {{2, 1, 1, 2}, {0, 0, 0, 0}}},
                    ExchangeCase{"OfAllTokens", {{2, 0, 1, 3}, {2, 0, 1, 3}}, true}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace bench::transformer
