#include "vision/data.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace bench::vision {
namespace {

std::span<std::byte> bytes_of(const torch::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

}  // namespace

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

SyntheticImages::SyntheticImages(const BatchShape& s) {
  const auto shape = std::vector<std::int64_t>{1, 3, 1, 1};
  const auto per_colour = [&](const std::array<float, 3>& values) {
    return torch::tensor(at::ArrayRef<float>(values), s.device).view(shape);
  };
  const torch::Tensor mean = per_colour(steps::imagenet_mean);
  const torch::Tensor deviation = per_colour(steps::imagenet_deviation);
  batch_.images = synthetic_pixels(s.batch_size, s.image_size, s.device)
                      .div_(255.0)
                      .sub_(mean)
                      .div_(deviation)
                      .contiguous(s.format);
  batch_.labels = torch::randint(s.classes, {s.batch_size},
                                 torch::TensorOptions().dtype(torch::kLong).device(s.device));
}

LoadedImages::LoadedImages(steps::SampleMakers makers, const BatchShape& shape, const Share& share,
                           std::int64_t prefetch)
    : shape_(shape), share_(share), loader_(std::move(makers)) {
  if (!shape.device.is_cpu())
    batch_ = empty_batch(shape.device);
  for (std::int64_t i = 0; i < prefetch; ++i)
    ask();
}

Batch LoadedImages::empty_batch(const torch::TensorOptions& options) const {
  return {.images = torch::empty({shape_.batch_size, 3, shape_.image_size, shape_.image_size},
                                 options.dtype(torch::kFloat), shape_.format),
          .labels = torch::empty({shape_.batch_size}, options.dtype(torch::kLong))};
}

void LoadedImages::ask() {
  const Batch& batch = waiting_.emplace_back(
      empty_batch(torch::TensorOptions().pinned_memory(shape_.device.is_cuda())));
  loader_.request(
      static_cast<std::uint64_t>(asked_ * share_.global_batch + share_.rank * shape_.batch_size),
      {.fields = {bytes_of(batch.images), bytes_of(batch.labels)},
       .samples = static_cast<std::size_t>(shape_.batch_size)});
  ++asked_;
}

const Batch& LoadedImages::next() {
  loader_.take();
  const Batch made = std::move(waiting_.front());
  waiting_.pop_front();
  ask();  // before the copy, so that the threads go on
  if (shape_.device.is_cpu()) {
    batch_ = made;
    return batch_;
  }
  // LibTorch keeps pinned memory that a copy still reads, and gives it out again afterwards.
  batch_.images.copy_(made.images, /*non_blocking=*/true);
  batch_.labels.copy_(made.labels, /*non_blocking=*/true);
  return batch_;
}

}  // namespace bench::vision
