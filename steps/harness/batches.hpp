#pragma once

#include "data/fields.hpp"
#include "data/sample_loader.hpp"
#include "harness/torch_all.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// Samples as tensors, one for each field, by name: `batch["image"]`.
class Batch {
 public:
  struct NamedTensor {
    std::string name;
    torch::Tensor tensor;  ///< (B, shape of the field)
  };

  Batch() = default;
  explicit Batch(std::vector<NamedTensor> tensors) : tensors_(std::move(tensors)) {}

  /// @throws std::out_of_range naming the fields that exist
  const torch::Tensor& operator[](std::string_view name) const;

  /// In the order of the fields.
  const std::vector<NamedTensor>& tensors() const { return tensors_; }

  /// A batch of the same names whose tensors are `make(tensor)`.
  template <typename Make>
  Batch transformed(const Make& make) const {
    std::vector<NamedTensor> result;
    for (const NamedTensor& field : tensors_)
      result.push_back({field.name, make(field.tensor)});
    return Batch(std::move(result));
  }

  /// Its first samples, in the same memory.
  /// @param count at most `samples()`
  Batch first(std::int64_t count) const {
    return transformed([&](const torch::Tensor& tensor) { return tensor.narrow(0, 0, count); });
  }

  /// Copies all tensors from a batch with the same fields. On a GPU it does not wait for the copy.
  void copy_from(const Batch& other);

  std::int64_t samples() const;  ///< B.
  std::int64_t bytes() const;    ///< Of all tensors.

 private:
  std::vector<NamedTensor> tensors_;
};

/// The samples of one rank. In each step, every rank has `micro_batches` batches of `batch_size`
/// samples; those of rank 0 come first, then those of rank 1, and so on.
struct BatchShare {
  std::int64_t batch_size = 1;
  std::int64_t micro_batches = 1;
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  std::uint64_t first_sample = 0;  ///< Of the first step, over all ranks.

  /// Samples of this rank in a step.
  std::int64_t own_batch() const { return micro_batches * batch_size; }
  std::int64_t global_batch() const { return ranks * own_batch(); }

  /// The number of the first sample in a batch of this rank.
  /// @param batch from 0, over all steps
  std::uint64_t sample_of(std::int64_t batch) const;
};

/// Makes the batches of a rank in the memory of the host, some batches ahead, on the loader's
/// threads.
class BatchLoader {
 public:
  struct Options {
    BatchShare share;
    std::int64_t prefetch = 2;  ///< Batches that are made ahead, at least 1.
    /// Fields whose samples lie as (H, W, C): their tensors are (B, C, H, W) in channels-last
    /// memory. Other numbers of dimensions alike: C becomes the first of them.
    std::vector<std::string> hwc_fields;
    bool pinned = false;  ///< A GPU copies from pinned memory without the host's help.
  };

  /// @param makers one for each thread, at least one
  /// @throws std::invalid_argument if one of `hwc_fields` does not exist, or has no channels
  BatchLoader(SampleMakers makers, Options options);

  /// Waits for the next batch, which is the caller's.
  /// @throws what a maker threw at one of its samples
  Batch next();

  /// Returns true if `next` would return without waiting.
  bool is_ready() const { return loader_.is_ready(); }

  /// An uninitialised batch in the form of all others.
  Batch empty_batch() const;

  const SampleLoader& loader() const { return loader_; }

 private:
  void request();

  Options options_;
  std::int64_t requested_ = 0;  ///< Batches so far.
  std::deque<Batch> waiting_;   ///< Requested and not taken.
  SampleLoader loader_;  ///< Last: its threads end before the memory that they write to goes.
};

/// Copies batches to a GPU beside the computation, into slots: memory that is overwritten when the
/// computation has read it.
class CopyStream {
 public:
  CopyStream() = default;
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;
  virtual ~CopyStream() = default;

  /// Starts to copy a batch, after all computation that was launched before the last `release` of
  /// the slot.
  /// @param from in pinned memory, which may be freed at once
  /// @param to the memory of the slot
  virtual void copy(std::size_t slot, const Batch& from, Batch& to) = 0;

  /// Makes the computation that is launched from now on wait for the last copy to the slot.
  virtual void wait_for_copy(std::size_t slot) = 0;

  /// Lets the slot be overwritten after all computation that was launched so far.
  virtual void release(std::size_t slot) = 0;
};

/// Memory of a GPU for the batches that the computation reads, and for the one after them, which is
/// copied meanwhile.
class BatchRing {
 public:
  /// @param slots at least two batches of the same form; all but one are valid at a time
  /// @param stream with as many slots
  BatchRing(std::vector<Batch> slots, std::unique_ptr<CopyStream> stream);

  /// Returns true if a batch was copied that `next` has not returned.
  bool has_next() const { return copied_ > returned_; }

  /// Starts to copy the next batch.
  /// @param batch in pinned memory
  /// @throws std::logic_error if there is one already
  void copy(const Batch& batch);

  /// The batch that was copied, for the computation that is launched from now on. Ends the
  /// validity of the oldest batch if all other slots are in use.
  /// @throws std::logic_error if there is none
  const Batch& next();

 private:
  std::size_t slot_of(std::size_t batch) const { return batch % slots_.size(); }

  std::vector<Batch> slots_;
  std::unique_ptr<CopyStream> stream_;
  std::size_t copied_ = 0;    ///< Batches so far.
  std::size_t returned_ = 0;  ///< Batches so far.
};

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
