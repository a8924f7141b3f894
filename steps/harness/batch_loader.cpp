#include "harness/batch_loader.hpp"

#include "data/fields.hpp"
#include "data/sample_loader.hpp"
#include "data/sample_maker.hpp"
#include "harness/batch.hpp"
#include "harness/torch_all.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
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

}  // namespace bench::steps
