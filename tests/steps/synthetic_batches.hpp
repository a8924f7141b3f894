#pragma once

#include "ap1/data.hpp"
#include "ap2/data.hpp"
#include "ap2/network.hpp"
#include "ap3/data.hpp"
#include "ap4/data.hpp"
#include "ap5/data.hpp"
#include "atmorep/data.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/batches.hpp"
#include "harness/torch_all.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench::steps {

inline std::span<float> numbers(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

/// Samples that a function fills, of seeds that follow each other.
template <typename Fill>
Batch generated_batch(const std::vector<Field>& fields, std::int64_t size, std::uint64_t seed,
                      const Fill& fill) {
  std::vector<Batch::NamedTensor> tensors;
  for (const Field& field : fields) {
    std::vector<std::int64_t> shape = field.shape;
    shape.insert(shape.begin(), size);
    const auto type = field.type == FieldType::int64 ? torch::kLong : torch::kFloat;
    tensors.push_back({field.name, torch::empty(shape, type)});
  }
  for (std::int64_t i = 0; i < size; ++i) {
    FieldMemory memory;
    for (const Batch::NamedTensor& field : tensors) {
      const torch::Tensor sample = field.tensor[i];
      memory.emplace_back(static_cast<std::byte*>(sample.data_ptr()), sample.nbytes());
    }
    fill(Random(seed + static_cast<std::uint64_t>(i)), memory);
  }
  return Batch(std::move(tensors));
}

}  // namespace bench::steps

namespace bench::ap2 {

inline steps::Batch synthetic_tweets(std::int64_t size, const Sizes& sizes,
                                     std::uint64_t seed = 1) {
  return steps::generated_batch(fields(sizes), size, seed,
                                [&](steps::Random random, const steps::FieldMemory& sample) {
                                  generate_sample(random, sample, sizes);
                                });
}

}  // namespace bench::ap2

namespace bench::ap4 {

inline steps::Batch synthetic_fields(std::int64_t size, const Grid& grid, std::uint64_t seed = 1) {
  return steps::generated_batch(fields(grid), size, seed, generate_sample);
}

}  // namespace bench::ap4

namespace bench::ap5 {

inline steps::Batch synthetic_fields(std::int64_t size, const Grid& grid, std::uint64_t seed = 1) {
  return steps::generated_batch(fields(grid), size, seed, generate_sample);
}

}  // namespace bench::ap5

namespace bench::ap1 {

struct Patches {
  torch::Tensor predictors;  // (B, 17, P, P)
  torch::Tensor target;      // (B, 1, P, P)
};

inline Patches synthetic_patches(std::int64_t batch, std::int64_t patch, std::uint64_t seed = 1) {
  const Patches patches{torch::empty({batch, predictor_count, patch, patch}),
                        torch::empty({batch, 1, patch, patch})};
  for (std::int64_t i = 0; i < batch; ++i)
    make_synthetic_sample(steps::Random(seed + static_cast<std::uint64_t>(i)),
                          steps::numbers(patches.predictors[i]), steps::numbers(patches.target[i]));
  return patches;
}

}  // namespace bench::ap1

namespace bench::ap3 {

struct Batch {
  Columns columns;
  Radiation radiation;
};

inline Batch synthetic_batch(std::int64_t size, std::uint64_t seed = 1) {
  std::vector<torch::Tensor> tensors;
  for (const steps::Field& field : fields()) {
    std::vector<std::int64_t> shape = field.shape;
    shape.insert(shape.begin(), size);
    tensors.push_back(torch::empty(shape));
  }
  for (std::int64_t i = 0; i < size; ++i) {
    const auto memory = [&](std::size_t field) { return steps::numbers(tensors[field][i]); };
    make_synthetic_sample(
        steps::Random(seed + static_cast<std::uint64_t>(i)),
        {memory(0), memory(1), memory(2), memory(3), memory(4), memory(5), memory(6)});
  }
  return {{tensors[0], tensors[1], tensors[2], tensors[3], tensors[4]}, {tensors[5], tensors[6]}};
}

}  // namespace bench::ap3

namespace bench::atmorep {

/// A network that trains in milliseconds.
inline Sizes tiny(std::vector<std::string> fields = {"t", "u", "v"}) {
  return {.fields = std::move(fields),
          .levels = 2,
          .tokens = {.times = 3, .rows = 2, .columns = 2},
          .token = {.times = 2, .rows = 4, .columns = 3},
          .width = 32,
          .heads = 4,
          .layers = 2,
          .ensemble = 3};
}

inline steps::Batch synthetic_windows(std::int64_t size, const Sizes& sizes,
                                      std::uint64_t seed = 1) {
  return steps::generated_batch(fields(sizes), size, seed,
                                [&](steps::Random random, const steps::FieldMemory& sample) {
                                  generate_sample(random, sample, sizes);
                                });
}

}  // namespace bench::atmorep
