#include "llama/network.hpp"
#include "llama/options.hpp"
#include "steps/trained.hpp"
#include "transformer/grid.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench::llama {
namespace {

struct SizeCase {
  std::string name;
  std::int64_t parameters;  ///< As published.
  double causal;            ///< FLOP per token, computed by hand from the formula.
  double six_n;
};

// Tensors on the meta device have shapes and no memory.
TEST(LlamaSizes, CountParametersAndOperationsOfTheModels) {
  const SizeCase cases[] = {{"135M", 134'515'008, 1.01922e9, 8.0709e8},
                            {"360M", 361'821'120, 2.54804e9, 2.17093e9},
                            {"1B", 1'235'814'400, 9.02508e9, 7.41489e9},
                            {"3B", 3'212'749'824, 2.35033e10, 1.92765e10},
                            {"8B", 8'030'261'248, 5.14704e10, 4.50295e10},
                            {"8x7B", 46'702'792'704, 1.02261e11, 7.64931e10},
                            {"70B", 70'553'706'496, 4.49223e11, 4.17018e11},
                            {"405B", 405'853'388'800, 2.52396e12, 2.42251e12}};
  for (const SizeCase& published : cases) {
    SCOPED_TRACE(published.name);
    const Counts counts(architecture(published.name));
    const double rounding = 1e-4;
    EXPECT_EQ(counts.parameters(), published.parameters);
    EXPECT_NEAR(counts.flops_per_token_causal() / published.causal, 1, rounding);
    EXPECT_NEAR(counts.flops_per_token_6n() / published.six_n, 1, rounding);
    const Llama llama(architecture(published.name),
                      ModelOptions{.tensors = torch::TensorOptions(torch::kMeta)});
    std::int64_t parameters = 0;
    for (const torch::Tensor& parameter : llama->parameters())
      parameters += parameter.numel();
    EXPECT_EQ(parameters, published.parameters);
  }
}

Architecture tiny(bool tied = false) {
  return {.name = "tiny",
          .layers = 2,
          .hidden = 32,
          .heads = 4,
          .key_value_heads = 2,
          .mlp = 40,
          .sequence = 24,
          .vocabulary = 96,
          .tied_embedding = tied};
}

Architecture tiny_with_experts() {
  Architecture result = tiny();
  result.experts = 4;
  result.experts_per_token = 2;
  return result;
}

torch::Tensor random_tokens(std::int64_t count) {
  torch::manual_seed(5);
  return torch::randint(tiny().vocabulary, {count, tiny().sequence + 1}, torch::kLong);
}

torch::Tensor scores_of(Llama& llama, const torch::Tensor& tokens) {
  return llama->forward(tokens.narrow(1, 0, tiny().sequence));
}

torch::Tensor loss_of(Llama& llama, const torch::Tensor& tokens) {
  return transformer::next_token_loss(scores_of(llama, tokens), tokens);
}

TEST(LlamaModel, LearnsABatchByHeart) {
  for (const bool tied : {false, true}) {
    Llama llama(tiny(tied), ModelOptions{});
    const torch::Tensor tokens = random_tokens(2);
    const double loss =
        steps::trained_loss(*llama, 60, 0.01, [&] { return loss_of(llama, tokens); });
    EXPECT_LT(loss, 1) << tied;
  }
}

// Mixtral's: 12.9 B of 46.7 B.
TEST(LlamaExperts, AreActiveAsPublished) {
  EXPECT_EQ(Counts(architecture("8x7B")).active_parameters(), 12'879'925'248);
  EXPECT_EQ(Counts(architecture("8B")).active_parameters(),
            Counts(architecture("8B")).parameters());
}

TEST(LlamaExperts, LearnABatchByHeartAndStayBalanced) {
  Llama llama(tiny_with_experts(), ModelOptions{});
  Options options;
  options.balance_weight = 0.1;
  const torch::Tensor tokens = random_tokens(2);
  const double loss = steps::trained_loss(*llama, 60, 0.01, [&] {
    return training_loss(llama, options, scores_of(llama, tokens), tokens, {});
  });
  EXPECT_LT(loss, 1);
  EXPECT_LT(llama->balance_loss().item<double>(), 1.2);
  EXPECT_TRUE(torch::equal(llama->expert_loads().sum(1),  // 2 of 48 tokens, in each pass
                           torch::full({2}, llama->expert_loads()[0].sum().item<std::int64_t>())));
}

TEST(LlamaExperts, KeepTheValueOfTheLoss) {
  Llama llama(tiny_with_experts(), ModelOptions{});
  const torch::Tensor tokens = random_tokens(2);
  const torch::Tensor scores = scores_of(llama, tokens);
  const torch::Tensor loss = training_loss(llama, Options{}, scores, tokens, {});
  EXPECT_EQ(loss.item<float>(), transformer::next_token_loss(scores, tokens).item<float>());
  EXPECT_FALSE(Llama(tiny(), ModelOptions{})->balance_loss().defined());
}

TEST(LlamaModel, RecomputingChangesNoGradient) {
  Llama keeping(tiny(), ModelOptions{});
  Llama recomputing(tiny(), ModelOptions{.recompute = true});
  for (Llama* llama : {&keeping, &recomputing})
    loss_of(*llama, random_tokens(3)).backward();
  const auto expected = keeping->parameters();
  const auto found = recomputing->parameters();
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(torch::allclose(found[i].grad(), expected[i].grad(), 1e-5, 1e-7)) << i;
}

TEST(LlamaModel, TrainsInHalfPrecision) {
  Llama exact(tiny(), ModelOptions{});
  Llama half(tiny(), ModelOptions{.tensors = torch::TensorOptions(torch::kBFloat16)});
  const torch::Tensor loss = loss_of(half, random_tokens(4));
  loss.backward();
  EXPECT_EQ(scores_of(half, random_tokens(4)).scalar_type(), torch::kBFloat16);
  EXPECT_NEAR(loss.item<double>(), loss_of(exact, random_tokens(4)).item<double>(), 0.02);
}

// Four query heads share a key/value head: ranks split the latter.
TEST(LlamaModel, IsSplitByKeyValueHeads) {
  const transformer::DecoderSizes sizes = architecture("8B").sizes();
  EXPECT_EQ(transformer::layout_error(sizes, {.tensor = 8, .pipeline = 32}), "");
  EXPECT_EQ(transformer::layout_error(sizes, {.tensor = 16}),
            "8 key/value heads cannot be shared by 16 tensor-parallel ranks");
}

Options planned(const std::string& model) {
  Options options;
  options.architecture = architecture(model);
  options.common.precision_name = "bf16";
  options.attention = "fused";
  return options;
}

transformer::Memory memory_of(const Options& options, const transformer::Layout& layout = {}) {
  return transformer::memory(planned_model(options), options, layout);
}

TEST(LlamaPlan, NeedsSixteenBytesPerParameterAndTheGradient) {
  for (const char* model : {"135M", "8B", "8x7B"}) {
    const transformer::Memory memory = memory_of(planned(model));
    const auto parameters = static_cast<double>(Counts(architecture(model)).parameters());
    EXPECT_NEAR((memory.weights + memory.gradients + memory.optimizer) / parameters, 2 + 2 + 4 + 12,
                1e-6)
        << model;
  }
}

TEST(LlamaPlan, HasATableInEachStageAtAnEnd) {
  const Options options = planned("8B");
  const double table = 128'256.0 * 4096;
  const double layers = 8'030'261'248.0 - 2 * table - 4096;
  EXPECT_NEAR(memory_of(options, {.pipeline = 2}).weights, 2 * (layers / 2 + table + 4096), 1);
}

TEST(LlamaPlan, KeepsLayersWithExpertsInOneStage) {
  Options options = planned("8x7B");
  options.plan.devices_per_node = 8;
  const auto smallest = [&](double gib) {
    return transformer::smallest_layout(planned_model(options), options, gib * 1024 * 1024 * 1024);
  };
  ASSERT_TRUE(smallest(400));
  EXPECT_EQ(smallest(400)->devices(), 4);
  EXPECT_FALSE(smallest(80));
  options.architecture.experts = 6;  // which four ranks cannot share
  ASSERT_TRUE(smallest(600));
  EXPECT_EQ(smallest(600)->devices(), 2);
  EXPECT_FALSE(smallest(400));
}

TEST(LlamaPlan, KeepsLessWithFewerKeyValueHeads) {
  Options options = planned("8B");
  const double grouped = memory_of(options).activations;
  options.architecture.key_value_heads = 32;
  const double tokens = 8192;
  EXPECT_NEAR(memory_of(options).activations - grouped, 32 * tokens * 2 * (4096 - 1024) * 2, 1);
}

}  // namespace
}  // namespace bench::llama
