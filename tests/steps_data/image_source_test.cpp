#include "data/image_source.hpp"

#include "data/example.hpp"
#include "data/files.hpp"
#include "data/staging.hpp"
#include "data/tfrecord.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/image_files.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
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
TEST(FindImageFormat, RecognisesItsNames) {
  const FormatCase cases[] = {
      {"TfRecord", {"train-00000-of-00002", "README"}, ImageFormat::tfrecord},
      {"Lmdb", {"train/data.mdb", "val/data.mdb"}, ImageFormat::lmdb},
      {"Folder", {"train/n01/1.jpg", "val/n01/2.jpg"}, ImageFormat::folder}};
  for (const FormatCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    touch_all(folder, c.files);
    EXPECT_EQ(find_image_format(folder.file(""), "auto"), c.format);
    EXPECT_EQ(find_image_format(folder.file(""), image_format_name(c.format)), c.format);
  }
}

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

void touch(const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << 'x';
}

TEST(ImageFolder, LabelsFilesByTheirFolder) {
  const Folder folder;
  for (const char* name : {"zebra/1.jpg", "ant/2.JPG", "ant/10.jpeg", "Bee/3.Jpeg"})
    touch(folder.file(std::string("d/") + name));
  const ImageFolder found = find_images(folder.file("d"));
  EXPECT_THAT(found.classes, ElementsAre("Bee", "ant", "zebra"));
  std::vector<std::string> files;
  std::vector<std::int64_t> labels;
  for (const ImageFolder::File& file : found.files) {
    files.push_back(file.path);
    labels.push_back(file.label);
  }
  EXPECT_THAT(files, ElementsAre(folder.file("d/Bee/3.Jpeg"), folder.file("d/ant/10.jpeg"),
                                 folder.file("d/ant/2.JPG"), folder.file("d/zebra/1.jpg")));
  EXPECT_THAT(labels, ElementsAre(0, 1, 1, 2));
}

TEST(ImageFolder, PassesOverWhatIsNoImageOfAClass) {
  const Folder folder;
  for (const char* name : {"a/1.jpg", "a/2.gif", "a/jpg", "a/deep/3.jpg", "4.jpg"})
    touch(folder.file(std::string("d/") + name));
  const ImageFolder found = find_images(folder.file("d"));
  ASSERT_EQ(found.files.size(), 1U);
  EXPECT_EQ(found.files[0].path, folder.file("d/a/1.jpg"));
}

TEST(ImageFolder, TakesPngFilesToo) {
  const Folder folder;
  touch(folder.file("d/a/1.PNG"));
  EXPECT_EQ(find_images(folder.file("d")).files.size(), 1U);
}

TEST(ImageFolder, NamesALinkToNothing) {
  const Folder folder;
  touch(folder.file("d/a/1.jpg"));
  std::filesystem::create_symlink("1.jpg", folder.file("d/a/2.jpg"));
  EXPECT_EQ(find_images(folder.file("d")).files.size(), 2U);
  std::filesystem::create_symlink("/nowhere/x.jpg", folder.file("d/a/3.jpg"));
  EXPECT_EQ(message_of<UsageError>([&] { find_images(folder.file("d")); }),
            folder.file("d/a/3.jpg") + " is a link to /nowhere/x.jpg, which does not exist");
}

TEST(ImageFolder, CountsAnEmptyClass) {
  const Folder folder;
  touch(folder.file("d/b/1.jpg"));
  std::filesystem::create_directories(folder.file("d/a"));
  EXPECT_EQ(find_images(folder.file("d")).files[0].label, 1);
}

TEST(ImageFolder, MustHaveImages) {
  const Folder folder;
  touch(folder.file("d/1.jpg"));
  EXPECT_THROW(find_images(folder.file("d")), UsageError);
}

TEST(ImageFolder, SaysThatItIsMissing) {
  EXPECT_EQ(message_of<UsageError>([] { find_images("/nowhere/d"); }),
            "cannot read /nowhere/d: No such file or directory");
}

#ifdef BENCH_STEPS_JPEG

class ImageSourceTest : public testing::TestWithParam<ImageFormat> {};

TEST_P(ImageSourceTest, ReadsBothPartsInAnyOrder) {
  const Folder folder;
  write_dataset(folder.file("d"), GetParam(), 20, 4);
  for (const ImagePart part : {ImagePart::train, ImagePart::validation}) {
    const auto expected = small_images(part == ImagePart::train ? 20 : 10, 4);
    const auto source = open_images(folder.file("d"), GetParam(), part, 2);
    ASSERT_EQ(source->images(), expected.size());
    const auto reader = source->reader();
    for (const std::uint64_t i : {9U, 0U, 3U}) {
      const EncodedImage image = reader->at(i);
      EXPECT_EQ(image.label, expected[i].label) << i;
      EXPECT_EQ(image.jpeg, expected[i].jpeg) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ImageSourceTest, testing::ValuesIn(built_formats()),
                         [](const auto& instance) { return image_format_name(instance.param); });

TEST(TfRecordImages, NameFileAndOffset) {
  const Folder folder;
  write_part(folder.file(""), ImageFormat::tfrecord, ImagePart::train, small_images(4, 2), 2);
  const auto source = open_images(folder.file(""), ImageFormat::tfrecord, ImagePart::train, 1);
  EXPECT_EQ(source->bytes(), std::filesystem::file_size(folder.file("train-00000-of-00002")) +
                                 std::filesystem::file_size(folder.file("train-00001-of-00002")));
  EXPECT_FALSE(source->classes());
  const auto offsets = TfRecordFile(folder.file("train-00001-of-00002")).record_offsets();
  ASSERT_EQ(offsets.size(), 2U);
  EXPECT_EQ(source->reader()->at(3).name,
            folder.file("train-00001-of-00002") + ": byte " + std::to_string(offsets[1]));
}

struct BadRecordCase {
  std::string name;
  Example example;
  std::string message;
};
TEST(BadRecord, IsNamed) {
  const BadRecordCase cases[] = {
      {"NoImage", {{"image/class/label", Int64List{1}}}, "record without one image/encoded"},
      {"NoLabel", {{"image/encoded", BytesList{"x"}}}, "record without one image/class/label"},
      {"LabelsOfTwoKinds",
       {{"image/class/label", FloatList{1}}, {"image/encoded", BytesList{"x"}}},
       "record without one image/class/label"},
      {"Background",
       {{"image/class/label", Int64List{0}}, {"image/encoded", BytesList{"x"}}},
       "label 0, but classes count from 1"}};
  for (const BadRecordCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    const std::string file = folder.file("train-00000-of-00001");
    TfRecordWriter writer(file);
    writer.add(write_example(c.example));
    writer.finish();
    const auto source = open_images(folder.file(""), ImageFormat::tfrecord, ImagePart::train, 1);
    EXPECT_EQ(message_of<DataError>([&] { source->reader()->at(0); }),
              folder.file("train-00000-of-00001") + ": byte 0: " + c.message);
  }
}

TEST(TfRecordImages, NoticeACutFileBeforeTheFirstImage) {
  const Folder folder;
  write_part(folder.file(""), ImageFormat::tfrecord, ImagePart::train, small_images(6, 2), 1);
  const std::string file = folder.file("train-00000-of-00001");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  EXPECT_THAT(message_of<DataError>([&] {
                open_images(folder.file(""), ImageFormat::tfrecord, ImagePart::train, 1);
              }),
              HasSubstr("ends behind the end of the file"));
}

TEST(TfRecordImages, HaveNoEmptyFileBesideFullOnes) {
  const Folder folder;
  write_part(folder.file(""), ImageFormat::tfrecord, ImagePart::train, small_images(6, 2), 3);
  std::ofstream(folder.file("train-00001-of-00003")).close();
  EXPECT_EQ(message_of<DataError>(
                [&] { open_images(folder.file(""), ImageFormat::tfrecord, ImagePart::train, 1); }),
            folder.file("train-00001-of-00003") +
                ": byte 0: the file is empty, and another has 2 images");
  for (const char* other : {"train-00000-of-00003", "train-00002-of-00003"})
    std::ofstream(folder.file(other)).close();
  EXPECT_EQ(
      message_of<DataError>(
          [&] { open_images(folder.file(""), ImageFormat::tfrecord, ImagePart::train, 1); }),
      folder.file("train-00000-of-00003") + ": byte 0: the file is empty, and so are all others");
}

TEST(FolderImages, AreLabelledByTheTrainingPart) {
  const Folder folder;
  const auto images = small_images(4, 2);
  write_part(folder.file(""), ImageFormat::folder, ImagePart::train, images);
  write_part(folder.file(""), ImageFormat::folder, ImagePart::validation,
             {images.back()});  // of class 1 alone
  const auto source = open_images(folder.file(""), ImageFormat::folder, ImagePart::validation, 1);
  EXPECT_EQ(source->classes(), 2);
  EXPECT_EQ(source->reader()->at(0).label, 1);
}

TEST(FolderImages, HaveNoClassThatIsNotTrained) {
  const Folder folder;
  write_part(folder.file(""), ImageFormat::folder, ImagePart::train, small_images(4, 2));
  write_part(folder.file(""), ImageFormat::folder, ImagePart::validation, small_images(4, 3));
  EXPECT_EQ(message_of<UsageError>([&] {
              open_images(folder.file(""), ImageFormat::folder, ImagePart::validation, 1);
            }),
            folder.file("val") + " has a class 00002, which " + folder.file("train") + " has not");
}

TEST(FolderImages, SayThatAFileIsGone) {
  const Folder folder;
  write_part(folder.file(""), ImageFormat::folder, ImagePart::train, small_images(2, 1));
  const auto source = open_images(folder.file(""), ImageFormat::folder, ImagePart::train, 1);
  std::filesystem::remove(folder.file("train/00000/00000001.jpg"));
  EXPECT_EQ(message_of<DataError>([&] { source->reader()->at(1); }),
            folder.file("train/00000/00000001.jpg") + ": cannot be read");
}

#endif

TEST(ImageWriter, DividesImagesAmongShardsInTheirOrder) {
  const Folder folder;
  const auto writer =
      make_image_writer(folder.file("d"), ImageFormat::tfrecord, ImagePart::train, 3, 5);
  for (const std::int64_t label : {7, 8, 9})
    writer->add(label, "jpeg");
  writer->finish();
  EXPECT_EQ(find_shards(folder.file("d"), ImagePart::train).size(), 5U);
  const auto source = open_images(folder.file("d"), ImageFormat::tfrecord, ImagePart::train, 1);
  ASSERT_EQ(source->images(), 3U);
  const auto reader = source->reader();
  for (const std::uint64_t i : {0U, 1U, 2U})
    EXPECT_EQ(reader->at(i).label, static_cast<std::int64_t>(7 + i));
}

TEST(ImageWriter, LeavesWhatIsThere) {
  const Folder folder;
  const auto make = [&] {
    return make_image_writer(folder.file("d"), ImageFormat::folder, ImagePart::train, 1, 1);
  };
  make()->add(0, "jpeg");
  EXPECT_EQ(message_of<UsageError>(make), folder.file("d") + " has images already");
}

#ifdef BENCH_STEPS_LMDB

TEST(ImageWriter, SaysThatALabelIsTooLarge) {
  const Folder folder;
  const auto writer =
      make_image_writer(folder.file("d"), ImageFormat::lmdb, ImagePart::validation, 1, 1);
  EXPECT_EQ(message_of<std::runtime_error>([&] { writer->add(65536, "jpeg"); }),
            "class 65536 does not fit into the two bytes of LMDB");
}

#endif

}  // namespace
}  // namespace bench::steps
