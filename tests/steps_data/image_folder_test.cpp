#include "data/image_source.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;

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
  try {
    find_images(folder.file("d"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(),
              folder.file("d/a/3.jpg") + " is a link to /nowhere/x.jpg, which does not exist");
  }
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
  try {
    find_images("/nowhere/d");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), "cannot read /nowhere/d: No such file or directory");
  }
}

}  // namespace
}  // namespace bench::steps
