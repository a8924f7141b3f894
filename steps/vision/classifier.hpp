#pragma once

#include "harness/batch.hpp"
#include "harness/torch_all.hpp"
#include "vision/architecture.hpp"
#include "vision/network/model.hpp"
#include "vision/options.hpp"

namespace bench::vision {

/// The model on its device, its weights in the order of memory that suits it.
Network build_model(const Options& options, const Architecture& architecture,
                    const torch::Device& device);

struct Scored {
  torch::Tensor loss;    ///< Mean cross-entropy.
  torch::Tensor scores;  ///< (B, classes), fp32.
};

/// @param batch `image` (B, 3, S, S) and `label` (B)
Scored score(Network& model, const steps::Batch& batch, double label_smoothing);

}  // namespace bench::vision
