#include "data/image_source.hpp"

#include "data/example.hpp"
#include "data/files.hpp"
#include "data/tfrecord.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/image_files.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::HasSubstr;

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
void PrintTo(const BadRecordCase& c, std::ostream* out) {
  *out << c.name;
}
class BadRecordTest : public testing::TestWithParam<BadRecordCase> {};

TEST_P(BadRecordTest, IsNamed) {
  const Folder folder;
  const std::string file = folder.file("train-00000-of-00001");
  TfRecordWriter writer(file);
  writer.add(write_example(GetParam().example));
  writer.finish();
  const auto source = open_images(folder.file(""), ImageFormat::tfrecord, ImagePart::train, 1);
  EXPECT_EQ(message_of<DataError>([&] { source->reader()->at(0); }),
            folder.file("train-00000-of-00001") + ": byte 0: " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Records, BadRecordTest,
    testing::Values(
        BadRecordCase{
            "NoImage", {{"image/class/label", Int64List{1}}}, "record without one image/encoded"},
        BadRecordCase{
            "NoLabel", {{"image/encoded", BytesList{"x"}}}, "record without one image/class/label"},
        BadRecordCase{"LabelsOfTwoKinds",
                      {{"image/class/label", FloatList{1}}, {"image/encoded", BytesList{"x"}}},
                      "record without one image/class/label"},
        BadRecordCase{"Background",
                      {{"image/class/label", Int64List{0}}, {"image/encoded", BytesList{"x"}}},
                      "label 0, but classes count from 1"}),
    [](const auto& instance) { return instance.param.name; });

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

}  // namespace
}  // namespace bench::steps
