// Networks compared with their other implementation, in reference.py, on the same weights and
// inputs. Skipped where Python has no torch.

#include "ap1/loss.hpp"
#include "ap1/network.hpp"
#include "ap2/network.hpp"
#include "ap3/cnn.hpp"
#include "ap3/loss.hpp"
#include "ap3/lstm.hpp"
#include "ap4/loss.hpp"
#include "ap4/network.hpp"
#include "ap5/critic.hpp"
#include "ap5/generator.hpp"
#include "ap5/loss.hpp"
#include "ap6/loss.hpp"
#include "ap6/network.hpp"
#include "atmorep/loss.hpp"
#include "atmorep/masking.hpp"
#include "atmorep/network.hpp"
#include "atmorep/tokens.hpp"
#include "cosmoflow/loss.hpp"
#include "cosmoflow/network.hpp"
#include "deepcam/loss.hpp"
#include "deepcam/network.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/atmorep_tiny.hpp"
#include "steps/synthetic_batches.hpp"

#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// Results of a forward and backward pass.
struct Pass {
  torch::Tensor outputs;  // all of them in one row
  double loss;
  double gradient_norm;
};

torch::Tensor in_one_row(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> rows;
  for (const torch::Tensor& tensor : tensors)
    rows.push_back(tensor.detach().to(torch::kDouble).flatten());
  return torch::cat(rows);
}

Pass pass_of(const torch::nn::Module& network, const std::vector<torch::Tensor>& outputs,
             const torch::Tensor& loss) {
  loss.backward();
  double squares = 0;
  for (const torch::Tensor& parameter : network.parameters())
    if (parameter.requires_grad())
      squares += parameter.grad().square().sum().item<double>();
  return {in_one_row(outputs), loss.item<double>(), std::sqrt(squares)};
}

class ReferenceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (run_step("python3", "-c 'import torch'").exit_code != 0)
      GTEST_SKIP() << "no Python with torch here";
    torch::manual_seed(1);
  }

  /// The same from reference.py.
  Pass reference_of(const std::string& name, const torch::nn::Module& network,
                    const NamedTensors& inputs, const NamedTensors& targets) {
    const std::string file = folder_.file("tensors");
    {
      std::ofstream out(file, std::ios::binary);
      for (const auto& parameter : network.named_parameters())
        write(out, parameter.value().requires_grad() ? "parameter" : "constant", parameter.key(),
              parameter.value());
      for (const auto& buffer : network.named_buffers())
        write(out, "constant", buffer.key(), buffer.value());
      for (const auto& [input, tensor] : inputs)
        write(out, "input", input, tensor);
      for (const auto& [target, tensor] : targets)
        write(out, "target", target, tensor);
    }
    const Outcome outcome =
        run_step("python3", fmt::format("'{}' {} '{}'", REFERENCE_SCRIPT, name, file));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return {numbers_of(file + ".out"), outcome.number("loss"), outcome.number("gradient_norm")};
  }

  static void expect_equal(const Pass& ours, const Pass& reference) {
    ASSERT_EQ(ours.outputs.sizes(), reference.outputs.sizes());
    const double difference = (ours.outputs - reference.outputs).abs().max().item<double>();
    EXPECT_LT(difference, 1e-5 * reference.outputs.abs().max().item<double>());
    EXPECT_NEAR(ours.loss / reference.loss, 1, 1e-5);
    EXPECT_NEAR(ours.gradient_norm / reference.gradient_norm, 1, 1e-5);
  }

 private:
  static void write(std::ostream& out, const char* kind, const std::string& name,
                    const torch::Tensor& tensor) {
    const torch::Tensor numbers = tensor.detach().to(torch::kDouble).contiguous();
    out << fmt::format("{} {} {}\n", kind, name, fmt::join(tensor.sizes(), " "));
    out.write(static_cast<const char*>(numbers.data_ptr()),
              static_cast<std::streamsize>(numbers.nbytes()));
  }

  static torch::Tensor numbers_of(const std::string& file) {
    std::string bytes = read_text(file);
    const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(double));
    return torch::from_blob(bytes.data(), {count}, torch::kDouble).clone();
  }

  Folder folder_;
};

TEST_F(ReferenceTest, OfTheUNetOfAp1) {
  ap1::UNet network;
  network->to(torch::kDouble);
  ap1::Patches patches = ap1::synthetic_patches(2, 64);
  patches = {patches.predictors.to(torch::kDouble), patches.target.to(torch::kDouble)};
  const torch::Tensor prediction = network(patches.predictors);
  const Pass ours = pass_of(*network, {prediction}, ap1::quantile_loss(prediction, patches.target));
  expect_equal(ours, reference_of("unet", *network, {{"predictors", patches.predictors}},
                                  {{"target", patches.target}}));
}

NamedTensors inputs_of(const ap3::Columns& columns) {
  return {{"sca_inputs", columns.scalars},
          {"col_inputs", columns.layers},
          {"hl_inputs", columns.half_levels},
          {"inter_inputs", columns.interfaces},
          {"pressure_hl", columns.pressure}};
}

NamedTensors targets_of(const ap3::Radiation& radiation) {
  return {{"sw", radiation.fluxes}, {"hr_sw", radiation.heating_rate}};
}

ap3::Batch double_batch() {
  const auto [c, r] = ap3::synthetic_batch(4);
  const auto convert = [](const torch::Tensor& x) { return x.to(torch::kDouble); };
  return {{convert(c.scalars), convert(c.layers), convert(c.half_levels), convert(c.interfaces),
           convert(c.pressure)},
          {convert(r.fluxes), convert(r.heating_rate)}};
}

TEST_F(ReferenceTest, OfTheCnnOfAp3) {
  ap3::Cnn network;
  network->to(torch::kDouble);
  const ap3::Batch batch = double_batch();
  const ap3::Radiation predicted = network(batch.columns);
  const Pass ours = pass_of(*network, {predicted.fluxes, predicted.heating_rate},
                            ap3::cnn_loss(predicted, batch.radiation));
  expect_equal(
      ours, reference_of("cnn", *network, inputs_of(batch.columns), targets_of(batch.radiation)));
}

TEST_F(ReferenceTest, OfTheLstmOfAp3) {
  ap3::Lstm network;
  network->to(torch::kDouble);
  const ap3::Batch batch = double_batch();
  const ap3::Radiation predicted = network(batch.columns);
  const Pass ours = pass_of(*network, {predicted.fluxes, predicted.heating_rate},
                            ap3::lstm_loss(predicted, batch.radiation, ap3::FluxError::of_column));
  expect_equal(
      ours, reference_of("lstm", *network, inputs_of(batch.columns), targets_of(batch.radiation)));
}

Batch in_double(const Batch& batch) {
  return batch.transformed([](const torch::Tensor& tensor) { return tensor.to(torch::kDouble); });
}

TEST_F(ReferenceTest, OfTheUNetOfAp4) {
  ap4::UNet network;
  network->to(torch::kDouble);
  const Batch batch = in_double(ap4::synthetic_fields(2, {.height = 13, .width = 16}));
  const torch::Tensor output = network(batch["predictors"]);
  const Pass ours =
      pass_of(*network, {output}, ap4::crps_loss(output, batch["scale"], batch["target"]));
  expect_equal(ours, reference_of("ens10", *network, {{"predictors", batch["predictors"]}},
                                  {{"scale", batch["scale"]}, {"target", batch["target"]}}));
}

TEST_F(ReferenceTest, OfTheDebertaOfAp2) {
  const ap2::Sizes sizes{.vocabulary = 50, .hidden = 24, .layers = 2, .heads = 3, .sequence = 200};
  ap2::Deberta network(sizes, 0);
  network->to(torch::kDouble);
  const Batch batch = ap2::synthetic_tweets(3, sizes);
  const torch::Tensor scores = network(batch["input_ids"]);
  const Pass ours = pass_of(*network, {scores}, torch::cross_entropy_loss(scores, batch["label"]));
  expect_equal(ours, reference_of("deberta", *network, {{"input_ids", batch["input_ids"]}},
                                  {{"label", batch["label"]}}));
}

/// The networks of AP5, and samples for them.
class GanReferenceTest : public ReferenceTest {
 protected:
  void SetUp() override {
    ReferenceTest::SetUp();
    generator_->to(torch::kDouble);
    critic_->to(torch::kDouble);
    batch_ = in_double(ap5::synthetic_fields(2, {.height = 16, .width = 24}));
  }

  ap5::Generator generator_;
  ap5::Critic critic_;
  Batch batch_;
};

TEST_F(GanReferenceTest, OfTheCriticOfAp5) {
  const torch::Tensor real = ap5::temperature_of(batch_["target"]);
  const torch::Tensor generated = torch::rand_like(real);
  const torch::Tensor alpha = torch::randn({2, 1, 1, 1}, torch::kDouble);
  const Pass ours = pass_of(*critic_, {critic_(generated), critic_(real)},
                            ap5::critic_loss(critic_, generated, real, alpha));
  expect_equal(ours, reference_of("critic", *critic_, {{"generated", generated}, {"real", real}},
                                  {{"generated", generated}, {"real", real}, {"alpha", alpha}}));
}

TEST_F(GanReferenceTest, OfTheGeneratorOfAp5) {
  const torch::Tensor fine = generator_(batch_["predictors"]);
  const Pass ours =
      pass_of(*generator_, {fine}, ap5::generator_loss(critic_, fine, batch_["target"]).total);
  NamedTensors targets{{"target", batch_["target"]}};
  for (const auto& parameter : critic_->named_parameters())
    targets.emplace_back(parameter.key(), parameter.value());
  expect_equal(ours, reference_of("generator", *generator_, {{"predictors", batch_["predictors"]}},
                                  targets));
}

TEST_F(ReferenceTest, OfTheNetworkOfAp6) {
  const ap6::Heads heads{.count = 4, .clusters = 10};
  ap6::DeepCluster network(ap6::Grid{.height = 41, .width = 34}, heads);
  network->to(torch::kDouble);
  const torch::Tensor crops = torch::randn({3, 2, 25, 41, 34}, torch::kDouble);
  const torch::Tensor labels = torch::randint(10, {4, 3}, torch::kLong);
  labels.select(1, 1).fill_(ap6::no_label);
  const torch::Tensor features = network->features(crops);
  const Pass ours = pass_of(*network, {features},
                            ap6::cluster_loss(features, network->prototypes()->weight, labels));
  expect_equal(ours,
               reference_of("deepcluster", *network, {{"crops", crops}}, {{"labels", labels}}));
}

TEST_F(ReferenceTest, OfTheNetworkOfCosmoFlow) {
  for (const cosmoflow::Version version : {cosmoflow::Version::v0_7, cosmoflow::Version::v1}) {
    cosmoflow::CosmoFlow network(
        cosmoflow::NetworkOptions{.version = version, .size = 32, .dropout = 0});
    network->to(torch::kDouble);
    const torch::Tensor x = torch::randint(100, {2, 4, 32, 32, 32}).to(torch::kDouble);
    const torch::Tensor y = torch::rand({2, 4}, torch::kDouble) * 2 - 1;
    const torch::Tensor prediction = network(x);
    const Pass ours =
        pass_of(*network, {prediction}, cosmoflow::squared_errors(prediction, y).mean());
    expect_equal(ours, reference_of("cosmoflow", *network, {{"x", x}}, {{"y", y}}));
  }
}

TEST_F(ReferenceTest, OfTheNetworkOfDeepCam) {
  deepcam::DeepLab network{deepcam::Architecture(8)};
  deepcam::ValueRange range{};
  for (std::size_t i = 0; i < range.smallest.size(); ++i) {
    range.smallest[i] = -static_cast<float>(i);
    range.largest[i] = 1 + static_cast<float>(i);
  }
  network->set_value_range(range);
  network->to(torch::kDouble);
  const torch::Tensor data = torch::rand({2, 16, 64, 96}, torch::kDouble);
  const torch::Tensor labels = torch::randint(3, {2, 64, 96}, torch::kLong);
  const torch::Tensor scores = network(data);
  const torch::Tensor weights = deepcam::class_weights(torch::kDouble);
  const Pass ours =
      pass_of(*network, {scores}, deepcam::cross_entropies(scores, labels, weights).mean());
  expect_equal(ours, reference_of("deepcam", *network, {{"data", data}}, {{"labels", labels}}));
}

TEST_F(ReferenceTest, OfAtmoRep) {
  const atmorep::Sizes sizes = atmorep::tiny();
  atmorep::AtmoRep network(sizes, atmorep::NetworkOptions{.dropout = 0});
  network->to(torch::kDouble);
  const Batch batch = in_double(atmorep::synthetic_windows(2, sizes));
  const atmorep::MaskedBatch masked =
      atmorep::mask(atmorep::tokens_of(batch["fields"], sizes),
                    atmorep::draw_masks({}, sizes, {.count = 2}), sizes.token);
  const std::vector<torch::Tensor> predicted =
      network(masked.tokens, batch["token_info"], masked.rows);
  NamedTensors inputs{{"tokens", masked.tokens},
                      {"info", batch["token_info"]},
                      {"grid", torch::tensor({2, 3, 2, 2})}};
  NamedTensors targets;
  for (std::size_t field = 0; field < 3; ++field) {
    inputs.emplace_back(fmt::format("rows{}", field), masked.rows[field]);
    targets.emplace_back(fmt::format("target{}", field), masked.targets[field]);
    targets.emplace_back(fmt::format("weight{}", field), masked.weights[field]);
  }
  const Pass ours = pass_of(*network, predicted, atmorep::loss_of(predicted, masked).total);
  expect_equal(ours, reference_of("atmorep", *network, inputs, targets));
}

}  // namespace
}  // namespace bench::steps
