#include "data/image_samples.hpp"

#include "data/field_samples.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/image_decoder.hpp"
#include "data/image_source.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

constexpr double widest = 4.0 / 3.0;

std::size_t at_least_one(double pixels) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(pixels)));
}

Rectangle in_the_middle(std::size_t width, std::size_t height, std::size_t part_width,
                        std::size_t part_height) {
  return {.left = (width - part_width) / 2,
          .top = (height - part_height) / 2,
          .width = part_width,
          .height = part_height};
}

std::size_t random_place(std::size_t count, Random& random) {
  return random.below(static_cast<std::uint32_t>(count));
}

/// Which pixels of a row (or column) each pixel of the result is the mean of.
struct Windows {
  struct Window {
    std::size_t first;               ///< Of those pixels.
    std::span<const float> weights;  ///< Add up to 1.
  };
  Window operator[](std::size_t i) const {
    return {first[i], std::span(weights).subspan(begin[i], begin[i + 1] - begin[i])};
  }

  std::vector<std::size_t> first;
  std::vector<std::size_t> begin{0};  ///< Of the weights of each window, and the end of the last.
  std::vector<float> weights;
};

/// @param count pixels that are brought to `size`
Windows windows(std::size_t count, std::size_t size) {
  const double last = static_cast<double>(count);
  const double step = last / static_cast<double>(size);
  const double reach = std::max(1.0, step);
  Windows result;
  for (std::size_t i = 0; i < size; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    const auto begin = static_cast<std::size_t>(std::max(0.0, std::floor(centre - reach + 0.5)));
    const auto end = static_cast<std::size_t>(std::min(last, std::floor(centre + reach + 0.5)));
    const auto weight = [&](std::size_t pixel) {
      const double distance = std::abs(static_cast<double>(pixel) + 0.5 - centre);
      return std::max(0.0, 1.0 - distance / reach);
    };
    double sum = 0;
    for (std::size_t pixel = begin; pixel < end; ++pixel)
      sum += weight(pixel);
    for (std::size_t pixel = begin; pixel < end; ++pixel)
      result.weights.push_back(static_cast<float>(weight(pixel) / sum));
    result.first.push_back(begin);
    result.begin.push_back(result.weights.size());
  }
  return result;
}

/// The mean of some rows of the part, (width of the part, 3), 0 to 255.
void average_rows(const Image& image, const Rectangle& part, const Windows::Window& rows,
                  std::vector<float>& result) {
  result.assign(3 * part.width, 0);
  std::size_t y = part.top + rows.first;
  for (const float weight : rows.weights) {
    const std::uint8_t* const row = &image.rgb[3 * (y++ * image.width + part.left)];
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] += weight * static_cast<float>(row[i]);
  }
}

}  // namespace

Rectangle random_part(std::size_t width, std::size_t height, Random& random) {
  const auto area = static_cast<double>(width * height);
  for (int draw = 0; draw < 10; ++draw) {
    const double wanted = area * (0.08 + 0.92 * random.uniform());
    const double ratio = std::pow(widest, 2 * random.uniform() - 1);
    const std::size_t part_width = at_least_one(std::sqrt(wanted * ratio));
    const std::size_t part_height = at_least_one(std::sqrt(wanted / ratio));
    if (part_width <= width && part_height <= height) {
      const std::size_t left = random_place(width - part_width + 1, random);
      const std::size_t top = random_place(height - part_height + 1, random);
      return {.left = left, .top = top, .width = part_width, .height = part_height};
    }
  }
  const auto w = static_cast<double>(width);
  const auto h = static_cast<double>(height);
  return in_the_middle(width, height, std::min(width, at_least_one(h * widest)),
                       std::min(height, at_least_one(w * widest)));
}

Rectangle middle_part(std::size_t width, std::size_t height) {
  const std::size_t side =
      at_least_one(static_cast<double>(std::min(width, height)) * 224.0 / 256.0);
  return in_the_middle(width, height, side, side);
}

float normalised(float value, std::size_t colour) {
  return (value * (1.0F / 255) - imagenet_mean[colour]) * (1 / imagenet_deviation[colour]);
}

void resize_part(const Image& image, const Rectangle& part, bool mirrored, std::size_t size,
                 std::span<float> out, PixelOrder order) {
  const bool planes = order == PixelOrder::planes;
  const std::size_t next_pixel = planes ? 1 : 3;
  const std::size_t next_colour = planes ? size * size : 1;
  const Windows columns = windows(part.width, size);
  const Windows rows = windows(part.height, size);
  std::vector<float> row;
  for (std::size_t y = 0; y < size; ++y) {
    average_rows(image, part, rows[y], row);
    for (std::size_t x = 0; x < size; ++x) {
      const Windows::Window column = columns[x];
      const float* pixel = &row[3 * column.first];
      std::array<float, 3> sum{};
      for (const float weight : column.weights)
        for (float& colour : sum)
          colour += weight * *pixel++;
      const std::size_t place = next_pixel * (y * size + (mirrored ? size - 1 - x : x));
      for (std::size_t colour = 0; colour < 3; ++colour)
        out[colour * next_colour + place] = normalised(sum[colour], colour);
    }
  }
}

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

}  // namespace

SampleMakers synthetic_image_makers(const ImageSampleOptions& options, int threads) {
  const auto of_colours = std::make_shared<const Levels>(make_levels());
  const auto generate = [of_colours, options](Random random, const FieldMemory& memory) {
    const std::span<float> values = floats(memory[0]);
    // Drawn colour by colour in both orders, so that a GPU sees the images of a CPU.
    const std::size_t plane = values.size() / 3;
    const bool planes = options.order == PixelOrder::planes;
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
        values[colour * to_next_colour + pixel * to_next_pixel] =
            (*of_colours)[colour][bits % levels];
        bits >>= bits_per_level;
        --left;
      }
    integers(memory[1])[0] = random.below(static_cast<std::uint32_t>(options.classes));
  };
  return generated_samples(image_fields(options), generate)(options.seed, threads);
}

}  // namespace bench::steps
