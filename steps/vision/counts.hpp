#pragma once

#include "vision/architecture.hpp"

#include <cstdint>
#include <optional>

namespace bench::vision {

/// What a model costs, computed from the table alone.
struct Counts {
  std::int64_t trainable_parameters = 0;
  /// Running means and variances of the batch normalisations; not their step counters, nor the
  /// factors of 1 where none are learnt.
  std::int64_t non_trainable_parameters = 0;
  /// Multiply-adds of convolutions and fully connected layers in one forward pass.
  std::int64_t forward_macs_per_sample = 0;
  std::int64_t input_bytes_per_sample = 0;  ///< As fp32 pixels.
  /// Side of the smallest image that is normalised; empty where none is.
  std::optional<std::int64_t> smallest_normalised_size;

  /// 6 operations for each multiply-add of the forward pass: 2 for the multiplication and the
  /// addition, 3 because the backward pass computes a gradient for the input and one for the
  /// weights. Source: Amodei and Hernandez, AI and Compute (OpenAI 2018), appendix.
  std::int64_t training_flops_per_sample() const { return 6 * forward_macs_per_sample; }
};

/// @param image_size side of the square input in pixels, at least `smallest_image_size`
Counts count(const Architecture& architecture, std::int64_t image_size);

}  // namespace bench::vision
