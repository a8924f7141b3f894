#include "data/crop.hpp"
#include "data/epoch_order.hpp"
#include "data/fields.hpp"
#include "data/image_samples.hpp"
#include "data/random.hpp"
#include "data/sample_maker.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

constexpr std::size_t levels = 4096;
constexpr int bits_per_level = 12;

/// The share of a normal distribution below `x` standard deviations, of what lies within two.
double share_below(double x) {
  const double end = std::erf(std::sqrt(2.0));
  return (std::erf(x / std::sqrt(2.0)) + end) / (2 * end);
}

/// The value in standard deviations that this share lies below, by halving.
double value_above(double share) {
  double low = -2;
  double high = 2;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (share_below(middle) < share ? low : high) = middle;
  }
  return low;
}

/// Equally likely values, for each colour on the scale that the network sees.
using Levels = std::array<std::array<float, levels>, 3>;

Levels make_levels() {
  Levels result;
  for (std::size_t i = 0; i < levels; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(levels);
    const auto pixel = static_cast<float>(127.0 + 60.0 * value_above(share));
    for (std::size_t colour = 0; colour < 3; ++colour)
      result[colour][i] = normalised(pixel, colour);
  }
  return result;
}

class SyntheticMaker : public SampleMaker {
 public:
  SyntheticMaker(std::shared_ptr<const Levels> of_colours, const ImageSampleOptions& options)
      : fields_(image_fields(options)), levels_(std::move(of_colours)), options_(options) {}

  const std::vector<Field>& fields() const override { return fields_; }

  void make(std::uint64_t sample, const FieldMemory& memory) override {
    const std::span<float> values = floats(memory[0]);
    Random random = EpochOrder::stream(options_.seed, sample);
    const std::size_t plane = values.size() / 3;
    std::uint64_t bits = 0;
    int left = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (left == 0) {
        bits = random.next();
        left = 64 / bits_per_level;
      }
      const std::size_t colour = options_.order == PixelOrder::planes ? i / plane : i % 3;
      values[i] = (*levels_)[colour][bits % levels];
      bits >>= bits_per_level;
      --left;
    }
    integers(memory[1])[0] = random.below(static_cast<std::uint32_t>(options_.classes));
  }

 private:
  std::vector<Field> fields_;
  std::shared_ptr<const Levels> levels_;  ///< Of all threads.
  ImageSampleOptions options_;
};

}  // namespace

SampleMakers synthetic_image_makers(const ImageSampleOptions& options, int threads) {
  const auto of_colours = std::make_shared<const Levels>(make_levels());
  SampleMakers makers;
  for (int i = 0; i < threads; ++i)
    makers.push_back(std::make_unique<SyntheticMaker>(of_colours, options));
  return makers;
}

}  // namespace bench::steps
