#include "data/image_source.hpp"
#include "data/staging.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "support/message_of.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Empty files: only names are looked at.
void touch_all(const Folder& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::filesystem::path path = folder.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path};
  }
}

struct FormatCase {
  std::string name;
  std::vector<std::string> files;
  ImageFormat format;
};
class FindImageFormatTest : public testing::TestWithParam<FormatCase> {};

TEST_P(FindImageFormatTest, RecognisesItsNames) {
  const Folder folder;
  touch_all(folder, GetParam().files);
  EXPECT_EQ(find_image_format(folder.file(""), "auto"), GetParam().format);
  EXPECT_EQ(find_image_format(folder.file(""), image_format_name(GetParam().format)),
            GetParam().format);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, FindImageFormatTest,
    testing::Values(
        FormatCase{"TfRecord", {"train-00000-of-00002", "README"}, ImageFormat::tfrecord},
        FormatCase{"Lmdb", {"train/data.mdb", "val/data.mdb"}, ImageFormat::lmdb},
        FormatCase{"Folder", {"train/n01/1.jpg", "val/n01/2.jpg"}, ImageFormat::folder}),
    [](const auto& instance) { return instance.param.name; });

TEST(FindImageFormat, SaysWhatItDoesNotFind) {
  const Folder folder;
  const auto message = [&](const std::string& wanted) {
    return message_of<UsageError>([&] { find_image_format(folder.file("d"), wanted); });
  };
  EXPECT_EQ(message("auto"), "cannot read " + folder.file("d") + ": No such file or directory");
  touch_all(folder, {"d/train-0-of-2", "d/train-00002-of-00002", "d/train-0000x-of-00002",
                     "d/validation-00000-of-00001", "d/train/1.jpg"});
  EXPECT_EQ(message("auto"), folder.file("d") + " holds no images in a known order");
  EXPECT_EQ(message("lmdb"), folder.file("d") + " holds no images in the order of lmdb");
}

TEST(FindImageFormat, DoesNotChooseBetweenTwo) {
  const Folder folder;
  touch_all(folder, {"train-00000-of-00001", "train/data.mdb"});
  EXPECT_THAT(message_of<UsageError>([&] { find_image_format(folder.file(""), "auto"); }),
              HasSubstr("holds a data set in the order of tfrecord and lmdb"));
  EXPECT_EQ(find_image_format(folder.file(""), "lmdb"), ImageFormat::lmdb);
}

TEST(FindShards, AreInTheOrderOfTheirNumbers) {
  const Folder folder;
  touch_all(folder, {"d/train-00001-of-00003", "d/train-00000-of-00003", "d/train-00002-of-00003",
                     "d/validation-00000-of-00001"});
  EXPECT_THAT(
      find_shards(folder.file("d"), ImagePart::train),
      ElementsAre(folder.file("d/train-00000-of-00003"), folder.file("d/train-00001-of-00003"),
                  folder.file("d/train-00002-of-00003")));
  EXPECT_EQ(find_shards(folder.file("d"), ImagePart::validation).size(), 1U);
}

TEST(FindShards, MustBeCompleteAndOfOneWriting) {
  const Folder folder;
  const auto message = [&] {
    return message_of<UsageError>([&] { find_shards(folder.file("d"), ImagePart::train); });
  };
  touch_all(folder, {"d/train-00000-of-00003", "d/train-00002-of-00003"});
  EXPECT_EQ(message(), folder.file("d") + ": train-00001-of-00003 is missing");
  touch_all(folder, {"d/train-00001-of-00004"});
  EXPECT_EQ(message(),
            folder.file("d") + ": train-00001-of-00004 is not one of 3 files, as others are");
}

TEST(ImageDatasetFiles, AreThoseOfBothParts) {
  const Folder folder;
  touch_all(folder, {"t/train-00000-of-00001", "t/validation-00000-of-00001", "t/README",
                     "l/train/data.mdb", "l/train/lock.mdb", "l/val/data.mdb", "f/train/a/1.jpg",
                     "f/train/a/notes.txt", "f/val/a/2.JPEG"});
  std::filesystem::create_directories(folder.file("f/train/b"));
  const FileList shards = image_dataset_files(folder.file("t"), ImageFormat::tfrecord);
  EXPECT_THAT(shards.folders, IsEmpty());
  EXPECT_THAT(shards.files, ElementsAre("train-00000-of-00001", "validation-00000-of-00001"));
  const FileList lmdb = image_dataset_files(folder.file("l"), ImageFormat::lmdb);
  EXPECT_THAT(lmdb.folders, ElementsAre("train", "val"));
  EXPECT_THAT(lmdb.files, ElementsAre("train/data.mdb", "val/data.mdb"));
  const FileList classes = image_dataset_files(folder.file("f"), ImageFormat::folder);
  EXPECT_THAT(classes.folders, ElementsAre("train", "train/a", "train/b", "val", "val/a"));
  EXPECT_THAT(classes.files, ElementsAre("train/a/1.jpg", "val/a/2.JPEG"));
}

}  // namespace
}  // namespace bench::steps
