#pragma once

#include "harness/batch.hpp"
#include "harness/torch_all.hpp"
#include "vision/options.hpp"

#include <cstdint>

namespace bench::vision {

/// Pixels (B, 3, S, S) on the scale 0 to 255, drawn from N(127, 60) cut at two standard
/// deviations, as tf_cnn_benchmarks draws its synthetic images.
torch::Tensor synthetic_pixels(std::int64_t batch_size, std::int64_t image_size,
                               const torch::Device& device);

/// A batch of such images and uniform labels, made on the device from LibTorch's random numbers:
/// `image`, fp32 (B, 3, S, S), and `label`, int64 (B).
///
/// Pixels are brought to mean 0 and deviation 1 with the statistics of ImageNet, as real images
/// would be.
steps::Batch synthetic_batch(const Options& options, const torch::Device& device);

}  // namespace bench::vision
