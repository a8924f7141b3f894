#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::vision {

struct Batch {
  torch::Tensor images;  ///< (B, 3, S, S), fp32, normalised
  torch::Tensor labels;  ///< (B), int64, 0 <= label < classes
};

/// Pixels (B, 3, S, S) on the scale 0 to 255, drawn from N(127, 60) cut at two standard
/// deviations, as tf_cnn_benchmarks draws its synthetic images.
torch::Tensor synthetic_pixels(std::int64_t batch_size, std::int64_t image_size,
                               const torch::Device& device);

/// Images that exist on the device from the beginning and are the same in every step: the cost of
/// a step is then that of the model alone.
///
/// Pixels are brought to mean 0 and deviation 1 with the statistics of ImageNet, as real images
/// would be.
class SyntheticImages {
 public:
  SyntheticImages(std::int64_t batch_size, std::int64_t image_size, std::int64_t classes,
                  torch::MemoryFormat format, const torch::Device& device);

  /// What a loader of real images would have to wait for.
  const Batch& next() const { return batch_; }

 private:
  Batch batch_;
};

}  // namespace bench::vision
