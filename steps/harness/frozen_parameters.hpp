#pragma once

#include "harness/torch_all.hpp"

#include <vector>

namespace bench::steps {

/// While this object lives, forward passes record no gradients for the parameters of a module. What
/// feeds it still gets its own: a generator learns from a critic that does not learn from it.
class FrozenParameters {
 public:
  explicit FrozenParameters(const torch::nn::Module& module) {
    for (const torch::Tensor& parameter : module.parameters())
      if (parameter.requires_grad())
        parameters_.push_back(parameter.set_requires_grad(false));
  }
  FrozenParameters(const FrozenParameters&) = delete;
  FrozenParameters& operator=(const FrozenParameters&) = delete;
  ~FrozenParameters() {
    for (const torch::Tensor& parameter : parameters_)
      parameter.set_requires_grad(true);
  }

 private:
  std::vector<torch::Tensor> parameters_;
};

}  // namespace bench::steps
