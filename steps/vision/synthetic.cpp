#include "vision/synthetic.hpp"

#include "data/crop.hpp"
#include "harness/batch.hpp"
#include "vision/options.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bench::vision {

torch::Tensor synthetic_pixels(std::int64_t batch_size, std::int64_t image_size,
                               const torch::Device& device) {
  constexpr double mean = 127.0;
  constexpr double deviation = 60.0;
  constexpr double cut = 2.0;  // in standard deviations
  // The inverse of the distribution function, of values that are uniform between its ends: no
  // value has to be drawn twice, and one tensor is enough.
  const double end = std::erf(cut / std::sqrt(2.0));
  return torch::empty({batch_size, 3, image_size, image_size}, device)
      .uniform_(-end, end)
      .erfinv_()
      .mul_(deviation * std::sqrt(2.0))
      .clamp_(-cut * deviation, cut * deviation)  // rounding may step over the edge
      .add_(mean);
}

steps::Batch synthetic_batch(const Options& options, const torch::Device& device) {
  const std::int64_t batch_size = options.micro_batch();
  const auto per_colour = [&](const std::array<float, 3>& values) {
    return torch::tensor(at::ArrayRef<float>(values), device).view({1, 3, 1, 1});
  };
  const torch::Tensor images = synthetic_pixels(batch_size, options.image_size, device)
                                   .div_(255.0)
                                   .sub_(per_colour(steps::imagenet_mean))
                                   .div_(per_colour(steps::imagenet_deviation))
                                   .contiguous(memory_format(options, device));
  const torch::Tensor labels = torch::randint(
      options.classes, {batch_size}, torch::TensorOptions().dtype(torch::kLong).device(device));
  return steps::Batch({{"image", images}, {"label", labels}});
}

}  // namespace bench::vision
