#include "ap6/synthetic.hpp"

#include "ap6/sample.hpp"
#include "data/epoch_order.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/normal_levels.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

namespace bench::ap6 {
namespace {

constexpr std::size_t spacing = 16;  ///< Points from one random number to the next.

float normal(steps::Random& random) {
  constexpr std::size_t bits = 12;
  static const std::vector<double> levels = steps::normal_levels(std::size_t{1} << bits, 4);
  return static_cast<float>(levels[random.next() >> (64 - bits)]);
}

/// The random numbers of a sample: half of their variance is that of its regime.
class Weather {
 public:
  explicit Weather(steps::Random random) : regime_(random.below(regime_count)), own_(random) {}

  float next() {
    const float of_each = std::numbers::sqrt2_v<float> / 2;
    return of_each * (normal(regime_) + normal(own_));
  }

 private:
  steps::Random regime_;
  steps::Random own_;
};

/// A row of random numbers, and what is between them.
void fill_row(Weather& weather, std::vector<float>& knots, std::span<float> row) {
  std::ranges::generate(knots, [&] { return weather.next(); });
  for (std::size_t x = 0; x < row.size(); ++x) {
    const float share = static_cast<float>(x % spacing) / spacing;
    const float left = knots[x / spacing];
    row[x] = left + share * (knots[x / spacing + 1] - left);
  }
}

class SyntheticSource : public steps::FieldSource {
 public:
  SyntheticSource(const Grid& grid, std::uint64_t samples, std::uint64_t seed)
      : grid_(grid), fields_{stored_fields(grid).front()}, samples_(samples), seed_(seed) {}

  const std::vector<steps::Field>& fields() const override { return fields_; }
  std::uint64_t samples() const override { return samples_; }
  std::optional<std::uint64_t> bytes() const override { return std::nullopt; }
  std::unique_ptr<Reader> reader() const override;

 private:
  class Generator;

  Grid grid_;
  std::vector<steps::Field> fields_;
  std::uint64_t samples_;
  std::uint64_t seed_;
};

class SyntheticSource::Generator : public Reader {
 public:
  explicit Generator(const SyntheticSource& source) : source_(source) {}

  void read(std::uint64_t sample, const steps::FieldMemory& memory) override {
    generate_fields(steps::EpochOrder::stream(source_.seed_, sample), source_.grid_,
                    steps::floats(memory[0]));
  }

 private:
  const SyntheticSource& source_;
};

std::unique_ptr<steps::FieldSource::Reader> SyntheticSource::reader() const {
  return std::make_unique<Generator>(*this);
}

}  // namespace

void generate_fields(steps::Random random, const Grid& grid, std::span<float> fields) {
  Weather weather(random);
  const auto height = static_cast<std::size_t>(grid.height);
  const auto width = static_cast<std::size_t>(grid.width);
  std::vector<float> knots(width / spacing + 2);
  std::vector<float> above(width);
  std::vector<float> below(width);
  for (std::size_t y = 0; y < channel_count * height; ++y) {
    const std::size_t between = y % height % spacing;
    if (y % height == 0)
      fill_row(weather, knots, below);
    if (between == 0) {
      std::swap(above, below);
      fill_row(weather, knots, below);
    }
    const float share = static_cast<float>(between) / spacing;
    const std::span<float> row = fields.subspan(y * width, width);
    for (std::size_t x = 0; x < width; ++x)
      row[x] = above[x] + share * (below[x] - above[x]);
  }
}

std::unique_ptr<steps::FieldSource> synthetic_source(const Grid& grid, std::uint64_t samples,
                                                     std::uint64_t seed) {
  return std::make_unique<SyntheticSource>(grid, samples, seed);
}

}  // namespace bench::ap6
