#include "data/files.hpp"
#include "data/image_decoder.hpp"
#include "data/image_source.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "dataset/writers.hpp"
#include "harness/arguments.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::dataset {
namespace {

constexpr std::size_t knot_distance = 8;  // pixels
constexpr double noise = 45;              // from the lowest to the highest value

}  // namespace

steps::Image noise_image(std::size_t width, std::size_t height, std::uint64_t seed,
                         std::uint64_t number) {
  steps::Random random = steps::EpochOrder::stream(seed, number);
  const std::size_t columns = width / knot_distance + 2;
  std::vector<double> knots(columns * (height / knot_distance + 2) * 3);
  for (double& knot : knots)
    knot = 255 * random.uniform();

  steps::Image image{.width = width, .height = height, .rgb = {}};
  image.rgb.reserve(3 * width * height);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      for (std::size_t colour = 0; colour < 3; ++colour) {
        const double right = static_cast<double>(x % knot_distance) / knot_distance;
        const double below = static_cast<double>(y % knot_distance) / knot_distance;
        const double* const knot =
            &knots[3 * (y / knot_distance * columns + x / knot_distance) + colour];
        const double* const lower = knot + 3 * columns;
        const double value = (knot[0] * (1 - right) + knot[3] * right) * (1 - below) +
                             (lower[0] * (1 - right) + lower[3] * right) * below +
                             noise * (random.uniform() - 0.5);
        image.rgb.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
      }
  return image;
}

namespace {

using steps::ImageFormat;
using steps::ImagePart;

struct ImageOptions {
  std::string from;
  std::string from_format = "auto";
  std::string to;
  std::string to_format;
  std::uint64_t images_per_shard = 1000;
  std::uint64_t images = 0;
  std::uint64_t validation_images = 0;
  std::uint64_t classes = 1000;
  std::size_t width = 500;
  std::size_t height = 375;
  std::uint64_t seed = 1;
  bool skip_bad = false;
  int threads = 0;
};

bool read_image_options(int argc, char** argv, ImageOptions& options) {
  CLI::App app(
      "Writes a data set of images for `vision`: an existing one in another format, or images of "
      "noise.",
      "dataset images");
  app.option_defaults()->always_capture_default();
  const auto many = CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31);
  CLI::Option* const from = app.add_option("--from", options.from, "Folder of the data set to read")
                                ->always_capture_default(false);
  app.add_option("--from-format", options.from_format, "Format of the data set to read")
      ->check(CLI::IsMember({"auto", "tfrecord", "lmdb", "folder"}));
  app.add_option("--to", options.to, "Folder to write")->required();
  app.add_option("--to-format", options.to_format, "Format of the data set to write")
      ->check(CLI::IsMember({"tfrecord", "lmdb", "folder"}))
      ->required();
  const CLI::Option* const per_shard =
      app.add_option("--images-per-shard", options.images_per_shard, "Images per TFRecord file")
          ->check(many);
  app.add_option("--images", options.images, "Number of training images of noise")
      ->check(many)
      ->excludes(from);
  app.add_option("--validation-images", options.validation_images,
                 "Number of validation images of noise")
      ->check(steps::whole_and_not_negative());
  app.add_option("--classes", options.classes, "Classes of the images of noise")->check(many);
  app.add_option("--width", options.width, "Width of each image in pixels")
      ->check(CLI::Range(1, 65500));
  app.add_option("--height", options.height, "Height of each image in pixels")
      ->check(CLI::Range(1, 65500));
  app.add_option("--seed", options.seed, "Seed of the noise")
      ->check(steps::whole_and_not_negative());
  app.add_flag("--skip-bad", options.skip_bad,
               "Leave out and count images that cannot be decoded; otherwise the first one ends "
               "the program")
      ->needs(from);
  app.add_option("--threads", options.threads,
                 "Threads that decode the images of --from to check them; 0: one per CPU that this "
                 "process may use")
      ->check(CLI::Range(0, 65536));
  if (!steps::parse_command_line(app, argc, argv))
    return false;
  if (options.from.empty() && options.images == 0)
    throw steps::UsageError("nothing to write", "give --from or --images");
  if (per_shard->count() > 0 && options.to_format != "tfrecord")
    throw steps::UsageError(
        fmt::format("--images-per-shard has no effect on {}", options.to_format),
        "remove it, or use --to-format tfrecord");
  return true;
}

ImageFormat format_of(const std::string& name) {
  for (const ImageFormat format : {ImageFormat::tfrecord, ImageFormat::lmdb})
    if (steps::image_format_name(format) == name)
      return format;
  return ImageFormat::folder;
}

std::string part_name(ImagePart part) {
  return part == ImagePart::train ? "train" : "validation";
}

/// Writes `count` images, of which `image(i)` is number i.
template <typename ImageOf>
void write_part(const ImageOptions& options, ImagePart part, std::uint64_t count, ImageOf&& image) {
  const std::uint64_t shards =
      std::max<std::uint64_t>(1, (count + options.images_per_shard - 1) / options.images_per_shard);
  const auto writer =
      steps::make_image_writer(options.to, format_of(options.to_format), part, count, shards);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const steps::EncodedImage encoded = image(i);
    writer->add(encoded.label, encoded.jpeg);
    bytes += encoded.jpeg.size();
  }
  writer->finish();
  steps::log_value(part_name(part) + "_images", count);
  steps::log_value(part_name(part) + "_jpeg_bytes", bytes);
}

/// Numbers of the images that can be read and decoded, found before anything is written. Names the
/// others, or throws for the first of them.
std::vector<std::uint64_t> good_images(const ImageOptions& options,
                                       const steps::ImageSource& source, ImagePart part) {
  const auto threads =
      static_cast<std::size_t>(options.threads > 0 ? options.threads : steps::usable_cpus());
  std::vector<std::string> errors(source.images());  // empty where there is none
  steps::for_each_index(threads, static_cast<int>(threads), [&](std::size_t thread) {
    const auto reader = source.reader();
    steps::ImageDecoder decoder;
    steps::Image image;
    for (std::uint64_t i = thread; i < source.images(); i += threads)
      try {
        const steps::EncodedImage encoded = reader->at(i);
        decoder.decode(encoded.jpeg, encoded.name, image, /*shrink=*/8);  // all of it is read
      } catch (const steps::DataError& error) {
        errors[i] = error.what();
      }
  });
  std::vector<std::uint64_t> good;
  for (std::uint64_t i = 0; i < source.images(); ++i) {
    if (errors[i].empty())
      good.push_back(i);
    else if (options.skip_bad)
      fmt::print(stderr, "warning: left out: {}\n", errors[i]);
    else
      throw steps::HintedError(errors[i],
                               "replace or remove it, or leave such images out with "
                               "--skip-bad");
  }
  if (good.empty())
    throw std::runtime_error(fmt::format("{}: no image can be decoded", options.from));
  steps::log_value(part_name(part) + "_bad_images", source.images() - good.size());
  return good;
}

void convert(const ImageOptions& options) {
  const ImageFormat format = steps::find_image_format(options.from, options.from_format);
  for (const ImagePart part : {ImagePart::train, ImagePart::validation})
    if (steps::has_image_part(options.from, format, part)) {
      const auto source = steps::open_images(options.from, format, part, /*threads=*/1);
      const auto reader = source->reader();
      const std::vector<std::uint64_t> good = good_images(options, *source, part);
      write_part(options, part, good.size(), [&](std::uint64_t i) { return reader->at(good[i]); });
    }
}

void generate(const ImageOptions& options) {
  constexpr int quality = 90;
  std::string jpeg;
  std::uint64_t first = 0;
  for (const ImagePart part : {ImagePart::train, ImagePart::validation}) {
    const bool train = part == ImagePart::train;
    const std::uint64_t count = train ? options.images : options.validation_images;
    if (count > 0)
      write_part(options, part, count, [&](std::uint64_t i) {
        jpeg = steps::encode_jpeg(
            noise_image(options.width, options.height, options.seed, first + i), quality);
        return steps::EncodedImage{
            .label = static_cast<std::int64_t>(i % options.classes), .jpeg = jpeg, .name = ""};
      });
    first += count;
  }
}

}  // namespace

int write_images(int argc, char** argv) {
  ImageOptions options;
  if (!read_image_options(argc, argv, options))
    return steps::exit_ok;
  if (options.from.empty())
    generate(options);
  else
    convert(options);
  steps::log_value("result", "ok");
  return steps::exit_ok;
}

}  // namespace bench::dataset
