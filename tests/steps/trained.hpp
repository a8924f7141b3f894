#pragma once

#include "harness/communicator.hpp"
#include "harness/optimizer.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"

#include <functional>

namespace bench::steps {

/// Trains a model on one rank, by Adam.
/// @param loss of one step
/// @returns the loss of the last step
inline double trained_loss(const torch::nn::Module& model, int steps, double learning_rate,
                           const std::function<torch::Tensor()>& loss) {
  Communicator alone;
  Trainer trainer({.ranks = alone, .device = torch::kCPU}, model,
                  {.optimizer = make_adamw({.weight_decay = 0}),
                   .learning_rate = [=](std::int64_t) { return learning_rate; }});
  for (int step = 0; step < steps; ++step) {
    trainer.backward(loss());
    trainer.wait_for_gradients();
    trainer.update_weights();
    trainer.end_step();
  }
  return trainer.newest_result().value().loss;
}

}  // namespace bench::steps
