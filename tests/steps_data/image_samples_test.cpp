#include "data/image_samples.hpp"

#include "data/files.hpp"
#include "data/image_decoder.hpp"
#include "data/image_source.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/image_files.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::FloatNear;

/// Red as given, column by column and the same in all rows; green 0, blue 255.
Image columns(const std::vector<std::uint8_t>& red, std::size_t height) {
  Image image{.width = red.size(), .height = height, .rgb = {}};
  for (std::size_t y = 0; y < height; ++y)
    for (const std::uint8_t value : red)
      for (const std::uint8_t colour : {value, std::uint8_t{0}, std::uint8_t{255}})
        image.rgb.push_back(colour);
  return image;
}

/// Red of the upper row of the result, on the scale 0 to 255 again.
std::vector<float> red_of(const Image& image, const Rectangle& part, std::size_t size,
                          bool mirrored = false) {
  std::vector<float> out(3 * size * size);
  resize_part(image, part, mirrored, size, out);
  std::vector<float> red(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
  for (float& value : red)
    value = (value * 0.229F + 0.485F) * 255;
  return red;
}

auto near(const std::vector<float>& values) {
  return testing::Pointwise(FloatNear(0.01F), values);
}

TEST(ResizePart, KeepsPixelsOfTheRightSize) {
  const Image image = columns({10, 20, 30, 40}, 4);
  EXPECT_THAT(red_of(image, {0, 0, 4, 4}, 4), near({10, 20, 30, 40}));
  EXPECT_THAT(red_of(image, {1, 2, 2, 2}, 2), near({20, 30}));
}

TEST(ResizePart, ChangesLeftAndRight) {
  EXPECT_THAT(red_of(columns({10, 20, 30}, 3), {0, 0, 3, 3}, 3, true), near({30, 20, 10}));
}

// The triangle around 1.0, reach 2, weighs the pixels at 0.5, 1.5, 2.5 with 3/4, 3/4, 1/4.
TEST(ResizePart, TakesAllPixelsIntoAccountWhereItShrinks) {
  EXPECT_THAT(red_of(columns({0, 70, 140, 210}, 4), {0, 0, 4, 4}, 2), near({50, 160}));
}

TEST(ResizePart, IsLinearBetweenPixelsWhereItGrows) {
  EXPECT_THAT(red_of(columns({0, 100}, 2), {0, 0, 2, 2}, 4), near({0, 25, 75, 100}));
}

TEST(ResizePart, LooksAtNothingBesideThePart) {
  EXPECT_THAT(red_of(columns({255, 10, 10, 255}, 4), {1, 0, 2, 4}, 3), near({10, 10, 10}));
}

TEST(ResizePart, NormalisesEachColour) {
  std::vector<float> out(3);
  resize_part(columns({124}, 1), {0, 0, 1, 1}, false, 1, out);
  EXPECT_NEAR(out[0], (124 / 255.0 - 0.485) / 0.229, 1e-5);
  EXPECT_NEAR(out[1], (0 - 0.456) / 0.224, 1e-5);
  EXPECT_NEAR(out[2], (1 - 0.406) / 0.225, 1e-5);
}

TEST(ResizePart, OrdersColoursByPlaneOrByPixel) {
  const Image image = columns({10, 20, 30, 40}, 4);
  const Rectangle all{0, 0, 4, 4};
  std::vector<float> planes(3 * 9);
  std::vector<float> pixels(3 * 9);
  resize_part(image, all, true, 3, planes, PixelOrder::planes);
  resize_part(image, all, true, 3, pixels, PixelOrder::pixels);
  for (std::size_t place = 0; place < 9; ++place)
    for (std::size_t colour = 0; colour < 3; ++colour)
      EXPECT_EQ(pixels[3 * place + colour], planes[9 * colour + place]);
}

TEST(RandomPart, LiesInTheImageWithItsAreaAndRatio) {
  Random random(1);
  double smallest = 1;
  double largest = 0;
  for (int i = 0; i < 1000; ++i) {
    const Rectangle part = random_part(500, 375, random);
    EXPECT_LE(part.left + part.width, 500U);
    EXPECT_LE(part.top + part.height, 375U);
    const double share = static_cast<double>(part.width * part.height) / (500.0 * 375.0);
    const double ratio = static_cast<double>(part.width) / static_cast<double>(part.height);
    EXPECT_LT(std::abs(std::log(ratio)), std::log(4.0 / 3.0) + 0.02);
    smallest = std::min(smallest, share);
    largest = std::max(largest, share);
  }
  EXPECT_NEAR(smallest, 0.08, 0.01);
  EXPECT_GT(largest, 0.9);
}

TEST(RandomPart, ReachesEveryPlace) {
  Random random(2);
  std::set<std::size_t> ends;
  for (int i = 0; i < 2000; ++i) {
    const Rectangle part = random_part(8, 8, random);
    ends.insert(part.left);
    ends.insert(part.left + part.width);
  }
  EXPECT_EQ(ends.size(), 9U);
}

TEST(RandomPart, IsTheMiddleOfAStrip) {
  Random random(3);
  const Rectangle part = random_part(1000, 3, random);
  EXPECT_EQ(part.height, 3U);
  EXPECT_EQ(part.width, 4U);
  EXPECT_EQ(part.left, 498U);
}

TEST(RandomPart, ExistsOfOnePixel) {
  Random random(4);
  EXPECT_EQ(random_part(1, 1, random).width, 1U);
}

TEST(MiddlePart, IsTheInnerSquare) {
  const Rectangle part = middle_part(512, 256);
  EXPECT_EQ(part.left, 144U);
  EXPECT_EQ(part.top, 16U);
  EXPECT_EQ(part.width, 224U);
  EXPECT_EQ(part.height, 224U);
}

constexpr std::size_t side = 16;

std::vector<float> image_of(SampleMaker& maker, std::uint64_t sample) {
  return made(maker, sample).floats_of(0);
}

std::int64_t label_of(SampleMaker& maker, std::uint64_t sample) {
  return made(maker, sample).integers_of(1).front();
}

ImageSampleOptions small_options() {
  return {.size = side, .classes = 6};
}

TEST(ImageFields, LieInTheOrderOfPixelsThatIsChosen) {
  struct Case {
    PixelOrder order;
    std::vector<std::int64_t> shape;
  };
  for (const Case& c :
       {Case{PixelOrder::planes, {3, 16, 16}}, Case{PixelOrder::pixels, {16, 16, 3}}}) {
    ImageSampleOptions options = small_options();
    options.order = c.order;
    const std::vector<Field> expected = {{"image", FieldType::float32, c.shape},
                                         {"label", FieldType::int64, {}}};
    EXPECT_EQ(image_fields(options), expected);
    EXPECT_EQ(synthetic_image_makers(options, 1)[0]->fields(), expected);
  }
}

#ifdef BENCH_STEPS_JPEG

/// 12 images of 6 classes to train on, 6 to evaluate on.
class ImageSamplesTest : public testing::Test {
 protected:
  ImageSamplesTest() { write_dataset(folder_.file("d"), ImageFormat::folder, 12, 6); }

  SampleMakers makers(const ImageSampleOptions& options, int threads = 1) {
    source_ = open_images(folder_.file("d"), ImageFormat::folder, options.part, 1);
    return image_makers(*source_, options, threads);
  }

  /// What a loader with so many threads makes of the samples of one epoch and a half, in batches.
  std::vector<FieldBuffers> loaded(int threads) {
    constexpr std::size_t batch = 6;
    std::vector<FieldBuffers> batches(3, FieldBuffers(image_fields(small_options()), batch));
    SampleLoader loader(makers(small_options(), threads));
    for (std::size_t i = 0; i < batches.size(); ++i)
      loader.request(batch * i, {.fields = batches[i].memory(), .samples = batch});
    for (std::size_t i = 0; i < batches.size(); ++i)
      loader.take();
    return batches;
  }

  Folder folder_;
  std::unique_ptr<ImageSource> source_;
};

TEST_F(ImageSamplesTest, DoNotDependOnTheThreads) {
  const std::vector<FieldBuffers> alone = loaded(1);
  EXPECT_EQ(loaded(3), alone);
  EXPECT_EQ(loaded(8), alone);
}

TEST_F(ImageSamplesTest, HoldEachImageOnceInAnEpoch) {
  const SampleMakers one = makers(small_options());
  EXPECT_EQ(one[0]->samples_per_epoch(), 12U);
  for (const std::uint64_t epoch : {0U, 1U, 2U}) {
    std::map<std::int64_t, int> labels;
    for (std::uint64_t sample = 12 * epoch; sample < 12 * (epoch + 1); ++sample)
      ++labels[label_of(*one[0], sample)];
    EXPECT_EQ(labels.size(), 6U);
    for (const auto& [label, count] : labels)
      EXPECT_EQ(count, 2) << label;
  }
}

TEST_F(ImageSamplesTest, ShowAnotherPartOfAnImageInEachEpoch) {
  const SampleMakers one = makers(small_options());
  std::set<std::vector<float>> different;
  for (std::uint64_t sample = 0; sample < 36; ++sample)
    different.insert(image_of(*one[0], sample));
  EXPECT_EQ(different.size(), 36U);
}

TEST_F(ImageSamplesTest, FollowTheSeed) {
  ImageSampleOptions other = small_options();
  other.seed = 2;
  EXPECT_EQ(image_of(*makers(small_options())[0], 3), image_of(*makers(small_options())[0], 3));
  EXPECT_NE(image_of(*makers(small_options())[0], 3), image_of(*makers(other)[0], 3));
}

TEST_F(ImageSamplesTest, AreTheMiddleOfEachImageInOrderToEvaluate) {
  ImageSampleOptions options = small_options();
  options.part = ImagePart::validation;
  const SampleMakers one = makers(options);
  const auto images = small_images(6, 6);
  for (const std::uint64_t sample : {0U, 4U, 10U}) {
    Image image;
    ImageDecoder().decode(images[sample % 6].jpeg, "test", image);
    std::vector<float> expected(3 * side * side);
    resize_part(image, middle_part(image.width, image.height), false, side, expected);
    EXPECT_EQ(label_of(*one[0], sample), images[sample % 6].label);
    EXPECT_EQ(image_of(*one[0], sample), expected);
  }
}

TEST_F(ImageSamplesTest, CountClassesFromTheFirstLabel) {
  ImageSampleOptions options = small_options();
  options.part = ImagePart::validation;
  options.classes = 7;
  options.first_label = 1;
  const SampleMakers one = makers(options);
  EXPECT_EQ(label_of(*one[0], 0), 1);
  EXPECT_EQ(label_of(*one[0], 5), 6);
}

TEST_F(ImageSamplesTest, NeedAPlaceForEachClass) {
  ImageSampleOptions options = small_options();
  options.first_label = 1;
  EXPECT_EQ(message_of<UsageError>([&] { makers(options); }),
            "the data set has 6 classes, of which 5 have a place");
}

TEST(ImageSamples, ShowTheSameWhereTheDecoderShrinksTheImage) {
  const Folder folder;
  Image image{.width = 320, .height = 240, .rgb = {}};
  for (std::size_t y = 0; y < image.height; ++y)
    for (std::size_t x = 0; x < image.width; ++x)
      for (const std::size_t value : {x / 2, y, (x + y) / 3})
        image.rgb.push_back(static_cast<std::uint8_t>(value));
  const std::string jpeg = encode_jpeg(image, 95);
  write_part(folder.file(""), ImageFormat::folder, ImagePart::train, {{0, jpeg}});
  write_part(folder.file(""), ImageFormat::folder, ImagePart::validation, {{0, jpeg}});
  const auto source = open_images(folder.file(""), ImageFormat::folder, ImagePart::validation, 1);
  ImageSampleOptions options = small_options();  // of 210 pixels 16 are made: by 8 first
  options.part = ImagePart::validation;
  std::vector<float> expected(3 * side * side);
  ImageDecoder().decode(jpeg, "test", image);
  resize_part(image, middle_part(320, 240), false, side, expected);
  // Half a pixel of the shrunk image, 4 columns or rows, is up to 4 of 255 in these colours.
  EXPECT_THAT(image_of(*image_makers(*source, options, 1)[0], 0),
              testing::Pointwise(FloatNear(5.0F / 255 / 0.224F), expected));
}

TEST(ImageSamples, NameAnImageWithoutAPlaceForItsClass) {
  const Folder folder;
  write_part(folder.file(""), ImageFormat::tfrecord, ImagePart::train, small_images(1, 1), 1);
  const auto source = open_images(folder.file(""), ImageFormat::tfrecord, ImagePart::train, 1);
  const SampleMakers one = image_makers(*source, {.size = side, .classes = 1, .first_label = 1}, 1);
  EXPECT_EQ(message_of<DataError>([&] { image_of(*one[0], 0); }),
            folder.file("train-00000-of-00001") +
                ": byte 0: label 0 is score 1 with --first-label 1, but there are 1 classes");
}

TEST(ImageSamples, SayHowManyClassesTheirImageNeeds) {
  const Folder folder;
  write_part(folder.file(""), ImageFormat::tfrecord, ImagePart::train, {{4, "x"}}, 1);
  const auto source = open_images(folder.file(""), ImageFormat::tfrecord, ImagePart::train, 1);
  struct Case {
    std::int64_t first_label;
    std::string message;
    std::string hint;
  };
  const Case cases[] = {
      {0, "label 4, but there are 3 classes",
       "use --classes 5 or more, as many as the data set has"},
      {1, "label 4 is score 5 with --first-label 1, but there are 3 classes",
       "use --classes 6 or more, as many as the data set has, or --first-label 0"},
  };
  for (const Case& c : cases) {
    const SampleMakers one =
        image_makers(*source, {.size = side, .classes = 3, .first_label = c.first_label}, 1);
    try {
      image_of(*one[0], 0);
      FAIL() << "nothing noticed";
    } catch (const DataError& error) {
      EXPECT_EQ(error.what(), folder.file("train-00000-of-00001") + ": byte 0: " + c.message);
      EXPECT_EQ(error.hint(), c.hint);
    }
  }
}

TEST(ImageSamples, NameAnImageThatIsNone) {
  const Folder folder;
  write_part(folder.file(""), ImageFormat::folder, ImagePart::train, {{0, "no image"}});
  const auto source = open_images(folder.file(""), ImageFormat::folder, ImagePart::train, 1);
  const SampleMakers one = image_makers(*source, small_options(), 1);
  EXPECT_THAT(message_of<DataError>([&] { image_of(*one[0], 0); }),
              testing::StartsWith(folder.file("train/00000/00000000.jpg") + ": Not a JPEG file"));
}

#endif

TEST(SyntheticImageMakers, DrawFromTheCutDistribution) {
  ImageSampleOptions options = small_options();
  options.size = 128;
  const SampleMakers one = synthetic_image_makers(options, 1);
  const std::vector<float> values = image_of(*one[0], 5);
  const std::vector<float> red(values.begin(), values.begin() + 128 * 128);
  const auto pixel = [](float value) { return (value * 0.229F + 0.485F) * 255; };
  double sum = 0;
  double squares = 0;
  for (const float value : red) {
    EXPECT_NEAR(pixel(value), 127, 120.01);
    sum += pixel(value);
    squares += std::pow(pixel(value) - 127, 2);
  }
  const auto count = static_cast<double>(red.size());
  EXPECT_NEAR(sum / count, 127, 2);
  // A normal distribution cut at two deviations keeps 0.880 of its deviation.
  EXPECT_NEAR(std::sqrt(squares / count), 60 * 0.880, 1.5);
}

TEST(SyntheticImageMakers, NormaliseEachColourInBothOrders) {
  constexpr std::size_t pixels = 64 * 64;
  ImageSampleOptions options = small_options();
  options.size = 64;
  const float darkest_blue = (7.0F / 255 - 0.406F) / 0.225F;
  for (const PixelOrder order : {PixelOrder::planes, PixelOrder::pixels}) {
    options.order = order;
    const std::vector<float> values = image_of(*synthetic_image_makers(options, 1)[0], 0);
    float least = values[2];
    for (std::size_t pixel = 0; pixel < pixels; ++pixel)
      least = std::min(
          least, order == PixelOrder::planes ? values[2 * pixels + pixel] : values[3 * pixel + 2]);
    EXPECT_THAT(least, FloatNear(darkest_blue, 0.02F));
  }
}

TEST(SyntheticImageMakers, DrawTheSameImageInBothOrders) {
  ImageSampleOptions options = small_options();
  const std::vector<float> planes = image_of(*synthetic_image_makers(options, 1)[0], 3);
  options.order = PixelOrder::pixels;
  const std::vector<float> pixels = image_of(*synthetic_image_makers(options, 1)[0], 3);
  const std::size_t plane = pixels.size() / 3;
  for (std::size_t pixel = 0; pixel < plane; ++pixel)
    for (std::size_t colour = 0; colour < 3; ++colour)
      ASSERT_EQ(pixels[3 * pixel + colour], planes[colour * plane + pixel]);
}

TEST(SyntheticImageMakers, FollowSeedAndNumberAlone) {
  const SampleMakers two = synthetic_image_makers(small_options(), 2);
  ImageSampleOptions other = small_options();
  other.seed = 2;
  EXPECT_EQ(image_of(*two[0], 9), image_of(*two[1], 9));
  EXPECT_NE(image_of(*two[0], 9), image_of(*two[0], 10));
  EXPECT_NE(image_of(*two[0], 9), image_of(*synthetic_image_makers(other, 1)[0], 9));
}

TEST(SyntheticImageMakers, UseEveryLabel) {
  const SampleMakers one = synthetic_image_makers(small_options(), 1);
  std::set<std::int64_t> labels;
  for (std::uint64_t sample = 0; sample < 200; ++sample)
    labels.insert(label_of(*one[0], sample));
  EXPECT_THAT(labels, testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace bench::steps
