#pragma once

#include "atmorep/data.hpp"
#include "steps/synthetic_batches.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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
