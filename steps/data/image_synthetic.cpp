#include "data/crop.hpp"
#include "data/epoch_order.hpp"
#include "data/fields.hpp"
#include "data/image_samples.hpp"
#include "data/normal_levels.hpp"
#include "data/random.hpp"
#include "data/sample_maker.hpp"

#include <array>
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

/// Equally likely values of each colour, on the scale that the network sees.
using Levels = std::array<std::array<float, levels>, 3>;

Levels make_levels() {
  const std::vector<double> standard = normal_levels(levels, 2);
  Levels result;
  for (std::size_t i = 0; i < levels; ++i)
    for (std::size_t colour = 0; colour < 3; ++colour)
      result[colour][i] = normalised(static_cast<float>(127.0 + 60.0 * standard[i]), colour);
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
    // Drawn colour by colour in both orders, so that a GPU sees the images of a CPU.
    const std::size_t plane = values.size() / 3;
    const bool planes = options_.order == PixelOrder::planes;
    const std::size_t to_next_pixel = planes ? 1 : 3;
    const std::size_t to_next_colour = planes ? plane : 1;
    std::uint64_t bits = 0;
    int left = 0;
    for (std::size_t colour = 0; colour < 3; ++colour)
      for (std::size_t pixel = 0; pixel < plane; ++pixel) {
        if (left == 0) {
          bits = random.next();
          left = 64 / bits_per_level;
        }
        values[colour * to_next_colour + pixel * to_next_pixel] = (*levels_)[colour][bits % levels];
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
