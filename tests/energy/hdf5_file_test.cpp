#include "energy/energy_hdf5_fixture.hpp"
#include "energy/hdf5_reader.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/program/hdf5.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;

using Hdf5FileTest = Hdf5Test;

TEST_F(Hdf5FileTest, HasTextsOfAnyLength) {
  Hdf5File out(library(), file("f.h5"));
  out.add_texts("/texts", std::vector<std::string>{"", "long enough", "x"});
  out.set_text("/texts", "empty", "");
  out.close();
  Hdf5Reader reader(file("f.h5"));
  EXPECT_THAT(reader.texts("/texts"), ElementsAre("", "long enough", "x"));
  EXPECT_EQ(reader.text("/texts", "empty"), "");
}

TEST_F(Hdf5FileTest, LeavesTheOldFileUntilItIsComplete) {
  write_file("f.h5", "old");
  {
    Hdf5File out(library(), file("f.h5"));
    out.add_counting("/numbers", 3);
  }
  std::string text;
  std::ifstream(file("f.h5")) >> text;
  EXPECT_EQ(text, "old");
  const std::filesystem::directory_iterator entries(file(""));
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);  // nothing half is left
}

TEST_F(Hdf5FileTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(Hdf5File(library(), file("missing/f.h5")), Error);
}

TEST_F(Hdf5FileTest, WhatTheLibraryRefusesIsAnErrorAndLeavesNothing) {
  Hdf5File out(library(), file("f.h5"));
  EXPECT_THROW(out.add_group("/a/b"), Error);  // its parent is missing
  EXPECT_FALSE(std::filesystem::exists(file("f.h5")));
}

TEST(Hdf5Library, ThatIsAbsentIsAnErrorWithARemedy) {
  try {
    Hdf5Library({"libno-such-hdf5.so"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(),
                testing::StartsWith("this node has no HDF5 library, which the format h5 needs: "));
    EXPECT_NE(error.hint().find("hdf5-tools"), std::string::npos);
  }
}

TEST(Hdf5Library, AnotherLibraryOfThatNameIsAnError) {
  try {
    Hdf5Library({"libm.so.6"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the HDF5 library has no H5get_libversion");
  }
}

}  // namespace
}  // namespace bench::energy
