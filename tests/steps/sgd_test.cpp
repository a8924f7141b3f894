#include "harness/flat_parameters.hpp"
#include "harness/optimizer.hpp"
#include "steps/optimizer_rows.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

/// A matrix, a vector, a convolution weight with its channels together, and one above the size
/// from which threads share a row.
std::vector<torch::Tensor> some_parameters() {
  torch::manual_seed(7);
  std::vector<torch::Tensor> parameters = {
      torch::randn({5, 3}), torch::randn({11}),
      torch::randn({8, 4, 3, 3}).contiguous(torch::MemoryFormat::ChannelsLast),
      torch::randn({300, 400})};
  for (torch::Tensor& parameter : parameters)
    parameter.requires_grad_();
  return parameters;
}

TEST(Sgd, EqualsTheOptimizerOfLibTorch) {
  struct Case {
    const char* name;
    double learning_rate;
    Sgd::Options options;
  };
  const Case cases[] = {
      {"defaults", 0.1, {}},
      {"no momentum", 0.5, {.momentum = 0, .weight_decay = 1e-2}},
      {"no decay", 0.01, {.momentum = 0.99, .weight_decay = 0}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::vector<torch::Tensor> ours = some_parameters();
    std::vector<torch::Tensor> theirs = some_parameters();
    const FlatParameters flat(ours);
    Sgd sgd(rows_of(flat), c.options);
    torch::optim::SGD reference(theirs, torch::optim::SGDOptions(c.learning_rate)
                                            .momentum(c.options.momentum)
                                            .weight_decay(c.options.weight_decay));
    for (std::uint64_t seed = 100; seed < 104; ++seed) {
      torch::manual_seed(seed);
      for (std::size_t i = 0; i < ours.size(); ++i) {
        theirs[i].mutable_grad() = torch::randn_like(theirs[i].detach());
        flat.gradient_of(ours[i]).copy_(theirs[i].grad() * 128);
      }
      sgd.step(c.learning_rate, 1.0 / 128);
      reference.step();
    }
    // Sums are rounded in another order, a few units in the last place per step.
    for (std::size_t i = 0; i < ours.size(); ++i)
      EXPECT_TRUE(torch::allclose(ours[i], theirs[i], 1e-5, 1e-6)) << "parameter " << i;
  }
}

TEST(Sgd, RefusesRowsThatDoNotFit) {
  EXPECT_THROW(
      Sgd({.weights = torch::ones({2}, torch::kDouble), .gradients = torch::ones({2})}, {}),
      std::invalid_argument);
  EXPECT_THROW(Sgd({.weights = torch::ones({2}), .gradients = torch::ones({3})}, {}),
               std::invalid_argument);
}

}  // namespace
}  // namespace bench::steps
