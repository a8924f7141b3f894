// Networks compared with their other implementation, in reference.py and reference_decoders.py, on
// the same weights and inputs. Skipped where Python has no torch.

#include "ap1/network.hpp"
#include "ap2/network.hpp"
#include "ap3/network.hpp"
#include "ap4/network.hpp"
#include "ap5/network.hpp"
#include "ap6/network.hpp"
#include "atmorep/data.hpp"
#include "atmorep/network.hpp"
#include "cosmoflow/network.hpp"
#include "deepcam/network.hpp"
#include "gpt/network.hpp"
#include "llama/network.hpp"
#include "steps/reference_fixture.hpp"
#include "steps/synthetic_batches.hpp"
#include "transformer/attention.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

/// Lets the blocks of a residual network add a tenth. With initial weights, each block amplifies
/// the rounding errors of those before it: single precision in Python is 2e-4 (AP6) and 8e-5
/// (DeepCAM) away from double precision.
/// @param scales end of the names of the last weights in a block
void weaken_blocks(const torch::nn::Module& network, const std::string& scales) {
  const torch::NoGradGuard no_gradients;
  for (auto& parameter : network.named_parameters())
    if (parameter.key().ends_with(scales))
      parameter.value().mul_(0.1);
}

TEST_F(ReferenceTest, OfTheUNetOfAp1) {
  ap1::UNet network;
  compare(
      "unet", *network,
      [](std::uint64_t seed) -> Samples {
        const auto [predictors, target] = ap1::synthetic_patches(1, 64, seed);
        return {Batch({{"predictors", predictors}}), Batch({{"target", target}})};
      },
      [&](const Batch& batch) -> Forward {
        const torch::Tensor prediction = network(batch["predictors"]);
        return {{prediction}, ap1::quantile_loss(prediction, batch["target"])};
      });
}

TEST_F(ReferenceTest, OfTheDebertaOfAp2) {
  const ap2::Sizes sizes{.vocabulary = 50, .hidden = 24, .layers = 2, .heads = 3, .sequence = 200};
  ap2::Deberta network(sizes, 0);
  compare(
      "deberta", *network,
      [&](std::uint64_t seed) -> Samples {
        const Batch tweets = ap2::synthetic_tweets(3, sizes, seed);
        return {Batch({{"input_ids", tweets["input_ids"]}}), Batch({{"label", tweets["label"]}})};
      },
      [&](const Batch& batch) -> Forward {
        const torch::Tensor scores = network(batch["input_ids"]);
        return {{scores}, torch::cross_entropy_loss(scores, batch["label"])};
      });
}

Samples columns(std::uint64_t seed) {
  const auto [columns, radiation] = ap3::synthetic_batch(4, seed);
  return {Batch({{"sca_inputs", columns.scalars},
                 {"col_inputs", columns.layers},
                 {"hl_inputs", columns.half_levels},
                 {"inter_inputs", columns.interfaces},
                 {"pressure_hl", columns.pressure}}),
          Batch({{"sw", radiation.fluxes}, {"hr_sw", radiation.heating_rate}})};
}

TEST_F(ReferenceTest, OfTheCnnOfAp3) {
  ap3::Cnn network;
  compare("cnn", *network, columns, [&](const Batch& batch) -> Forward {
    const ap3::Radiation predicted = network(ap3::columns_of(batch));
    return {{predicted.fluxes, predicted.heating_rate},
            ap3::cnn_loss(predicted, ap3::target_of(batch))};
  });
}

TEST_F(ReferenceTest, OfTheLstmOfAp3) {
  ap3::Lstm network;
  compare("lstm", *network, columns, [&](const Batch& batch) -> Forward {
    const ap3::Radiation predicted = network(ap3::columns_of(batch));
    return {{predicted.fluxes, predicted.heating_rate},
            ap3::lstm_loss(predicted, ap3::target_of(batch), ap3::FluxError::of_column)};
  });
}

TEST_F(ReferenceTest, OfTheUNetOfAp4) {
  ap4::UNet network;
  compare(
      "ens10", *network,
      [](std::uint64_t seed) -> Samples {
        const Batch fields = ap4::synthetic_fields(2, {.height = 13, .width = 16}, seed);
        return {Batch({{"predictors", fields["predictors"]}}),
                Batch({{"scale", fields["scale"]}, {"target", fields["target"]}})};
      },
      [&](const Batch& batch) -> Forward {
        const torch::Tensor output = network(batch["predictors"]);
        return {{output}, ap4::crps_loss(output, batch["scale"], batch["target"])};
      });
}

TEST_F(ReferenceTest, OfTheCriticOfAp5) {
  ap5::Critic critic;
  compare(
      "critic", *critic,
      [](std::uint64_t seed) -> Samples {
        const Batch fields = ap5::synthetic_fields(2, {.height = 16, .width = 24}, seed);
        const torch::Tensor real = ap5::temperature_of(fields["target"]);
        return {Batch({{"generated", torch::rand_like(real)}, {"real", real}}),
                Batch({{"alpha", torch::randn({2, 1, 1, 1})}})};
      },
      [&](const Batch& batch) -> Forward {
        return {{critic(batch["generated"]), critic(batch["real"])},
                ap5::critic_loss(critic, batch["generated"], batch["real"], batch["alpha"])};
      });
}

TEST_F(ReferenceTest, OfTheGeneratorOfAp5) {
  ap5::Generator generator;
  ap5::Critic critic;
  compare(
      "generator", *generator,
      [&](std::uint64_t seed) -> Samples {
        const Batch fields = ap5::synthetic_fields(2, {.height = 16, .width = 24}, seed);
        std::vector<Batch::NamedTensor> targets{{"target", fields["target"]}};
        for (const auto& parameter : critic->named_parameters())
          targets.push_back({parameter.key(), parameter.value().detach()});
        return {Batch({{"predictors", fields["predictors"]}}), Batch(targets)};
      },
      [&](const Batch& batch) -> Forward {
        critic->to(batch["target"].scalar_type());
        const torch::Tensor fine = generator(batch["predictors"]);
        return {{fine}, ap5::generator_loss(critic, fine, batch["target"]).total};
      });
}

TEST_F(ReferenceTest, OfTheNetworkOfAp6) {
  const ap6::Heads heads{.count = 4, .clusters = 10};
  ap6::DeepCluster network(ap6::Grid{.height = 41, .width = 34}, heads);
  weaken_blocks(*network, "normalisation7.weight");
  compare(
      "deepcluster", *network,
      [](std::uint64_t) -> Samples {
        const torch::Tensor labels = torch::randint(10, {4, 3}, torch::kLong);
        labels.select(1, 1).fill_(ap6::no_label);
        return {Batch({{"crops", torch::randn({3, 2, 25, 41, 34})}}), Batch({{"labels", labels}})};
      },
      [&](const Batch& batch) -> Forward {
        const torch::Tensor features = network->features(batch["crops"]);
        return {{features},
                ap6::cluster_loss(features, network->prototypes()->weight, batch["labels"])};
      });
}

TEST_F(ReferenceTest, OfTheNetworkOfCosmoFlow) {
  for (const cosmoflow::Version version : {cosmoflow::Version::v0_7, cosmoflow::Version::v1}) {
    cosmoflow::CosmoFlow network(
        cosmoflow::NetworkOptions{.version = version, .size = 32, .dropout = 0});
    compare(
        "cosmoflow", *network,
        [](std::uint64_t) -> Samples {
          return {Batch({{"x", torch::randint(100, {2, 4, 32, 32, 32}, torch::kFloat)}}),
                  Batch({{"y", torch::rand({2, 4}) * 2 - 1}})};
        },
        [&](const Batch& batch) -> Forward {
          const torch::Tensor prediction = network(batch["x"]);
          return {{prediction}, cosmoflow::squared_errors(prediction, batch["y"]).mean()};
        });
  }
}

TEST_F(ReferenceTest, OfTheNetworkOfDeepCam) {
  deepcam::DeepLab network{deepcam::Architecture(8)};
  weaken_blocks(*network, "layer2.norm.weight");
  deepcam::ValueRange range{};
  for (std::size_t i = 0; i < range.smallest.size(); ++i) {
    range.smallest[i] = -static_cast<float>(i);
    range.largest[i] = 1 + static_cast<float>(i);
  }
  network->set_value_range(range);
  compare(
      "deepcam", *network,
      [](std::uint64_t) -> Samples {
        const torch::Tensor share = torch::rand({2, 16, 64, 96});  // of the range of a channel
        const torch::Tensor channel = torch::arange(16).reshape({16, 1, 1});
        return {Batch({{"data", share * (1 + 2 * channel) - channel}}),
                Batch({{"labels", torch::randint(3, {2, 64, 96}, torch::kLong)}})};
      },
      [&](const Batch& batch) -> Forward {
        const torch::Tensor scores = network(batch["data"]);
        const torch::Tensor weights = deepcam::class_weights(scores.scalar_type());
        return {{scores}, deepcam::cross_entropies(scores, batch["labels"], weights).mean()};
      });
}

TEST_F(ReferenceTest, OfAtmoRep) {
  const atmorep::Sizes sizes = atmorep::tiny();
  atmorep::AtmoRep network(sizes, atmorep::NetworkOptions{.dropout = 0});
  atmorep::MaskedBatch drawn;
  compare(
      "atmorep", *network,
      [&](std::uint64_t seed) -> Samples {
        const Batch windows = atmorep::synthetic_windows(2, sizes, seed);
        drawn = atmorep::mask(atmorep::tokens_of(windows["fields"], sizes),
                              atmorep::draw_masks({}, sizes, {.count = 2}), sizes.token);
        std::vector<Batch::NamedTensor> inputs{{"tokens", drawn.tokens},
                                               {"info", windows["token_info"]},
                                               {"grid", torch::tensor({2, 3, 2, 2})}};
        std::vector<Batch::NamedTensor> targets;
        for (std::size_t field = 0; field < 3; ++field) {
          inputs.push_back({fmt::format("rows{}", field), drawn.rows[field]});
          targets.push_back({fmt::format("target{}", field), drawn.targets[field]});
          targets.push_back({fmt::format("weight{}", field), drawn.weights[field]});
        }
        return {Batch(inputs), Batch(targets)};
      },
      [&](const Batch& batch) -> Forward {
        atmorep::MaskedBatch masked = drawn;
        for (std::size_t field = 0; field < 3; ++field) {
          masked.targets[field] = batch[fmt::format("target{}", field)];
          masked.weights[field] = batch[fmt::format("weight{}", field)];
        }
        const std::vector<torch::Tensor> predicted =
            network(batch["tokens"], batch["info"], masked.rows);
        return {predicted, atmorep::loss_of(predicted, masked).total};
      });
}

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
