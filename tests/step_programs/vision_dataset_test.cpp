// The real program `vision` on images that lie on disk, and on those made on the host.

#include "data/tfrecord.hpp"
#include "step_programs/linked_programs.hpp"
#include "steps_data/image_files.hpp"

#include <fstream>
#include <string>

#include <gmock/gmock.h>

namespace bench::vision {
namespace {

using steps::Folder;
using steps::ImageFormat;
using steps::ImagePart;
using steps::Outcome;
using testing::HasSubstr;

/// @param before shell words in front of the program, for example a limit
Outcome train(const std::string& arguments, const std::string& before = "", int classes = 3) {
  return steps::run_step(VISION_PROGRAM,
                         "--model resnet18 --image-size 32 --batch-size 2 --threads 1 --device cpu "
                         "--warmup 0 --classes " +
                             std::to_string(classes) + " " + arguments,
                         before);
}

std::string all_losses(const Outcome& outcome) {
  return outcome.value("first_loss") + " " + outcome.value("final_loss") + " " +
         outcome.value("evaluation_loss");
}

TEST(VisionOnTheHost, DrawsNewImagesForEachStep) {
  const std::string arguments = "--synthetic host --steps 3 --eval-steps 1 --loader-threads ";
  const Outcome one = train(arguments + "1");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.value("dataset"), "synthetic_host");
  EXPECT_EQ(one.value("loader_threads"), "1");
  EXPECT_GT(one.number("loader_images_per_second_per_thread"), 0);
  EXPECT_EQ(all_losses(one), all_losses(train(arguments + "3 --prefetch 1")));
  const Outcome device = train("--steps 3");
  EXPECT_EQ(device.value("dataset"), "synthetic_device");
  EXPECT_EQ(device.value("loader_threads"), "");
}

#ifdef BENCH_STEPS_JPEG

std::uintmax_t bytes_below(const std::string& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "lock.mdb")
      bytes += entry.file_size();
  return bytes;
}

/// Overwrites what stands there.
void damage(const std::string& file, std::streamoff offset, const std::string& bytes) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(offset);
  stream << bytes;
}

class VisionDatasetTest : public testing::TestWithParam<ImageFormat> {};

TEST_P(VisionDatasetTest, TrainsAndEvaluatesAlikeInEveryFormat) {
  const Folder folder;
  steps::write_dataset(folder.file("set"), GetParam(), 12, 3);
  steps::write_dataset(folder.file("other"), ImageFormat::folder, 12, 3);
  const std::string arguments = "--steps 4 --eval-steps 3 --data-path " + folder.file("");
  const Outcome outcome = train(arguments + "set --loader-threads 3");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_EQ(outcome.value("dataset"), folder.file("set"));
  EXPECT_EQ(outcome.value("dataset_format"), steps::image_format_name(GetParam()));
  EXPECT_EQ(outcome.value("dataset_images"), "12");
  EXPECT_EQ(outcome.value("evaluation_dataset_images"), "6");
  EXPECT_EQ(outcome.value("first_label"), "0");
  EXPECT_NEAR(outcome.number("dataset_epochs"), 8 / 12.0, 1e-6);
  EXPECT_EQ(all_losses(outcome),
            all_losses(train(arguments + "other --loader-threads 1 --prefetch 1")));
}

INSTANTIATE_TEST_SUITE_P(Formats, VisionDatasetTest, testing::ValuesIn(steps::built_formats()),
                         [](const auto& instance) {
                           return steps::image_format_name(instance.param);
                         });

TEST(VisionDataset, IsTrainedOnForEpochs) {
  const Folder folder;
  steps::write_dataset(folder.file("set"), ImageFormat::folder, 3, 3);
  const Outcome outcome =
      train("--epochs 3 --eval-epochs 2 --eval-steps 1 --data-path " + folder.file("set"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("steps_per_epoch"), "2");
  EXPECT_EQ(outcome.value("measured_steps"), "6");
  EXPECT_EQ(outcome.value("epochs"), "3");
  EXPECT_EQ(outcome.numbers("evaluation_loss").size(), 1U);
}

TEST(VisionDataset, RefusesWhatCannotBeTrainedOn) {
  const Folder folder;
  std::filesystem::create_directories(folder.file("empty"));
  steps::write_part(folder.file("set/"), ImageFormat::folder, ImagePart::train,
                    steps::small_images(4, 4));
  struct Case {
    std::string arguments;
    std::string message;
  };
  const Case cases[] = {
      {"--data-path /nowhere/set", "cannot read /nowhere/set: No such file or directory"},
      {"--data-path " + folder.file("empty"), "empty holds no images in a known order"},
      {"--data-format lmdb --data-path " + folder.file("set"), "no images in the order of lmdb"},
      {"--data-format hdf5 --data-path x", "--data-format: hdf5 not in {auto,tfrecord,lmdb,folder"},
      {"--eval-steps 1 --data-path " + folder.file("set"), "set has no images to evaluate on"},
      {"--data-path " + folder.file("set"), "has 4 classes, of which 3 have a place\nhint: use "},
      {"--synthetic host --data-path x", "--data-path excludes --synthetic"},
      {"--stage-to x", "--stage-to requires --data-path"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = train("--steps 1 " + c.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr(c.message)) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr("\nhint: ")) << c.arguments;
  }
}

TEST(VisionDataset, EndsAtADamagedRecordWithFileAndOffset) {
  const Folder folder;
  steps::write_part(folder.file(""), ImageFormat::tfrecord, ImagePart::train,
                    steps::small_images(4, 2));
  const std::string file = folder.file("train-00000-of-00001");
  const std::uint64_t second = steps::TfRecordFile(file).record_offsets()[1];
  damage(file, static_cast<std::streamoff>(second) + 100, "damage");
  const Outcome outcome = train("--steps 10 --data-path " + folder.file(""));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.value("result"), "failed");
  EXPECT_THAT(outcome.err, HasSubstr("vision: error: " + file + ": byte " + std::to_string(second) +
                                     ": record has a wrong checksum of its content\n"));
}

TEST(VisionDataset, EndsAtACutImageWithItsFile) {
  const Folder folder;
  steps::write_part(folder.file(""), ImageFormat::folder, ImagePart::train,
                    steps::small_images(4, 2));
  std::filesystem::resize_file(folder.file("train/00001/00000003.jpg"), 600);
  const Outcome outcome = train("--steps 10 --data-path " + folder.file(""));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.value("result"), "failed");
  EXPECT_THAT(outcome.err, HasSubstr(folder.file("train/00001/00000003.jpg") + ": "));
}

TEST(VisionDataset, LeavesOneOf1001ClassesToTheBackground) {
  const Folder folder;
  steps::write_part(folder.file(""), ImageFormat::tfrecord, ImagePart::train,
                    steps::small_images(4, 2));
  const std::string arguments = "--steps 1 --data-path " + folder.file("");
  EXPECT_EQ(train(arguments, "", 1001).value("first_label"), "1");
  EXPECT_EQ(train(arguments + " --first-label 0", "", 1001).value("first_label"), "0");
}

TEST(VisionStaging, CopiesOnceAndUsesTheCopyAgain) {
  const Folder folder;
  steps::write_dataset(folder.file("set"), ImageFormat::folder, 6, 3);
  const std::string arguments =
      "--steps 1 --data-path " + folder.file("set") + " --stage-to " + folder.file("disk");
  const Outcome first = train(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.value("staged_bytes"), std::to_string(bytes_below(folder.file("set"))));
  EXPECT_GT(first.number("staging_s"), 0);
  EXPECT_EQ(first.value("dataset"), folder.file("set"));
  const std::string copy = first.value("staged_folder");
  EXPECT_THAT(copy, testing::StartsWith(folder.file("disk/set-")));
  EXPECT_EQ(bytes_below(copy), bytes_below(folder.file("set")));
  const Outcome second = train(arguments);
  EXPECT_EQ(second.value("staged_folder"), copy);
  EXPECT_EQ(second.value("staged_bytes"), "0");
  EXPECT_EQ(all_losses(second), all_losses(first));
}

TEST(VisionStaging, IsReadInPlaceOfTheOriginal) {
  const Folder folder;
  steps::write_dataset(folder.file("set"), ImageFormat::folder, 6, 3);
  const std::string arguments =
      "--steps 3 --data-path " + folder.file("set") + " --stage-to " + folder.file("disk");
  const std::string copy = train(arguments).value("staged_folder");
  damage(copy + "/train/00001/00000002.jpg", 0, "damage");  // of the same length
  EXPECT_THAT(train(arguments).err, HasSubstr(copy + "/train/00001/00000002.jpg: "));
}

TEST(VisionStaging, LeavesNothingHalfWrittenBehind) {
  const Folder folder;
  std::filesystem::create_directories(folder.file("set"));
  steps::write_part(folder.file("set"), ImageFormat::tfrecord, ImagePart::train,
                    steps::small_images(100, 3));
  ASSERT_GT(bytes_below(folder.file("set")), 60'000U);
  const Outcome outcome =
      train("--steps 1 --data-path " + folder.file("set") + " --stage-to " + folder.file("disk"),
            "trap '' XFSZ; ulimit -f 100; ");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.value("result"), "failed");
  EXPECT_THAT(outcome.err, HasSubstr("error: cannot copy " + folder.file("set")));
  EXPECT_THAT(outcome.err, HasSubstr("File too large"));
  EXPECT_EQ(bytes_below(folder.file("disk")), 0U);
}

#endif

}  // namespace
}  // namespace bench::vision
