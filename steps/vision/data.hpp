#pragma once

#include "data/image_source.hpp"
#include "harness/batches.hpp"
#include "harness/communicator.hpp"
#include "harness/loader_options.hpp"
#include "harness/ranks.hpp"
#include "harness/torch_all.hpp"
#include "vision/options.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

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

/// The images of a run: synthetic ones, or a data set, which is copied first where the options say
/// so.
class Dataset {
 public:
  /// All ranks must call it.
  /// @throws steps::UsageError, steps::DataError, std::runtime_error as `steps::stage` and
  ///         `steps::open_images`
  Dataset(const Options& options, const steps::Ranks& ranks, steps::Communicator& communicator,
          const torch::Device& device);

  /// Batches of `image`, fp32 (B, 3, S, S), and `label`, int64 (B), from the first image of that
  /// part on. Synthetic images of the device are drawn from LibTorch's random numbers.
  std::unique_ptr<steps::Batches> batches(steps::ImagePart part) const;

  /// Images of an epoch; empty for synthetic ones.
  std::optional<std::uint64_t> samples_per_epoch() const;
  /// Images of an epoch of the learning rate: `--samples-per-epoch`, or these; synthetic ones count
  /// as ImageNet's.
  std::int64_t epoch_images() const;

  /// Prints what the images are and how they are loaded.
  void log() const;

  /// Prints how fast the threads were.
  /// @param steps that were done, warm-up included
  void log_work(const steps::Batches& batches, std::int64_t steps) const;

 private:
  void stage(steps::Communicator& communicator);
  void open();

  Options options_;
  torch::Device device_;
  int rank_;
  int threads_;
  std::string folder_;  ///< Where the data set is read.
  std::optional<steps::Staging> staging_;
  double open_s_ = 0;
  std::unique_ptr<steps::ImageSource> training_;    ///< Empty without a data set.
  std::unique_ptr<steps::ImageSource> validation_;  ///< Empty unless it is evaluated on.
};

}  // namespace bench::vision
