#include "cosmoflow/synthetic.hpp"

#include "cosmoflow/sample.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::cosmoflow {
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
