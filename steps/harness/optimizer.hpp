#pragma once

#include "harness/flat_parameters.hpp"
#include "harness/saved_state.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace bench::steps {

/// Updates a row of weights from a row of gradients.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// @param gradient_scale factor of the gradients
  virtual void step(double learning_rate, double gradient_scale) = 0;

  /// The optimizer's own state; not the weights.
  virtual void save(SavedState& state) const = 0;
  virtual void load(const SavedState& state) = 0;
};

/// The rows of an optimizer: of all parameters, or of a rank's share of them.
struct OptimizerRows {
  torch::Tensor weights;            ///< fp32 (N), changed in place.
  torch::Tensor gradients;          ///< fp32 (N); their values are undefined after a step.
  std::int64_t matrix_numbers = 0;  ///< The first so many belong to parameters of 2 and more
                                    ///< dimensions.
  /// Where each parameter lies in the rows, cut to them; empty for one that other ranks have.
  std::vector<FlatParameters::Range> parameters = {};
  /// Sums a tensor over the ranks that have the other shares.
  std::function<void(const torch::Tensor&)> sum_over_shares = [](const torch::Tensor&) {};
};

/// @throws std::invalid_argument if weights and gradients are not two equal rows of fp32
void check_rows(const OptimizerRows& rows);

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(OptimizerRows)>;

}  // namespace bench::steps
