// What holds for every network of MAELSTROM's applications and of MLPerf HPC: its costs, its
// gradients, and its training in bf16. reference_test.cpp compares what the networks compute.

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
#include "harness/cost.hpp"
#include "harness/precision.hpp"
#include "steps/expect_counted.hpp"
#include "steps/synthetic_batches.hpp"
#include "support/case_name.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

struct PublishedNetwork {
  std::string name;
  Cost cost;
  std::int64_t trainable_parameters;
  std::int64_t non_trainable_parameters;
  std::int64_t forward_macs;  ///< Per sample.
  std::int64_t input_bytes;
};

TEST(Networks, HaveTheCostsThatArePublished) {
  // AP2: per layer 7,077,888 S + 1,536 S^2 + 786,432 S, and 603,979,776 per batch; 591,360
  // after the layers.
  constexpr std::int64_t ap2_macs =
      std::int64_t{6} * (7'077'888 * 48 + 1'536 * 48 * 48 + 786'432 * 48 + 603'979'776 / 32) +
      591'360;
  // AP6: ResNet-50 for 25 channels 23,577,024; the projection 2048 (2048 + 1 + 2) + 128 (2048 + 1);
  // the prototypes 4 * 40 * 128. A crop of 440 x 280 costs 12,412,302,336 in the convolutions.
  constexpr std::int64_t ap6_macs = 2 * (12'412'302'336 + 2048 * 2048 + 2048 * 128 + 128 * 160);
  const PublishedNetwork networks[] = {
      {"Ap1", ap1::cost(256), 1'314'019, 6'016, 792'723'456, 4'456'448},
      {"Ap2", ap2::cost({.sequence = 48}, 32), 141'896'450, 0, ap2_macs, 48 * 8},
      {"Ap3Cnn", ap3::cnn_cost(), 261'515, 0, 30'773'344, 17'064},
      {"Ap3Lstm", ap3::lstm_cost(), 124'930, 0, 14'637'824, 17'064},
      {"Ap4", ap4::cost({}), 633'698, 1'600, 27'500'912'640, 14 * 361 * 720 * 4},
      {"Ap6", ap6::cost({}, {}), 28'060'224, 57'216, ap6_macs, 2 * 25 * 440 * 280 * 4},
      {"CosmoFlowV0_7", cosmoflow::cost({.version = cosmoflow::Version::v0_7}), 5'597'604, 0,
       10'204'750'080, 4 * 4 * 128 * 128 * 128},
      {"CosmoFlowV1", cosmoflow::cost({.version = cosmoflow::Version::v1}), 8'907'556, 0,
       34'431'049'984, 4 * 4 * 128 * 128 * 128},
      {"DeepCam", deepcam::cost(768, 1152), 56'454'720, 97'760, 327'668'833'280,
       768 * 1152 * 16 * 4},
  };
  for (const PublishedNetwork& published : networks) {
    SCOPED_TRACE(published.name);
    EXPECT_EQ(published.cost.trainable_parameters(), published.trainable_parameters);
    EXPECT_EQ(published.cost.non_trainable_parameters(), published.non_trainable_parameters);
    EXPECT_EQ(published.cost.forward_macs_per_sample(), published.forward_macs);
    EXPECT_EQ(published.cost.training_flops_per_sample(), 6 * published.forward_macs);
    EXPECT_EQ(published.cost.input_bytes_per_sample(), published.input_bytes);
  }
}

/// A network with a 64th of DeepCAM's weights.
const deepcam::Architecture small_deepcam(8);

/// 65,000 parameters.
constexpr ap2::Sizes small_ap2{
    .vocabulary = 100, .hidden = 32, .layers = 2, .heads = 4, .sequence = 12};

TEST(Networks, AreBuiltAsTheyAreCounted) {
  expect_counted(ap1::cost(256), *ap1::UNet());
  expect_counted(ap2::cost(small_ap2, 2), *ap2::Deberta(small_ap2));
  expect_counted(ap3::cnn_cost(), *ap3::Cnn());
  expect_counted(ap3::lstm_cost(), *ap3::Lstm());
  expect_counted(ap4::cost({}), *ap4::UNet());
  const ap5::WganCost ap5_cost({}, 5);
  expect_counted(ap5_cost.generator(), *ap5::Generator());
  expect_counted(ap5_cost.critic(), *ap5::Critic());
  for (const ap6::Heads& heads : {ap6::Heads{}, ap6::Heads{.count = 3, .clusters = 7}})
    expect_counted(ap6::cost({}, heads), *ap6::DeepCluster(ap6::crop_of({}), heads));
  for (const auto version : {cosmoflow::Version::v0_7, cosmoflow::Version::v1}) {
    const cosmoflow::NetworkOptions options{.version = version};
    expect_counted(cosmoflow::cost(options), *cosmoflow::CosmoFlow(options));
  }
  expect_counted(deepcam::cost(32, 32), *deepcam::DeepLab());
  expect_counted(deepcam::cost(32, 32, small_deepcam), *deepcam::DeepLab(small_deepcam));
}

/// A network, and its loss of a batch.
struct Trained {
  std::shared_ptr<torch::nn::Module> network;
  std::function<torch::Tensor()> loss;
};

template <typename Network, typename Loss>
Trained trained(Network network, Loss loss_of) {
  return {network.ptr(), [=]() mutable { return loss_of(network); }};
}

Trained trained_ap1(ap1::Activation activation) {
  const auto [predictors, target] = ap1::synthetic_patches(2, 64);
  return trained(ap1::UNet(activation), [=](ap1::UNet& network) {
    return ap1::quantile_loss(network(predictors), target);
  });
}

Trained trained_ap2() {
  const Batch tweets = ap2::synthetic_tweets(4, small_ap2);
  return trained(ap2::Deberta(small_ap2, 0), [=](ap2::Deberta& network) {
    return torch::cross_entropy_loss(network(tweets["input_ids"]).to(torch::kFloat),
                                     tweets["label"]);
  });
}

Trained trained_ap3_cnn() {
  const ap3::Batch batch = ap3::synthetic_batch(4);
  return trained(ap3::Cnn(), [=](ap3::Cnn& network) {
    return ap3::cnn_loss(network(batch.columns), batch.radiation);
  });
}

Trained trained_ap3_lstm() {
  const ap3::Batch batch = ap3::synthetic_batch(4);
  return trained(ap3::Lstm(), [=](ap3::Lstm& network) {
    return ap3::lstm_loss(network(batch.columns), batch.radiation, ap3::FluxError::of_column);
  });
}

Trained trained_ap4() {
  const Batch fields = ap4::synthetic_fields(1, {.height = 17, .width = 16});
  return trained(ap4::UNet(), [=](ap4::UNet& network) {
    return ap4::crps_loss(network(fields["predictors"]), fields["scale"], fields["target"]);
  });
}

Trained trained_ap6() {
  const ap6::Heads heads;
  const torch::Tensor crops = torch::randn({4, 2, 25, 32, 32});
  const torch::Tensor labels = torch::randint(heads.clusters, {heads.count, 4}, torch::kLong);
  return trained(ap6::DeepCluster(ap6::Grid{.height = 32, .width = 32}, heads),
                 [=](ap6::DeepCluster& network) {
                   return ap6::cluster_loss(network->features(crops), network->prototypes()->weight,
                                            labels);
                 });
}

Trained trained_atmorep() {
  const atmorep::Sizes sizes = atmorep::tiny();
  const Batch windows = atmorep::synthetic_windows(2, sizes);
  const atmorep::MaskedBatch masked =
      atmorep::mask(atmorep::tokens_of(windows["fields"], sizes),
                    atmorep::draw_masks({}, sizes, {.seed = 1, .count = 2}), sizes.token);
  return trained(atmorep::AtmoRep(sizes, atmorep::NetworkOptions{.dropout = 0, .recompute = false}),
                 [=](atmorep::AtmoRep& network) {
                   return atmorep::loss_of(
                              network(masked.tokens, windows["token_info"], masked.rows), masked)
                       .total;
                 });
}

Trained trained_deepcam() {
  const torch::Tensor fields = torch::rand({2, 16, 64, 64});
  const torch::Tensor labels = torch::randint(3, {2, 64, 64}, torch::kLong);
  return trained(deepcam::DeepLab(small_deepcam), [=](deepcam::DeepLab& network) {
    return deepcam::cross_entropies(network(fields), labels, deepcam::class_weights(torch::kFloat))
        .mean();
  });
}

struct TrainedNetwork {
  std::string name;
  std::function<Trained()> make;
  /// A normalisation cancels the bias before it, whose gradient is 0 except for rounding.
  bool has_biases_without_effect = false;
  double difference_of_bf16 = 0.05;
};
class TrainedNetworkTest : public testing::TestWithParam<TrainedNetwork> {
 protected:
  TrainedNetworkTest() : trained_((torch::manual_seed(1), GetParam().make())) {}

  Trained trained_;
};

TEST_P(TrainedNetworkTest, ReachesEveryParameterWithAGradient) {
  trained_.loss().backward();
  for (const auto& parameter : trained_.network->named_parameters()) {
    if (!parameter.value().requires_grad())
      continue;
    ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
    const bool may_be_zero = GetParam().has_biases_without_effect && parameter.value().dim() == 1;
    EXPECT_TRUE(may_be_zero || parameter.value().grad().abs().sum().item<double>() > 0)
        << parameter.key();
  }
}

TEST_P(TrainedNetworkTest, TrainsInBf16) {
  const double exact = trained_.loss().item<double>();
  torch::Tensor loss;
  {
    const Autocast autocast(torch::kCPU, Precision::bf16);
    loss = trained_.loss();
  }
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  EXPECT_NE(loss.item<double>(), exact) << "nothing was rounded";
  EXPECT_NEAR(loss.item<double>() / exact, 1, GetParam().difference_of_bf16);
  loss.backward();
}

INSTANTIATE_TEST_SUITE_P(
    Networks, TrainedNetworkTest,
    testing::Values(
        TrainedNetwork{"Ap1Relu", [] { return trained_ap1(ap1::Activation::relu); }, true},
        TrainedNetwork{"Ap1LeakyRelu", [] { return trained_ap1(ap1::Activation::leaky_relu); },
                       true},
        TrainedNetwork{"Ap2", trained_ap2}, TrainedNetwork{"Ap3Cnn", trained_ap3_cnn},
        TrainedNetwork{"Ap3Lstm", trained_ap3_lstm}, TrainedNetwork{"Ap4", trained_ap4, true},
        TrainedNetwork{"Ap6", trained_ap6, true}, TrainedNetwork{"AtmoRep", trained_atmorep},
        TrainedNetwork{"DeepCam", trained_deepcam}),
    support::case_name);

TEST(SyntheticSamples, FollowTheSeed) {
  using Make = torch::Tensor (*)(std::uint64_t seed);
  const std::pair<const char*, Make> cases[] = {
      {"ap1", [](std::uint64_t seed) { return ap1::synthetic_patches(1, 32, seed).target; }},
      {"ap3", [](std::uint64_t seed) { return ap3::synthetic_batch(1, seed).columns.layers; }},
      {"ap4",
       [](std::uint64_t seed) {
         return ap4::synthetic_fields(1, {8, 8}, seed)["target"];
       }},
      {"ap5",
       [](std::uint64_t seed) {
         return ap5::synthetic_fields(1, {8, 8}, seed)["target"];
       }},
      {"atmorep",
       [](std::uint64_t seed) {
         return atmorep::synthetic_windows(1, atmorep::tiny(), seed)["fields"];
       }},
  };
  for (const auto& [name, make] : cases) {
    EXPECT_TRUE(torch::equal(make(5), make(5))) << name;
    EXPECT_FALSE(torch::equal(make(5), make(6))) << name;
  }
}

}  // namespace
}  // namespace bench::steps
