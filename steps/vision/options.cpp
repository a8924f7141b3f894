#include "vision/options.hpp"

#include "data/image_samples.hpp"
#include "data/image_source.hpp"
#include "data/sample_loader.hpp"
#include "data/staging.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/communicator.hpp"
#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/ranks.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::vision {
namespace {

using steps::ImagePart;
using steps::log_value;

void add_data_options(CLI::App& app, DataOptions& data) {
  app.add_option("--data-path", data.path, "Folder of a data set; default: synthetic images")
      ->always_capture_default(false);
  app.add_option("--data-format", data.format_name, "Format of the data set")
      ->check(CLI::IsMember({"auto", "tfrecord", "lmdb", "folder"}))
      ->needs("--data-path");
  steps::add_loader_options(app, data.loader);
  app.get_option("--synthetic")->excludes("--data-path");
  app.add_option("--first-label", data.first_label_name,
                 "Score of the data set's first class; auto: 1 with --classes 1001, otherwise 0")
      ->check(CLI::IsMember({"auto", "0", "1"}))
      ->needs("--data-path");
  app.add_option("--stage-to", data.stage_to,
                 "Copy the data set to this folder of each node first, unless it has a copy")
      ->needs("--data-path")
      ->always_capture_default(false);
}

void add_optimizer_options(CLI::App& app, Options& options) {
  CLI::Option* const base =
      app.add_option("--base-learning-rate", options.base_learning_rate,
                     "Learning rate for 256 images per step, proportional to the batch size")
          ->check(steps::not_negative());
  app.option_defaults()->always_capture_default(false);
  app.add_option("--learning-rate", options.given_learning_rate,
                 "Learning rate for every batch size, in place of --base-learning-rate")
      ->check(steps::not_negative())
      ->excludes(base);
  app.add_option("--lr-decay-epochs", options.lr_decay_epochs,
                 "Epochs that divide the learning rate by ten, such as 30,60,80")
      ->check(steps::not_negative())
      ->delimiter(',');
  app.option_defaults()->always_capture_default();
  app.add_option("--lr-warmup-epochs", options.lr_warmup_epochs,
                 "Epochs in which the learning rate rises from 0; with synthetic images an epoch "
                 "is as long as ImageNet's")
      ->check(steps::not_negative());
  app.add_option("--momentum", options.momentum, "Momentum of SGD")
      ->check(steps::from_0_to_below_1());
  app.add_option("--weight-decay", options.weight_decay, "L2 penalty on all parameters")
      ->check(steps::not_negative());
  app.add_option("--label-smoothing", options.label_smoothing,
                 "Share of the target that all classes have in common")
      ->check(steps::between(0, 0.99));
}

/// @returns the option of the image size, which has no default of its own
const CLI::Option* add_model_options(CLI::App& app, Options& options) {
  app.add_option("--global-batch-size", options.given_global_batch,
                 "Images per step on all ranks, in place of --batch-size, which is per rank")
      ->excludes("--batch-size")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->always_capture_default(false);
  app.add_option("--model", options.model, "Network; a resnet without v2 has the v1.5 form")
      ->check(CLI::IsMember(architecture_names()));
  app.add_option("--classes", options.classes, "Number of classes")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 24));
  const CLI::Option* const image_size =
      app.add_option("--image-size", options.image_size, "Side of the square images in pixels")
          ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 14))
          ->default_str("224; alexnet 227; inception3 299");
  app.add_option("--memory-format", options.memory_format,
                 "Order of images and weights in memory; auto: channels_last on a GPU")
      ->check(CLI::IsMember({"auto", "contiguous", "channels_last"}));
  return image_size;
}

void add_run_options(CLI::App& app, Options& options) {
  app.add_flag("--cuda-graph", options.cuda_graph,
               "Record a step as CUDA graphs and replay them; needs a GPU and one rank");
  app.add_option("--eval-steps", options.eval_steps,
                 "Batches of an evaluation, in evaluation mode; 0: none")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
  CLI::Option* const interval =
      app.add_option("--eval-interval", options.eval_interval,
                     "Measured steps between evaluations; 0: one after the training")
          ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
          ->needs("--eval-steps");
  app.add_option("--eval-epochs", options.eval_epochs, "The same in epochs")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->excludes(interval)
      ->needs("--eval-steps")
      ->needs("--epochs");
  app.add_option("--log-format", options.log_format,
                 "Format of the progress: tf_cnn_benchmarks, or PyTorch's ImageNet example")
      ->check(CLI::IsMember({"tf_cnn", "torch"}));
}

void check_evaluation(const Options& options) {
  if (options.eval_steps == 0 && (options.eval_interval > 0 || options.eval_epochs > 0))
    throw steps::UsageError(
        fmt::format("there is no evaluation for {}",
                    options.eval_epochs > 0 ? "--eval-epochs" : "--eval-interval"),
        "give --eval-steps more than 0");
}

template <typename Work>
double seconds_of(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  CLI::App& app = session.app();
  steps::add_batch_options(app, session.arguments());
  const CLI::Option* const image_size = add_model_options(app, options);
  add_optimizer_options(app, options);
  add_run_options(app, options);
  add_data_options(app, options.data);
  if (!session.parse(argc, argv))
    return false;
  options.common = session.arguments();
  check_evaluation(options);
  if (image_size->empty())
    options.image_size = make_architecture(options.model, options.classes).image_size;
  return true;
}

void set_epochs(Options& options, std::optional<std::uint64_t> samples_per_epoch) {
  steps::set_epoch_length(options.common, options.global_batch(), samples_per_epoch);
  if (options.eval_epochs > 0)
    options.eval_interval = steps::steps_of_epochs(options.common, options.eval_epochs);
}

void find_dataset(Options& options) {
  DataOptions& data = options.data;
  if (data.path.empty())
    return;
  data.format = steps::find_image_format(data.path, data.format_name);
  if (options.eval_steps > 0 &&
      !steps::has_image_part(data.path, *data.format, steps::ImagePart::validation))
    throw steps::UsageError(fmt::format("{} has no images to evaluate on", data.path),
                            "they are expected in validation-00000-of-00128 and so on (tfrecord) "
                            "or in val (lmdb, folder)");
}

void set_ranks(Options& options, int ranks) {
  options.ranks = ranks;
  if (options.given_global_batch > 0 && options.given_global_batch % ranks != 0)
    throw steps::UsageError(fmt::format("a global batch of {} cannot be shared by {} ranks",
                                        options.given_global_batch, ranks),
                            "--global-batch-size must be a multiple of the ranks");
  if (options.given_global_batch > 0)
    options.common.batch_size = options.given_global_batch / ranks;
  steps::micro_batch_size(options.common);
}

void check_image_size(const Options& options, const Architecture& architecture) {
  const std::int64_t smallest = smallest_image_size(architecture);
  if (options.image_size < smallest)
    throw steps::UsageError(fmt::format("nothing is left of images of side {} behind all layers of "
                                        "{}",
                                        options.image_size, architecture.name),
                            fmt::format("use --image-size {} or more", smallest));
}

void check_trainable(const Options& options, const Architecture& architecture) {
  const auto normalises_single_pixels = [&](std::int64_t image_size) {
    return count(architecture.layers, Architecture::input(image_size)).fewest_normalised_pixels ==
           1;
  };
  if (options.micro_batch() > 1 || !normalises_single_pixels(options.image_size))
    return;
  std::int64_t enough = options.image_size;
  while (normalises_single_pixels(enough))
    ++enough;
  throw steps::UsageError(
      fmt::format("one image of side {} leaves one value per channel to normalise over",
                  options.image_size),
      fmt::format("use --batch-size {} or more, or --image-size {} or more",
                  2 * options.common.micro_batches, enough));
}

void check_cuda_graph(const Options& options, const torch::Device& device) {
  if (!options.cuda_graph)
    return;
  if (!device.is_cuda())
    throw steps::UsageError("--cuda-graph needs a GPU, and this run is on the CPU",
                            "leave it away, or use --device cuda");
  if (options.ranks > 1)
    throw steps::UsageError(
        fmt::format("--cuda-graph is for one rank, and these are {}", options.ranks),
        "leave it away: what ranks tell each other is not recorded");
  if (options.common.micro_batches > 1)
    throw steps::UsageError("--cuda-graph records a step of one micro-batch",
                            "leave it away, or --micro-batches");
  if (!options.schedule().is_constant())
    throw steps::UsageError("--cuda-graph records one learning rate",
                            "leave it away, or --lr-warmup-epochs and --lr-decay-epochs");
  // The step that is recorded is slow, and belongs to the warm-up, too.
  constexpr std::int64_t least_warmup = steps::Replay::warm_steps + 1;
  if (options.common.warmup < least_warmup)
    throw steps::UsageError(fmt::format("--cuda-graph records the step number {}, which has to be "
                                        "one of the warm-up",
                                        least_warmup),
                            fmt::format("use --warmup {} or more", least_warmup));
}

torch::MemoryFormat memory_format(const Options& options, const torch::Device& device) {
  // Tensor cores want the channels together. On the CPU oneDNN reorders to its own format anyway.
  const bool channels_last = options.memory_format == "channels_last" ||
                             (options.memory_format == "auto" && device.is_cuda());
  return channels_last ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous;
}

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
