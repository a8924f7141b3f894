#include "cosmoflow/data.hpp"

#include "data/example.hpp"
#include "data/fields.hpp"
#include "data/number_type.hpp"
#include "data/random.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::cosmoflow {

std::vector<steps::Field> fields(std::int64_t size) {
  return {{.name = "x", .shape = {size, size, size, redshift_count}},
          {.name = "y", .shape = {target_count}}};
}

std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files,
                                                 std::int64_t size, int threads) {
  const std::vector<steps::Field> all = fields(size);
  const std::vector<steps::ExampleField> features{
      {.field = all[0], .feature = "x", .raw = steps::NumberType::int16},
      {.field = all[1], .feature = "y", .raw = {}}};
  constexpr std::uint64_t records_per_file = 1;
  return steps::open_example_fields(files, features, threads, records_per_file);
}

namespace {

constexpr auto channels = static_cast<std::size_t>(redshift_count);
constexpr std::size_t levels = 256;  // a byte of random bits chooses one

/// Equally likely counts of each channel. A look into a table costs a tenth of a logarithm.
using CountTable = std::array<std::array<float, levels>, channels>;

CountTable counts_of(std::span<const float> parameters) {
  CountTable table{};
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double mean = 2 * std::exp(static_cast<double>(parameters[channel]));
    for (std::size_t level = 0; level < levels; ++level) {
      const double share = (static_cast<double>(level) + 0.5) / levels;
      table[channel][level] = static_cast<float>(std::floor(-mean * std::log(1 - share)));
    }
  }
  return table;
}

}  // namespace

void make_synthetic_sample(steps::Random random, std::span<float> counts,
                           std::span<float> parameters) {
  for (float& parameter : parameters)
    parameter = static_cast<float>(2 * random.uniform() - 1);
  const CountTable table = counts_of(parameters);
  constexpr std::size_t at_once = sizeof(std::uint64_t);
  for (std::size_t i = 0; i < counts.size(); i += at_once) {
    std::uint64_t bits = random.next();
    for (std::size_t k = 0; k < at_once; ++k, bits >>= 8)
      counts[i + k] = table[k % channels][bits % levels];
  }
}

void generate_sample(steps::Random random, const steps::FieldMemory& sample) {
  make_synthetic_sample(random, steps::floats(sample[0]), steps::floats(sample[1]));
}

}  // namespace bench::cosmoflow
