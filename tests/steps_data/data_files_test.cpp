#include "data/files.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "support/message_of.hpp"

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;

constexpr std::array<std::string_view, 2> endings = {".h5", ".hdf5"};

class DataFiles : public testing::Test {
 protected:
  DataFiles() {
    for (const char* name : {"b.h5", "a.hdf5", "C.h5", "a.txt", ".hidden.h5"})
      std::ofstream(folder_.file(name)).close();
  }

  Folder folder_;
};

TEST_F(DataFiles, OfAFolderAreSortedByBytes) {
  EXPECT_THAT(find_data_files(folder_.file(""), endings),
              ElementsAre(folder_.file("C.h5"), folder_.file("a.hdf5"), folder_.file("b.h5")));
}

TEST_F(DataFiles, OfAPatternMayHaveAnyEnding) {
  EXPECT_THAT(find_data_files(folder_.file("a.*"), endings),
              ElementsAre(folder_.file("a.hdf5"), folder_.file("a.txt")));
  EXPECT_THAT(find_data_files(folder_.file("?.h5"), endings),
              ElementsAre(folder_.file("C.h5"), folder_.file("b.h5")));
}

TEST_F(DataFiles, MayBeOneFile) {
  std::ofstream(folder_.file("with[brackets].h5")).close();
  for (const char* name : {"a.txt", "with[brackets].h5"})
    EXPECT_THAT(find_data_files(folder_.file(name), endings), ElementsAre(folder_.file(name)));
}

TEST_F(DataFiles, MustExist) {
  EXPECT_EQ(message_of<UsageError>([&] { find_data_files(folder_.file("d.h5"), endings); }),
            folder_.file("d.h5") + " does not exist");
  EXPECT_EQ(message_of<UsageError>([&] { find_data_files(folder_.file("d*.h5"), endings); }),
            "no file matches " + folder_.file("d*.h5"));
  const std::array<std::string_view, 2> others = {".nc", ".cdf"};
  EXPECT_EQ(message_of<UsageError>([&] { find_data_files(folder_.file(""), others); }),
            folder_.file("") + " has no files that end in .nc or .cdf");
}

}  // namespace
}  // namespace bench::steps
