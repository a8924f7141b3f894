// The real program `dataset images`.

#include "data/image_source.hpp"
#include "dataset/writers.hpp"
#include "step_programs/program_runner.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::dataset {
namespace {

using steps::Folder;
using steps::ImagePart;
using steps::Outcome;
using testing::HasSubstr;

Outcome write_images(const std::string& arguments) {
  return steps::run_in_shell(DATASET_PROGRAM, "images " + arguments);
}

#ifdef BENCH_STEPS_JPEG

/// Labels and files of all images of a part, in one text.
std::string content(const std::string& folder, ImagePart part) {
  const auto source = steps::open_images(folder, steps::find_image_format(folder, "auto"), part, 1);
  const auto reader = source->reader();
  std::string text;
  for (std::uint64_t i = 0; i < source->images(); ++i) {
    const steps::EncodedImage image = reader->at(i);
    text += std::to_string(image.label) + " " + std::string(image.jpeg);
  }
  return text;
}

TEST(DatasetImages, KeepsImagesFromFormatToFormat) {
  const Folder folder;
  std::vector<std::string> formats = {"tfrecord", "folder"};
#ifdef BENCH_STEPS_LMDB
  formats.emplace_back("lmdb");
#endif
  const Outcome noise =
      write_images("--images 6 --validation-images 2 --classes 2 --width 40 --height 30 --to " +
                   folder.file("noise") + " --to-format folder");
  ASSERT_EQ(noise.exit_code, 0) << noise.err;
  EXPECT_EQ(noise.value("train_images"), "6");
  EXPECT_EQ(noise.value("validation_images"), "2");
  for (std::string from = folder.file("noise"); const std::string& format : formats) {
    const std::string to = folder.file(format);
    const std::string shards = format == "tfrecord" ? "--images-per-shard 4 " : "";
    const Outcome outcome =
        write_images(shards + "--from " + from + " --to " + to + " --to-format " + format);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.value("train_jpeg_bytes"), noise.value("train_jpeg_bytes"));
    for (const ImagePart part : {ImagePart::train, ImagePart::validation})
      EXPECT_EQ(content(to, part), content(folder.file("noise"), part)) << format;
    from = to;
  }
  EXPECT_EQ(steps::find_shards(folder.file("tfrecord"), ImagePart::train).size(), 2U);
}

/// A folder of three images in two classes, of which one is not an image.
void write_with_a_bad_one(const std::string& folder) {
  write_images("--images 3 --classes 2 --width 40 --height 30 --to-format folder --to " + folder);
  std::ofstream(folder + "/train/00000/00000002.jpg") << "no image";
}

TEST(DatasetImages, EndsAtAnImageThatCannotBeDecoded) {
  const Folder folder;
  write_with_a_bad_one(folder.file("bad"));
  const Outcome outcome = write_images("--from " + folder.file("bad") +
                                       " --to-format tfrecord --to " + folder.file("t"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("train/00000/00000002.jpg: Not a JPEG file"));
  EXPECT_THAT(outcome.err, HasSubstr("--skip-bad"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("t"))) << "before anything is written";
}

TEST(DatasetImages, LeavesBadImagesOutAndCountsThem) {
  const Folder folder;
  write_with_a_bad_one(folder.file("bad"));
  const Outcome outcome =
      write_images("--skip-bad --images-per-shard 1 --from " + folder.file("bad") +
                   " --to-format tfrecord --to " + folder.file("t"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("train_bad_images"), "1");
  EXPECT_EQ(outcome.value("train_images"), "2");
  EXPECT_THAT(outcome.err, HasSubstr("warning: left out: "));
  EXPECT_EQ(steps::open_images(folder.file("t"), steps::ImageFormat::tfrecord, ImagePart::train, 1)
                ->images(),
            2U);
}

#endif

TEST(DatasetImages, RefusesWrongArguments) {
  const Folder folder;
  const std::string to = " --to-format folder --to " + folder.file("d");
  struct Case {
    std::string arguments;
    const char* message;
  };
  const Case cases[] = {
      {to, "nothing to write"},
      {"--images 3 --images-per-shard 2" + to, "--images-per-shard has no effect on folder"},
      {"--images 3", "--to is required"},
      {"--images 3 --from x" + to, "--from excludes --images"},
      {"--from /nowhere/set" + to, "cannot read /nowhere/set"},
      {"--images 3 --to-format folder --to /proc/d", "cannot write /proc/d: "},
  };
  for (const Case& c : cases) {
    const Outcome outcome = write_images(c.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr(c.message)) << c.arguments;
  }
}

TEST(NoiseImage, FollowsSeedAndNumber) {
  const steps::Image image = noise_image(30, 20, 1, 5);
  EXPECT_EQ(image.width, 30U);
  EXPECT_EQ(image.rgb.size(), 3U * 30 * 20);
  EXPECT_EQ(image.rgb, noise_image(30, 20, 1, 5).rgb);
  EXPECT_NE(image.rgb, noise_image(30, 20, 1, 6).rgb);
  EXPECT_NE(image.rgb, noise_image(30, 20, 2, 5).rgb);
}

}  // namespace
}  // namespace bench::dataset
