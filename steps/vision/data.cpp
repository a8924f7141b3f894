#include "vision/data.hpp"

#include "data/crop.hpp"
#include "data/image_samples.hpp"
#include "data/image_source.hpp"
#include "data/sample_loader.hpp"
#include "data/staging.hpp"
#include "harness/batches.hpp"
#include "harness/communicator.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/ranks.hpp"
#include "vision/options.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
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

namespace {

using steps::ImagePart;
using steps::log_value;

template <typename Work>
double seconds_of(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Dataset::Dataset(const Options& options, const steps::Ranks& ranks,
                 steps::Communicator& communicator, const torch::Device& device)
    : options_(options),
      device_(device),
      rank_(communicator.rank()),
      threads_(steps::loader_threads(options.data.loader, ranks, device)),
      folder_(options.data.path) {
  if (folder_.empty())
    return;
  if (!options_.data.stage_to.empty())
    stage(communicator);
  open_s_ = seconds_of([&] { open(); });
}

void Dataset::stage(steps::Communicator& communicator) {
  staging_ = steps::stage_together(communicator, device_, [&] {
    const steps::Staged staged =
        steps::stage(folder_, steps::image_dataset_files(folder_, *options_.data.format),
                     options_.data.stage_to, threads_);
    folder_ = staged.folder;
    return staged.copied_bytes;
  });
}

void Dataset::open() {
  training_ = steps::open_images(folder_, *options_.data.format, ImagePart::train, threads_);
  if (options_.eval_steps > 0)
    validation_ =
        steps::open_images(folder_, *options_.data.format, ImagePart::validation, threads_);
}

std::optional<std::uint64_t> Dataset::samples_per_epoch() const {
  if (!training_)
    return std::nullopt;
  return training_->images();
}

std::int64_t Dataset::epoch_images() const {
  if (options_.common.samples_per_epoch > 0)
    return options_.common.samples_per_epoch;
  constexpr std::uint64_t of_imagenet = 1'281'167;
  return static_cast<std::int64_t>(samples_per_epoch().value_or(of_imagenet));
}

std::unique_ptr<steps::Batches> Dataset::batches(ImagePart part) const {
  if (!options_.data.has_loader())
    return std::make_unique<steps::ResidentBatches>(synthetic_batch(options_, device_));
  const bool train = part == ImagePart::train;
  const bool channels_last = memory_format(options_, device_) == torch::MemoryFormat::ChannelsLast;
  const steps::ImageSampleOptions samples{
      .size = static_cast<std::size_t>(options_.image_size),
      .order = channels_last ? steps::PixelOrder::pixels : steps::PixelOrder::planes,
      .classes = options_.classes,
      .first_label = options_.first_label(),
      // Synthetic images to evaluate on are other ones.
      .seed = options_.common.seed + (train ? 0 : 1),
      .part = part};
  steps::SampleMakers makers =
      training_ ? steps::image_makers(train ? *training_ : *validation_, samples, threads_)
                : steps::synthetic_image_makers(samples, threads_);
  steps::BatchOptions batches{.share = {.batch_size = options_.micro_batch(),
                                        .micro_batches = train ? options_.common.micro_batches : 1,
                                        .rank = rank_,
                                        .ranks = options_.ranks},
                              .device = device_,
                              .prefetch = options_.data.loader.prefetch,
                              .fixed_address = train && options_.cuda_graph};
  if (channels_last)
    batches.hwc_fields = {"image"};
  return std::make_unique<steps::LoadedBatches>(std::move(makers), batches);
}

void Dataset::log() const {
  log_value("dataset",
            training_ ? options_.data.path : "synthetic_" + options_.data.loader.synthetic);
  if (training_) {
    log_value("dataset_format", steps::image_format_name(*options_.data.format));
    log_value("dataset_images", training_->images());
    if (training_->bytes())
      log_value("dataset_bytes", *training_->bytes());
    if (training_->classes())
      log_value("dataset_classes", *training_->classes());
    if (validation_)
      log_value("evaluation_dataset_images", validation_->images());
    log_value("first_label", options_.first_label());
    log_value("dataset_open_s", open_s_);
  }
  if (staging_)
    staging_->log(folder_);
  if (options_.data.has_loader()) {
    log_value("loader_threads", threads_);
    log_value("prefetch", options_.data.loader.prefetch);
  }
}

void Dataset::log_work(const steps::Batches& batches, std::int64_t steps) const {
  const auto work = batches.work();
  if (!work)
    return;
  const double images_per_thread_second = static_cast<double>(work->samples) / work->seconds;
  log_value("loader_images", work->samples);
  log_value("loader_images_per_second_per_thread", images_per_thread_second);
  log_value("loader_images_per_second", images_per_thread_second * threads_);
  if (training_) {
    log_value("dataset_epochs", static_cast<double>(steps * options_.global_batch()) /
                                    static_cast<double>(training_->images()));
  }
}

}  // namespace bench::vision
