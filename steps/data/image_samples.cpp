#include "data/image_samples.hpp"

#include "data/crop.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/image_decoder.hpp"
#include "data/image_source.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

/// How far the decoder may shrink an image of which this part becomes `size` x `size` pixels: not
/// so far that pixels would have to be made up.
int shrink_for(const Rectangle& part, std::size_t size) {
  int shrink = 8;
  while (shrink > 1 && std::min(part.width, part.height) < size * static_cast<std::size_t>(shrink))
    shrink /= 2;
  return shrink;
}

/// The same part of the shrunk image, its edges to half a pixel of that.
Rectangle shrunk(const Rectangle& part, std::size_t shrink) {
  const auto edge = [&](std::size_t pixels) { return (pixels + shrink / 2) / shrink; };
  return {.left = edge(part.left),
          .top = edge(part.top),
          .width = edge(part.left + part.width) - edge(part.left),
          .height = edge(part.top + part.height) - edge(part.top)};
}

class ImageMaker : public SampleMaker {
 public:
  ImageMaker(const ImageSource& source, std::shared_ptr<EpochOrder> order,
             const ImageSampleOptions& options)
      : fields_(image_fields(options)),
        reader_(source.reader()),
        order_(std::move(order)),
        options_(options) {}

  const std::vector<Field>& fields() const override { return fields_; }
  std::optional<std::uint64_t> samples_per_epoch() const override { return order_->items(); }

  void make(std::uint64_t sample, const FieldMemory& memory) override {
    const EncodedImage encoded = reader_->at(order_->item(sample));
    const std::int64_t label = encoded.label + options_.first_label;
    if (label >= options_.classes)
      fail_without_place(encoded);
    const ImageSize size = decoder_.size(encoded.jpeg, encoded.name);
    Random random = EpochOrder::stream(options_.seed, sample);
    const bool training = options_.part == ImagePart::train;
    const Rectangle part = training ? random_part(size.width, size.height, random)
                                    : middle_part(size.width, size.height);
    const bool mirrored = training && random.below(2) == 1;
    const int shrink = shrink_for(part, options_.size);
    decoder_.decode(encoded.jpeg, encoded.name, image_, shrink);
    resize_part(image_, shrunk(part, static_cast<std::size_t>(shrink)), mirrored, options_.size,
                floats(memory[0]), options_.order);
    integers(memory[1])[0] = label;
  }

 private:
  [[noreturn]] void fail_without_place(const EncodedImage& image) const {
    const std::int64_t first = options_.first_label;
    throw DataError(
        image.name,
        first == 0
            ? fmt::format("label {}, but there are {} classes", image.label, options_.classes)
            : fmt::format("label {} is score {} with --first-label {}, but there are {} "
                          "classes",
                          image.label, image.label + first, first, options_.classes),
        fmt::format("use --classes {} or more, as many as the data set has{}",
                    image.label + first + 1, first == 0 ? "" : ", or --first-label 0"));
  }

  std::vector<Field> fields_;
  std::unique_ptr<ImageSource::Reader> reader_;
  std::shared_ptr<EpochOrder> order_;  ///< Of all threads.
  ImageSampleOptions options_;
  ImageDecoder decoder_;
  Image image_;
};

}  // namespace

std::vector<Field> image_fields(const ImageSampleOptions& options) {
  const auto size = static_cast<std::int64_t>(options.size);
  const bool planes = options.order == PixelOrder::planes;
  return {{.name = "image",
           .type = FieldType::float32,
           .shape = planes ? std::vector<std::int64_t>{3, size, size}
                           : std::vector<std::int64_t>{size, size, 3}},
          {.name = "label", .type = FieldType::int64, .shape = {}}};
}

SampleMakers image_makers(const ImageSource& source, const ImageSampleOptions& options,
                          int threads) {
  if (source.classes() && *source.classes() + options.first_label > options.classes)
    throw UsageError(fmt::format("the data set has {} classes, of which {} have a place",
                                 *source.classes(), options.classes - options.first_label),
                     fmt::format("use --classes {}", *source.classes() + options.first_label));
  std::optional<std::uint64_t> seed;
  if (options.part == ImagePart::train)
    seed = options.seed;
  const auto order = std::make_shared<EpochOrder>(source.images(), seed);
  SampleMakers makers;
  for (int i = 0; i < threads; ++i)
    makers.push_back(std::make_unique<ImageMaker>(source, order, options));
  return makers;
}

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
