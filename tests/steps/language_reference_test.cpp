// Language models compared with their other implementation, in reference_decoders.py.

#include "gpt/network.hpp"
#include "llama/network.hpp"
#include "steps/reference_fixture.hpp"
#include "transformer/attention.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

/// Language models, which also compute parts in single precision where the rest is in double.
class LanguageModelReferenceTest : public ReferenceTest {
 protected:
  LanguageModelReferenceTest() { types_ = {in_single}; }

  void compare_model(const std::string& name, transformer::LanguageModel& model,
                     const transformer::DecoderSizes& sizes, std::int64_t vocabulary,
                     std::optional<double> rotary_base) {
    compare(
        name, model,
        [&](std::uint64_t) -> Samples {
          const torch::Tensor tokens =
              torch::randint(vocabulary, {3, sizes.sequence + 1}, torch::kLong);
          std::vector<Batch::NamedTensor> inputs{
              {"tokens", tokens}, {"heads", torch::tensor({sizes.heads, sizes.key_value_heads})}};
          if (rotary_base)
            inputs.push_back({"rotary_base", torch::tensor({*rotary_base}, torch::kDouble)});
          return {Batch(inputs), Batch({{"next", tokens.narrow(1, 1, sizes.sequence)}})};
        },
        [&](const Batch& batch) -> Forward {
          const torch::Tensor scores = model.forward(batch["tokens"].narrow(1, 0, sizes.sequence));
          return {{scores}, transformer::next_token_loss(scores, batch["tokens"])};
        });
  }
};

TEST_F(LanguageModelReferenceTest, OfGpt) {
  const gpt::Architecture sizes{.name = "tiny",
                                .layers = 2,
                                .hidden = 32,
                                .heads = 4,
                                .sequence = 24,
                                .vocabulary = 96,
                                .positions = gpt::Positions::learned};
  gpt::Gpt model(sizes, gpt::ModelOptions{});
  compare_model("gpt", *model, sizes.sizes(), sizes.vocabulary, std::nullopt);
}

TEST_F(LanguageModelReferenceTest, OfLlama) {
  for (const std::int64_t experts : {0, 4}) {
    const llama::Architecture sizes{.name = "tiny",
                                    .layers = 2,
                                    .hidden = 32,
                                    .heads = 4,
                                    .key_value_heads = 2,
                                    .mlp = 40,
                                    .sequence = 24,
                                    .vocabulary = 96,
                                    .experts = experts,
                                    .experts_per_token = experts / 2};
    llama::Llama model(sizes, llama::ModelOptions{});
    compare_model("llama", *model, sizes.sizes(), sizes.vocabulary, sizes.rotary_base);
  }
}

}  // namespace
}  // namespace bench::steps
