#include "harness/batches.hpp"

#include "data/fields.hpp"
#include "data/sample_loader.hpp"
#include "data/sample_maker.hpp"
#include "harness/batch.hpp"
#include "harness/copy_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

bool has_image_form(const torch::Tensor& tensor) {
  return tensor.dim() == 4 && tensor.is_floating_point();
}

}  // namespace

LoadedBatches::LoadedBatches(SampleMakers makers, const BatchOptions& options)
    : options_(options),
      loader_(std::move(makers), {.share = options.share,
                                  .prefetch = options.prefetch,
                                  .hwc_fields = options.hwc_fields,
                                  .pinned = options.device.is_cuda()}) {
  if (options.valid_batches < 1 || (options.fixed_address && options.valid_batches > 1))
    throw std::invalid_argument("at a fixed address one batch is valid at a time");
  if (options.device.is_cpu())
    return;
  if (options.fixed_address) {
    batch_ = device_batch();
    return;
  }
  std::vector<Batch> slots;
  for (std::int64_t i = 0; i <= options.valid_batches; ++i)
    slots.push_back(device_batch());
  const std::size_t count = slots.size();
  ring_.emplace(std::move(slots), make_copy_stream(options.device, count));
}

Batch LoadedBatches::device_batch() const {
  return loader_.empty_batch().transformed([&](const torch::Tensor& tensor) {
    const bool channels_last = options_.channels_last && has_image_form(tensor);
    return torch::empty_like(
        tensor, torch::TensorOptions(options_.device),
        channels_last ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Preserve);
  });
}

const Batch& LoadedBatches::next() {
  if (ring_)
    return next_of_ring();
  return options_.device.is_cpu() ? next_on_cpu() : next_at_fixed_address();
}

const Batch& LoadedBatches::next_on_cpu() {
  batch_ = loader_.next();
  if (options_.channels_last)
    batch_ = batch_.transformed([](const torch::Tensor& tensor) {
      return has_image_form(tensor) ? tensor.contiguous(torch::MemoryFormat::ChannelsLast) : tensor;
    });
  return batch_;
}

const Batch& LoadedBatches::next_at_fixed_address() {
  // LibTorch keeps pinned memory that a copy still reads, and gives it out again afterwards.
  batch_.copy_from(loader_.next());
  return batch_;
}

const Batch& LoadedBatches::next_of_ring() {
  if (!ring_->has_next())
    ring_->copy(loader_.next());
  const Batch& batch = ring_->next();
  if (loader_.is_ready())
    ring_->copy(loader_.next());
  return batch;
}

std::int64_t LoadedBatches::bytes_per_sample() const {
  return static_cast<std::int64_t>(sample_bytes(loader_.loader().fields()));
}

std::optional<std::uint64_t> LoadedBatches::samples_per_epoch() const {
  return loader_.loader().samples_per_epoch();
}

std::optional<SampleLoader::Work> LoadedBatches::work() const {
  return loader_.loader().work();
}

}  // namespace bench::steps
