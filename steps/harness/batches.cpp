#include "harness/batches.hpp"

#include "data/fields.hpp"
#include "data/sample_loader.hpp"
#include "harness/torch_all.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::steps {

const torch::Tensor& Batch::operator[](std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &NamedTensor::name);
  if (found != tensors_.end())
    return found->tensor;
  std::vector<std::string> names;
  for (const NamedTensor& field : tensors_)
    names.push_back(field.name);
  throw std::out_of_range(
      fmt::format("no field '{}' in a batch of: {}", name, fmt::join(names, ", ")));
}

void Batch::copy_from(const Batch& other) {
  const torch::NoGradGuard no_gradient;
  for (NamedTensor& field : tensors_)
    field.tensor.copy_(other[field.name], /*non_blocking=*/true);
}

std::int64_t Batch::samples() const {
  return tensors_.empty() ? 0 : tensors_.front().tensor.size(0);
}

std::int64_t Batch::bytes() const {
  std::int64_t sum = 0;
  for (const NamedTensor& field : tensors_)
    sum += static_cast<std::int64_t>(field.tensor.nbytes());
  return sum;
}

namespace {

void check_hwc_fields(const std::vector<std::string>& names, const std::vector<Field>& fields) {
  for (const std::string& name : names) {
    const auto field = std::ranges::find(fields, name, &Field::name);
    if (field == fields.end())
      throw std::invalid_argument(fmt::format("no field '{}' with channels", name));
    if (field->shape.size() < 2)
      throw std::invalid_argument(
          fmt::format("field '{}' has too few dimensions for channels", name));
  }
}

FieldMemory memory_of(const Batch& batch) {
  FieldMemory memory;
  for (const auto& [name, tensor] : batch.tensors())
    memory.emplace_back(static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes());
  return memory;
}

}  // namespace

std::uint64_t BatchShare::sample_of(std::int64_t batch) const {
  const std::int64_t step = batch / micro_batches;
  const std::int64_t own = rank * micro_batches + batch % micro_batches;
  return first_sample + static_cast<std::uint64_t>(step * global_batch() + own * batch_size);
}

BatchLoader::BatchLoader(SampleMakers makers, Options options)
    : options_(std::move(options)), loader_(std::move(makers)) {
  check_hwc_fields(options_.hwc_fields, loader_.fields());
  for (std::int64_t i = 0; i < options_.prefetch; ++i)
    request();
}

Batch BatchLoader::empty_batch() const {
  std::vector<Batch::NamedTensor> tensors;
  for (const Field& field : loader_.fields()) {
    std::vector<std::int64_t> sizes = field.shape;
    sizes.insert(sizes.begin(), options_.share.batch_size);
    torch::Tensor tensor = torch::empty(
        sizes, torch::TensorOptions(field.type == FieldType::float32 ? torch::kFloat : torch::kLong)
                   .pinned_memory(options_.pinned));
    if (std::ranges::find(options_.hwc_fields, field.name) != options_.hwc_fields.end())
      tensor = tensor.movedim(-1, 1);  // (B, C, H, W)
    tensors.push_back({field.name, tensor});
  }
  return Batch(std::move(tensors));
}

void BatchLoader::request() {
  const Batch& batch = waiting_.emplace_back(empty_batch());
  loader_.request(
      options_.share.sample_of(requested_++),
      {.fields = memory_of(batch), .samples = static_cast<std::size_t>(options_.share.batch_size)});
}

Batch BatchLoader::next() {
  loader_.take();
  Batch made = std::move(waiting_.front());
  waiting_.pop_front();
  request();
  return made;
}

namespace {

/// A stream of the GPU with two events for each slot. The computation is that on the current
/// stream.
class GpuCopyStream : public CopyStream {
 public:
  GpuCopyStream(const torch::Device& device, std::size_t slots)
      : device_(device), gpu_(device.type()), stream_(gpu_.getStreamFromGlobalPool(device)) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      released_.emplace_back(device.type());
      copied_.emplace_back(device.type());
    }
  }

  void copy(std::size_t slot, const Batch& from, Batch& to) override {
    released_.at(slot).block(stream_);
    const c10::StreamGuard guard(stream_);
    to.copy_from(from);
    copied_.at(slot).record(stream_);
    // The slot belongs to the stream of the computation: freed, it must outlast this copy, too.
    for (const Batch::NamedTensor& field : to.tensors())
      field.tensor.record_stream(stream_);
  }

  void wait_for_copy(std::size_t slot) override { copied_.at(slot).block(computation()); }
  void release(std::size_t slot) override { released_.at(slot).record(computation()); }

 private:
  c10::Stream computation() const { return gpu_.getStream(device_); }

  torch::Device device_;
  c10::impl::VirtualGuardImpl gpu_;
  c10::Stream stream_;
  std::vector<c10::Event> released_;
  std::vector<c10::Event> copied_;
};

}  // namespace

BatchRing::BatchRing(std::vector<Batch> slots, std::unique_ptr<CopyStream> stream)
    : slots_(std::move(slots)), stream_(std::move(stream)) {
  if (slots_.size() < 2)
    throw std::invalid_argument("a ring of fewer than two batches");
  // Earlier computation may still use memory that the slots were given.
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    stream_->release(slot);
}

void BatchRing::copy(const Batch& batch) {
  if (has_next())
    throw std::logic_error("a batch was copied that nobody took");
  const std::size_t slot = slot_of(copied_++);
  stream_->copy(slot, batch, slots_[slot]);
}

const Batch& BatchRing::next() {
  if (!has_next())
    throw std::logic_error("a batch that nobody copied");
  const std::size_t valid = slots_.size() - 1;
  if (returned_ >= valid)
    stream_->release(slot_of(returned_ - valid));
  const std::size_t slot = slot_of(returned_++);
  stream_->wait_for_copy(slot);
  return slots_[slot];
}

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
  ring_.emplace(std::move(slots), std::make_unique<GpuCopyStream>(options.device, count));
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
