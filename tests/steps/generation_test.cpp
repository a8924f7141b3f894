// Language models, and generation with a cache of keys and values, compared with full forward
// passes without one.
#include "gpt/network.hpp"
#include "gpt/options.hpp"
#include "harness/errors.hpp"
#include "llama/network.hpp"
#include "llama/options.hpp"
#include "steps/in_ranks.hpp"
#include "support/case_name.hpp"
#include "transformer/attention.hpp"
#include "transformer/inference.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench::transformer {
namespace {

constexpr std::int64_t batch = 3;
constexpr std::int64_t prompt_tokens = 7;
constexpr std::int64_t new_tokens = 9;
constexpr std::int64_t vocabulary = 96;

/// A small network whose scores differ clearly between tokens.
struct SmallModel {
  std::string name;
  DecoderSizes sizes;
  std::function<std::shared_ptr<LanguageModel>(const Shard& shard)> make;
  /// Of scores: experts multiply other numbers of rows together where other tokens follow.
  float rounding = 0;
};

SmallModel small_gpt(const std::string& name, gpt::Positions positions) {
  const gpt::Architecture a{.name = name,
                            .layers = 3,
                            .hidden = 32,
                            .heads = 4,
                            .sequence = 24,
                            .vocabulary = vocabulary,
                            .positions = positions,
                            .initial_deviation = 0.3};
  return {name, a.sizes(), [a](const Shard& shard) {
            return gpt::Gpt(a,
                            gpt::ModelOptions{
                                .attention_dropout = 0.5, .hidden_dropout = 0.5, .shard = shard})
                .ptr();
          }};
}

SmallModel small_llama(const std::string& name, std::int64_t key_value_heads,
                       std::int64_t experts = 0) {
  const llama::Architecture a{.name = name,
                              .layers = 3,
                              .hidden = 32,
                              .heads = 4,
                              .key_value_heads = key_value_heads,
                              .mlp = 40,
                              .sequence = 24,
                              .vocabulary = vocabulary,
                              .experts = experts,
                              .experts_per_token = experts / 2,
                              .initial_deviation = 0.3};
  return {name, a.sizes(),
          [a](const Shard& shard) {
            return llama::Llama(a, llama::ModelOptions{.shard = shard}).ptr();
          },
          experts > 0 ? 1e-4F : 0};
}

torch::Tensor random_prompts() {
  torch::manual_seed(5);
  return torch::randint(vocabulary, {batch, prompt_tokens}, torch::kLong);
}

KeyValueCache cache_of(const SmallModel& model, std::int64_t sequences = batch) {
  return {model.sizes, sequences, prompt_tokens + new_tokens - 1,
          torch::TensorOptions(torch::kFloat)};
}

/// The scores of the token after all of these, (B, V), computed without a cache.
torch::Tensor full_scores(LanguageModel& model, const torch::Tensor& tokens) {
  return model.forward(tokens).select(1, tokens.size(1) - 1);
}

class CachedModelTest : public testing::TestWithParam<SmallModel> {
 protected:
  CachedModelTest() : model_(GetParam().make({})) { model_->eval(); }
  LanguageModel& model() { return *model_; }
  const std::shared_ptr<LanguageModel>& pointer() const { return model_; }

 private:
  torch::NoGradGuard no_gradient_;
  std::shared_ptr<LanguageModel> model_;
};

/// One sequence, as long as the models take.
torch::Tensor random_tokens() {
  torch::manual_seed(5);
  return torch::randint(vocabulary, {1, 24}, torch::kLong);
}

TEST_P(CachedModelTest, DoesNotLookAhead) {
  const torch::Tensor tokens = random_tokens();
  torch::Tensor changed = tokens.clone();
  changed.narrow(1, 10, 14).add_(1).remainder_(vocabulary);
  const torch::Tensor difference =
      (model().forward(tokens) - model().forward(changed)).abs().amax(2)[0];
  EXPECT_LE(difference.narrow(0, 0, 10).max().item<float>(), GetParam().rounding);
  EXPECT_GT(difference.narrow(0, 10, 14).min().item<float>(), 1e-4);
}

// Without positions, attention to the same tokens in another order is the same sum.
TEST_P(CachedModelTest, SeesWhereTokensStand) {
  const torch::Tensor tokens = random_tokens();
  torch::Tensor swapped = tokens.clone();
  swapped[0][3] = tokens[0][7];
  swapped[0][7] = tokens[0][3];
  const torch::Tensor last = (model().forward(tokens) - model().forward(swapped))[0][23];
  EXPECT_GT(last.abs().max().item<float>(), 1e-4);
}

TEST_P(CachedModelTest, HasTheScoresOfFullPasses) {
  for (const std::int64_t sequences : {std::int64_t{1}, batch}) {
    KeyValueCache cache = cache_of(GetParam(), sequences);
    torch::Tensor all = random_prompts().narrow(0, 0, sequences);
    torch::Tensor next = all;
    for (std::int64_t i = 0; i < new_tokens; ++i) {
      const torch::Tensor found = model().next_scores(next, cache);
      const torch::Tensor expected = full_scores(model(), all);
      EXPECT_GT(expected.std().item<double>(), 0.1) << "scores that are all alike show nothing";
      EXPECT_LT((found - expected).abs().max().item<double>(), 1e-4) << sequences << " " << i;
      next = torch::randint(vocabulary, {sequences, 1}, torch::kLong);
      all = torch::cat({all, next}, 1);
    }
  }
}

TEST_P(CachedModelTest, GeneratesTheTokensOfFullPasses) {
  torch::Tensor all = random_prompts();
  Generation generation(pointer(), cache_of(GetParam()));
  std::vector<double> latencies_s;
  const torch::Tensor first = generation.prefill(all);
  const torch::Tensor others = generation.decode(new_tokens - 1, latencies_s);
  for (std::int64_t i = 0; i < new_tokens; ++i)
    all = torch::cat({all, full_scores(model(), all).argmax(1, true)}, 1);
  EXPECT_TRUE(torch::equal(torch::cat({first.unsqueeze(1), others}, 1),
                           all.narrow(1, prompt_tokens, new_tokens)));
  EXPECT_EQ(std::ssize(latencies_s), new_tokens - 1);
  EXPECT_TRUE(generation.has_finite_scores());
}

TEST_P(CachedModelTest, TakesTokensInPiecesOfAnyLength) {
  const torch::Tensor tokens = random_prompts();
  KeyValueCache cache = cache_of(GetParam());
  model().next_scores(tokens.narrow(1, 0, 2), cache);
  model().next_scores(tokens.narrow(1, 2, 1), cache);
  const torch::Tensor found = model().next_scores(tokens.narrow(1, 3, 4), cache);
  EXPECT_LT((found - full_scores(model(), tokens)).abs().max().item<double>(), 1e-4);
}

TEST_P(CachedModelTest, RepeatsWhatFollowsAPrompt) {
  Generation generation(pointer(), cache_of(GetParam()));
  std::vector<double> latencies_s;
  generation.prefill(random_prompts());
  const torch::Tensor once = generation.decode(new_tokens - 1, latencies_s);
  EXPECT_TRUE(torch::equal(generation.decode(new_tokens - 1, latencies_s), once));
  generation.prefill(random_prompts().flip({0}));
  EXPECT_TRUE(torch::equal(generation.decode(new_tokens - 1, latencies_s), once.flip({0})));
}

TEST_P(CachedModelTest, NeedsRoomForEachToken) {
  Generation generation(pointer(), cache_of(GetParam()));
  std::vector<double> latencies_s;
  generation.prefill(random_prompts());
  EXPECT_THROW(generation.decode(new_tokens, latencies_s), std::length_error);
}

INSTANTIATE_TEST_SUITE_P(
    Models, CachedModelTest,
    testing::Values(small_gpt("GptOfLearnedPositions", gpt::Positions::learned),
                    small_gpt("GptOfRotaryPositions", gpt::Positions::rotary),
                    small_llama("Llama", 4), small_llama("LlamaOfGroupedQueries", 2),
                    small_llama("LlamaOfOneGroup", 1), small_llama("LlamaOfExperts", 2, 4)),
    support::case_name);

/// The new tokens of a model that these ranks split.
torch::Tensor generated(const SmallModel& model, const torch::Tensor& prompts,
                        const TensorRanks& ranks) {
  DecoderSizes own = model.sizes;
  own.key_value_heads /= ranks.size();
  Generation generation(model.make({.tensor = ranks}),
                        KeyValueCache(own, batch, prompt_tokens + new_tokens - 1,
                                      torch::TensorOptions(torch::kFloat)),
                        ranks);
  std::vector<double> latencies_s;
  const torch::Tensor first = generation.prefill(prompts);
  return torch::cat({first.unsqueeze(1), generation.decode(new_tokens - 1, latencies_s)}, 1);
}

TEST(SplitModel, GeneratesTheTokensOfTheWhole) {
  const SmallModel cases[] = {small_gpt("GptOfLearnedPositions", gpt::Positions::learned),
                              small_gpt("GptOfRotaryPositions", gpt::Positions::rotary),
                              small_llama("LlamaOfGroupedQueries", 2),
                              small_llama("LlamaOfExperts", 2, 4)};
  for (const SmallModel& c : cases) {
    SCOPED_TRACE(c.name);
    const torch::Tensor prompts = random_prompts();
    const torch::Tensor of_whole = generated(c, prompts, {});
    steps::in_ranks(2, [&](const steps::Communicator& all) {
      TensorRanks ranks(all);
      ranks.have_all_tokens = true;
      EXPECT_TRUE(torch::equal(generated(c, prompts, ranks), of_whole)) << ranks.rank();
    });
  }
}

TEST(MostLikelyTokens, OfSplitScoresAreThoseOfTheWhole) {
  torch::manual_seed(6);
  torch::Tensor scores = torch::randn({5, 8});
  scores[0][3] = scores[0][6] = 9;  // the first of equal ones
  steps::in_ranks(2, [&](const steps::Communicator& ranks) {
    const torch::Tensor own = scores.narrow(1, std::int64_t{4} * ranks.rank(), 4);
    EXPECT_TRUE(torch::equal(most_likely_tokens(own, ranks), scores.argmax(1, true)));
  });
}

TEST(GenerationScores, ThatAreNotNumbersAreNoticed) {
  const SmallModel small = small_llama("Llama", 2);
  const std::shared_ptr<LanguageModel> model = small.make({});
  Generation generation(model, cache_of(small));
  EXPECT_TRUE(generation.has_finite_scores());
  model->named_parameters()["norm.weight"].detach().fill_(std::nan(""));
  generation.prefill(random_prompts());
  EXPECT_FALSE(generation.has_finite_scores());
}

TEST(Cache, HasTheBytesOfItsFormula) {
  const DecoderSizes sizes = llama::architecture("8B").sizes();
  // 32 layers, 8 key/value heads of 128, keys and values: 128 KiB per token in bf16.
  EXPECT_EQ(key_value_cache_bytes(sizes, 1, 1, 2), 131'072);
  for (const auto type : {torch::kBFloat16, torch::kFloat}) {
    const KeyValueCache cache(sizes, 4, 100, torch::TensorOptions(torch::kMeta).dtype(type));
    EXPECT_EQ(cache.bytes(), key_value_cache_bytes(
                                 sizes, 4, 100, static_cast<std::int64_t>(c10::elementSize(type))));
  }
}

TEST(Cache, CannotBeTruncatedToMoreThanItHas) {
  LayerCache cache({1, 1, 4, 2}, torch::TensorOptions(torch::kFloat));
  const torch::Tensor two = torch::ones({1, 1, 2, 2});
  cache.append({two, two});
  EXPECT_THROW(cache.truncate(3), std::length_error);
  cache.truncate(1);
  EXPECT_EQ(cache.append({2 * two, 3 * two}).values[0][0][2][0].item<float>(), 3);
}

// The last queries alone have the results that they have among all.
TEST(CachedAttention, EqualsTheLastRowsOfTheWhole) {
  torch::manual_seed(3);
  const torch::Tensor q = torch::randn({2, 6, 11, 8});
  const torch::Tensor k = torch::randn({2, 2, 11, 8});
  const torch::Tensor v = torch::randn({2, 2, 11, 8});
  std::vector<AttentionKind> kinds{AttentionKind::plain};
  if (BENCH_TORCH_AT_LEAST(2, 0))
    kinds.push_back(AttentionKind::fused);
  for (const AttentionKind kind : kinds)
    for (const std::int64_t count : {1, 4, 11}) {
      const torch::Tensor whole = causal_attention(kind, q, k, v, 0);
      const torch::Tensor last = causal_attention(kind, q.narrow(2, 11 - count, count), k, v, 0);
      EXPECT_TRUE(torch::allclose(last, whole.narrow(2, 11 - count, count), 1e-4, 1e-5))
          << attention_name(kind) << count;
    }
}

TEST(Products, OfASingleRowEqualThoseOfSeveral) {
  torch::manual_seed(7);
  const torch::Tensor weight = torch::randn({5, 8}).requires_grad_();
  const torch::Tensor bias = torch::randn({5}).requires_grad_();
  const torch::Tensor rows = torch::randn({2, 3, 8});
  for (const auto type : {torch::kFloat, torch::kBFloat16}) {
    const torch::Tensor x = rows.to(type);
    const double tolerance = type == torch::kFloat ? 1e-5 : 0.05;
    const torch::Tensor expected = torch::linear(x, weight.to(type), bias.to(type));
    const torch::Tensor row = x.narrow(0, 1, 1).narrow(1, 2, 1);  // (1, 1, 8)
    const torch::Tensor found = product(row, weight.to(type), bias.to(type));
    EXPECT_EQ(found.sizes(), torch::IntArrayRef({1, 1, 5}));
    EXPECT_TRUE(torch::allclose(found[0][0], expected[1][2], tolerance, tolerance));
    EXPECT_TRUE(torch::allclose(product(row, weight.to(type))[0][0],
                                (expected - bias.to(type))[1][2], tolerance, tolerance));
    EXPECT_TRUE(torch::allclose(product(x, weight.to(type), bias.to(type)), expected));
  }
  const auto gradients =
      torch::autograd::grad({product(rows[0].narrow(0, 0, 1), weight, bias).sum()}, {weight, bias});
  EXPECT_TRUE(torch::allclose(gradients[0], rows[0][0].expand({5, 8})));
  EXPECT_TRUE(torch::equal(gradients[1], torch::ones({5})));
}

TEST(RotaryPositions, MayBeginAtAnyToken) {
  const Rotary rotary(12, 8, 10000, torch::TensorOptions(torch::kFloat));
  const torch::Tensor x = torch::randn({2, 12, 2, 3, 8});
  EXPECT_TRUE(torch::equal(rotary.rotate(x.narrow(1, 5, 4), 5), rotary.rotate(x).narrow(1, 5, 4)));
}

// By hand, for 3 tokens: 2 layers of 3 (h^2 + h k) + ... multiply-adds.
TEST(InferenceCosts, AreThoseOfTheFormula) {
  const llama::Architecture a{.name = "small",
                              .layers = 2,
                              .hidden = 8,
                              .heads = 4,
                              .key_value_heads = 2,
                              .mlp = 10,
                              .sequence = 24,
                              .vocabulary = 96};
  const InferenceCost of_llama = llama::inference_cost(a);
  const double matrices = 2 * (8 * 8 + 2 * 8 * 4 + 8 * 8 + 3 * 8 * 10);  // of a token
  const double attention = 2 * (2 * 8 * (1 + 2 + 3) - 8 * 3);  // half of the own token's product
  EXPECT_EQ(of_llama.prompt_macs(3), 3 * matrices + attention + 96 * 8);
  EXPECT_EQ(of_llama.parameters - of_llama.multiplied_parameters, 96 * 8);

  gpt::Architecture b = gpt::architecture("117M");
  const InferenceCost of_gpt = gpt::inference_cost(b);
  EXPECT_EQ(of_gpt.parameters - of_gpt.multiplied_parameters, 1024 * 768);
  // A forward pass of the training, but with the scores of the last token alone.
  const double scores = static_cast<double>(b.vocabulary * b.hidden);
  EXPECT_EQ(of_gpt.prompt_macs(b.sequence),
            static_cast<double>(gpt::Counts(b).forward_macs_per_sample()) - 1023 * scores);
}

TEST(InferenceCosts, HaveTheMemoryOfTheLargestLayer) {
  const InferenceCost cost{.sizes = {.layers = 2,
                                     .hidden = 64,
                                     .heads = 8,
                                     .key_value_heads = 4,
                                     .mlp = 256,
                                     .sequence = 4096,
                                     .vocabulary = 96},
                           .parameters = 1000};
  TrainingOptions options;
  options.inference = {.batch_size = 16, .prompt_tokens = 1024, .new_tokens = 2};
  options.attention = "plain";
  const double tokens = 16 * 1024;
  const InferenceMemory plain = inference_memory(options, cost);
  EXPECT_EQ(plain.weights, 4 * 1000);
  EXPECT_EQ(plain.cache, 2.0 * 2 * 16 * 1025 * 32 * 4);
  EXPECT_EQ(plain.prefill, tokens * (2 * 64 * 4 + 8 * 1024 * 8));  // scores and their softmax
  options.attention = "fused";
  const InferenceMemory fused = inference_memory(options, cost);
  EXPECT_EQ(fused.prefill, tokens * (64 * 4 + 2 * 256 * 4));
  const double device_bytes = 100'000'000;
  EXPECT_NO_THROW(check_inference_memory(fused, device_bytes));
  EXPECT_THROW(check_inference_memory(plain, device_bytes), steps::OutOfMemory);
}

// Of 4 experts, 2 sequences use 4 (1 - (1 - 2/4)^2) = 3 with 2 each, and 3 sequences 3.5.
TEST(InferenceCosts, HaveTheExpertsThatABatchUses) {
  llama::Architecture a = llama::architecture("135M");
  EXPECT_EQ(llama::inference_cost(a).read_parameters(64),
            static_cast<double>(llama::inference_cost(a).multiplied_parameters));
  a.experts = 4;
  a.experts_per_token = 2;
  const InferenceCost cost = llama::inference_cost(a);
  const double of_two = static_cast<double>(cost.multiplied_parameters);
  const double expert = 3.0 * 30 * 576 * 1536;
  EXPECT_EQ(cost.read_parameters(1), of_two);
  EXPECT_EQ(cost.read_parameters(2), of_two + expert);
  EXPECT_EQ(cost.read_parameters(3), of_two + 1.5 * expert);
  const double all = static_cast<double>(llama::Counts(a).parameters());  // the embedding is tied
  EXPECT_NEAR(cost.read_parameters(1000) / all, 1, 1e-9);
}

}  // namespace
}  // namespace bench::transformer
