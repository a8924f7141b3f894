#include "data/generated_samples.hpp"

#include "data/fields.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

class GeneratedSamples : public SampleMaker {
 public:
  GeneratedSamples(std::vector<Field> fields, std::uint64_t seed, GenerateSample generate)
      : fields_(std::move(fields)), seed_(seed), generate_(std::move(generate)) {}

  const std::vector<Field>& fields() const override { return fields_; }
  void make(std::uint64_t sample, const FieldMemory& memory) override {
    generate_(EpochOrder::stream(seed_, sample), memory);
  }

 private:
  std::vector<Field> fields_;
  std::uint64_t seed_;
  GenerateSample generate_;
};

/// Samples that a function generates, each from the seed and its own number alone.
SampleMakers generated_makers(const std::vector<Field>& fields, std::uint64_t seed, int threads,
                              const GenerateSample& generate) {
  SampleMakers makers;
  for (int thread = 0; thread < threads; ++thread)
    makers.push_back(std::make_unique<GeneratedSamples>(fields, seed, generate));
  return makers;
}

}  // namespace

std::function<SampleMakers(std::uint64_t seed, int threads)> generated_samples(
    std::vector<Field> fields, GenerateSample generate) {
  return [fields = std::move(fields), generate = std::move(generate)](std::uint64_t seed,
                                                                      int threads) {
    return generated_makers(fields, seed, threads, generate);
  };
}

namespace {

/// 4096 of them are 16 KiB, which stay in the first cache.
constexpr int bits_per_level = 12;
constexpr std::size_t levels = std::size_t{1} << bits_per_level;
using Levels = std::vector<float>;

std::shared_ptr<const Levels> make_normal_levels() {
  constexpr double cut = 8;  // beyond it lie 1e-15 of the distribution
  const std::vector<double> exact = normal_levels(levels, cut);
  return std::make_shared<const Levels>(exact.begin(), exact.end());
}

/// Sets each number to `number(bits)` of that many random bits.
template <int bits_per_number, typename Number>
void fill(std::span<float> numbers, Random& random, Number&& number) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << bits_per_number) - 1;
  constexpr std::size_t per_draw = 64 / bits_per_number;
  const auto draw = [&](std::span<float> some) {
    std::uint64_t bits = random.next();
    for (float& value : some) {
      value = number(static_cast<std::int32_t>(bits & mask));  // converts faster than 64 bits
      bits >>= bits_per_number;
    }
  };
  const std::size_t even = numbers.size() / per_draw * per_draw;
  for (std::size_t i = 0; i < even; i += per_draw)
    draw(numbers.subspan(i).first<per_draw>());
  if (even < numbers.size())
    draw(numbers.subspan(even));
}

class SyntheticFieldMaker : public SampleMaker {
 public:
  SyntheticFieldMaker(const std::vector<SyntheticField>& fields, std::uint64_t seed,
                      std::shared_ptr<const Levels> normal)
      : synthetic_(fields), seed_(seed), normal_(std::move(normal)) {
    for (const SyntheticField& field : fields)
      fields_.push_back(field.field);
  }

  const std::vector<Field>& fields() const override { return fields_; }

  void make(std::uint64_t sample, const FieldMemory& memory) override {
    Random random = EpochOrder::stream(seed_, sample);
    for (std::size_t i = 0; i < synthetic_.size(); ++i)
      draw(synthetic_[i], memory[i], random);
  }

 private:
  void draw(const SyntheticField& field, std::span<std::byte> memory, Random& random) const {
    if (field.field.type == FieldType::int64)
      for (std::int64_t& number : integers(memory))
        number = random.below(field.bound);
    else if (field.distribution == Distribution::uniform)
      fill<24>(floats(memory), random,
               [](std::int32_t bits) { return static_cast<float>(bits) * 0x1p-24F; });
    else
      fill<bits_per_level>(floats(memory), random, [&](std::int32_t bits) {
        return (*normal_)[static_cast<std::size_t>(bits)];
      });
  }

  std::vector<SyntheticField> synthetic_;
  std::vector<Field> fields_;
  std::uint64_t seed_;
  std::shared_ptr<const Levels> normal_;  ///< Of all threads.
};

}  // namespace

SampleMakers synthetic_field_makers(const std::vector<SyntheticField>& fields, std::uint64_t seed,
                                    int threads) {
  for (const SyntheticField& field : fields)
    if (field.bound == 0)
      throw std::invalid_argument(fmt::format("the bound of field '{}' is 0", field.field.name));
  const std::shared_ptr<const Levels> normal = make_normal_levels();
  SampleMakers makers;
  for (int i = 0; i < threads; ++i)
    makers.push_back(std::make_unique<SyntheticFieldMaker>(fields, seed, normal));
  return makers;
}

}  // namespace bench::steps
