#pragma once

#include "data/image_samples.hpp"
#include "data/sample_loader.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <deque>
#include <optional>

namespace bench::vision {

struct Batch {
  torch::Tensor images;  ///< (B, 3, S, S), fp32, normalised
  torch::Tensor labels;  ///< (B), int64, 0 <= label < classes
};

/// What all batches of a run on this rank have in common.
struct BatchShape {
  std::int64_t batch_size;
  std::int64_t image_size;
  std::int64_t classes;
  torch::MemoryFormat format;
  torch::Device device;
};

/// Where a training or an evaluation has its images from, one batch after the other.
class Images {
 public:
  Images() = default;
  Images(const Images&) = delete;
  Images& operator=(const Images&) = delete;
  virtual ~Images() = default;

  /// The next batch, on the device; valid until the next call. On a GPU it lies where the one
  /// before it lay.
  virtual const Batch& next() = 0;

  /// What the threads did that load images; empty where there are none.
  virtual std::optional<steps::SampleLoader::Work> work() const { return std::nullopt; }
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
class SyntheticImages : public Images {
 public:
  explicit SyntheticImages(const BatchShape& shape);

  const Batch& next() override { return batch_; }

 private:
  Batch batch_;
};

/// Images that threads make on the host, some batches ahead; `next` waits for the oldest of them
/// and has it copied to the device, on a GPU from pinned memory without waiting for the copy.
class LoadedImages : public Images {
 public:
  /// Which samples are this rank's: those from `rank` * B on of each global batch.
  struct Share {
    std::int64_t rank;
    std::int64_t global_batch;
  };

  /// @param makers one for each thread, of samples in the shape's order of memory
  /// @param prefetch batches that are made ahead, at least 1
  LoadedImages(steps::SampleMakers makers, const BatchShape& shape, const Share& share,
               std::int64_t prefetch);

  /// @throws what a maker threw, in the step whose sample it was
  const Batch& next() override;
  std::optional<steps::SampleLoader::Work> work() const override { return loader_.work(); }

 private:
  Batch empty_batch(const torch::TensorOptions& options) const;
  void ask();

  BatchShape shape_;
  Share share_;
  std::int64_t asked_ = 0;     ///< Batches so far.
  std::deque<Batch> waiting_;  ///< On the host, asked for and not taken.
  Batch batch_;
  steps::SampleLoader
      loader_;  ///< Last: its threads end before the memory that they write to goes.
};

}  // namespace bench::vision
