#pragma once

#include "harness/cost.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace bench::steps {

/// Expects a network to hold as many parameters as were counted. Frozen parameters, constants and
/// step counters of normalisations are in neither.
inline void expect_counted(const Cost& cost, const torch::nn::Module& network) {
  std::int64_t trainable = 0;
  for (const torch::Tensor& parameter : network.parameters())
    trainable += parameter.requires_grad() ? parameter.numel() : 0;
  std::int64_t running = 0;
  for (const auto& buffer : network.named_buffers())
    if (buffer.key().find("running_mean") != std::string::npos ||
        buffer.key().find("running_var") != std::string::npos)
      running += buffer.value().numel();
  EXPECT_EQ(cost.trainable_parameters(), trainable);
  EXPECT_EQ(cost.non_trainable_parameters(), running);
}

}  // namespace bench::steps
