#pragma once

#include "ap1/sample.hpp"
#include "ap1/synthetic.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <span>

namespace bench::steps {

inline std::span<float> numbers(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace bench::steps

namespace bench::ap1 {

struct Patches {
  torch::Tensor predictors;  // (B, 17, P, P)
  torch::Tensor target;      // (B, 1, P, P)
};

inline Patches synthetic_patches(std::int64_t batch, std::int64_t patch, std::uint64_t seed = 1) {
  const Patches patches{torch::empty({batch, predictor_count, patch, patch}),
                        torch::empty({batch, 1, patch, patch})};
  for (std::int64_t i = 0; i < batch; ++i)
    make_synthetic_sample(steps::Random(seed + static_cast<std::uint64_t>(i)),
                          steps::numbers(patches.predictors[i]), steps::numbers(patches.target[i]));
  return patches;
}

}  // namespace bench::ap1
