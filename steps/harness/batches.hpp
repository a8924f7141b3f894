#pragma once

#include "data/fields.hpp"
#include "data/sample_loader.hpp"
#include "data/sample_maker.hpp"
#include "harness/batch.hpp"
#include "harness/batch_loader.hpp"
#include "harness/batch_ring.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::steps {

/// Batches of one rank on its device, one after the other, without end.
class Batches {
 public:
  Batches() = default;
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;
  virtual ~Batches() = default;

  /// The next batch; valid until the next call.
  virtual const Batch& next() = 0;

  virtual std::int64_t bytes_per_sample() const = 0;
  /// Samples after which the data begins again; empty where it never does.
  virtual std::optional<std::uint64_t> samples_per_epoch() const { return std::nullopt; }
  /// Work of the threads that make samples; empty where there are none.
  virtual std::optional<SampleLoader::Work> work() const { return std::nullopt; }
};

/// The same batch in every step, on the device from the start: loading takes no time.
class ResidentBatches : public Batches {
 public:
  /// @param batch on the device, for example the first of LoadedBatches
  explicit ResidentBatches(Batch batch) : batch_(std::move(batch)) {}

  const Batch& next() override { return batch_; }
  std::int64_t bytes_per_sample() const override { return batch_.bytes() / batch_.samples(); }

 private:
  Batch batch_;
};

struct BatchOptions {
  BatchShare share;
  torch::Device device = torch::kCPU;
  std::int64_t prefetch = 2;            ///< Batches that threads make ahead on the host.
  std::vector<std::string> hwc_fields;  ///< See BatchLoader.
  /// Float tensors (B, C, H, W) get channels-last memory, those of other fields than `hwc_fields`
  /// by a conversion on the device.
  bool channels_last = false;
  /// On a GPU, every batch lies where the one before it lay, as a CUDA graph needs it. Copies then
  /// are part of the computation, on its stream.
  bool fixed_address = false;
  /// The newest batches that stay valid on a GPU: more than one if the forward pass of the next
  /// micro-batch comes before the backward pass of the last. On a CPU all of them do.
  std::int64_t valid_batches = 1;
};

/// Batches that threads make on the host, some ahead.
///
/// A GPU copies the next one while it computes, on a stream of its own, if the threads have made it
/// by then. `next` waits for the threads, and makes the computation wait for the copy.
class LoadedBatches : public Batches {
 public:
  /// @param makers one for each thread, at least one
  /// @throws std::invalid_argument if options contradict each other
  LoadedBatches(SampleMakers makers, const BatchOptions& options);

  /// @throws what a maker threw, in the step whose sample it was
  const Batch& next() override;

  std::int64_t bytes_per_sample() const override;
  std::optional<std::uint64_t> samples_per_epoch() const override;
  std::optional<SampleLoader::Work> work() const override;
  const std::vector<Field>& fields() const { return loader_.loader().fields(); }

 private:
  Batch device_batch() const;
  const Batch& next_on_cpu();
  const Batch& next_at_fixed_address();
  const Batch& next_of_ring();

  BatchOptions options_;
  BatchLoader loader_;
  Batch batch_;                    ///< Unless there is a ring.
  std::optional<BatchRing> ring_;  ///< On a GPU, unless the address is fixed.
};

}  // namespace bench::steps
