#include "vision/data.hpp"

#include <cmath>
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

SyntheticImages::SyntheticImages(std::int64_t batch_size, std::int64_t image_size,
                                 std::int64_t classes, torch::MemoryFormat format,
                                 const torch::Device& device) {
  // Means and deviations over ImageNet's training images, red, green, blue: those of torchvision.
  const auto shape = std::vector<std::int64_t>{1, 3, 1, 1};
  const torch::Tensor mean = torch::tensor({0.485F, 0.456F, 0.406F}, device).view(shape);
  const torch::Tensor deviation = torch::tensor({0.229F, 0.224F, 0.225F}, device).view(shape);
  batch_.images = synthetic_pixels(batch_size, image_size, device)
                      .div_(255.0)
                      .sub_(mean)
                      .div_(deviation)
                      .contiguous(format);
  batch_.labels = torch::randint(classes, {batch_size},
                                 torch::TensorOptions().dtype(torch::kLong).device(device));
}

}  // namespace bench::vision
