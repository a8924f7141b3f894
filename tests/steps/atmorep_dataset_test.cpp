// Files of ERA5's fields, written with netCDF itself.

#include "atmorep/data.hpp"
#include "data/files.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"

namespace bench::atmorep {
namespace {

using support::message_of;
using testing::HasSubstr;

/// Windows of two times, two levels, one row and two columns, of two tokens.
const Sizes window{.fields = {"t", "u"},
                   .levels = 2,
                   .tokens = {.times = 1, .rows = 1, .columns = 2},
                   .token = {.times = 2, .rows = 1, .columns = 1}};

/// Two files of two rows and five columns, which have four windows each. A number of `t` is its
/// place in its file, of `u` a hundred more.
class AtmoRepDatasetTest : public testing::Test {
 protected:
  AtmoRepDatasetTest() {
    for (const char* name : {"1.nc", "2.nc"})
      write(name);
  }

  void write(const std::string& name, std::size_t times = 2, const std::string& wind = "u") const {
    steps::NetcdfTestFile file(path(name));
    file.add("t", {times, 2, 2, 5});
    file.add(wind, {times, 2, 2, 5}, 100);
    file.add("time", {times}, 24 * 36'524 + 22, NC_INT);  // 1 January 2000
    file.add("level", {2}, 136);
    file.add("latitude", {2}, 45, NC_DOUBLE);
    file.add("longitude", {5}, 90);
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  std::unique_ptr<steps::FieldSource> open() const {
    return open_dataset({path("1.nc"), path("2.nc")}, window, options_);
  }

  DatasetOptions options_;

 private:
  steps::Folder folder_;
};

TEST_F(AtmoRepDatasetTest, HasAllWindowsOfAllFiles) {
  const auto source = open();
  EXPECT_EQ(source->samples(), 2U * 4);
  EXPECT_EQ(source->fields(), fields(window));
}

// The windows have columns 0 to 3. Level 0 has 0 to 3, 5 to 8 and, at the second time, 20 more.
TEST_F(AtmoRepDatasetTest, IsNormalisedOnEachLevel) {
  const auto source = open();
  auto sample = steps::read_sample(*source, 3);  // second row, columns 2 and 3
  double squares = 0;
  for (const double number : {0, 1, 2, 3, 5, 6, 7, 8, 20, 21, 22, 23, 25, 26, 27, 28})
    squares += (number - 14) * (number - 14) / 16;
  std::vector<testing::Matcher<double>> expected;
  for (int field_and_level = 0; field_and_level < 4; ++field_and_level)
    for (const double number : {7, 8, 27, 28})
      expected.push_back(testing::DoubleNear((number - 14) / std::sqrt(squares), 1e-6));
  EXPECT_THAT(sample["fields"], testing::ElementsAreArray(expected));
}

TEST_F(AtmoRepDatasetTest, TellsWhereAndWhenTokensAre) {
  auto sample = steps::read_sample(*open(), 3);
  std::vector<testing::Matcher<double>> expected;
  for (const double level : {136, 137})
    for (const double longitude : {92, 93})
      for (const double number : {2000 / 2100.0, 0 / 365.0, 23 / 24.0, level / 1000, 46 / 90.0,
                                  longitude / 360, level / 1000, 1.0})
        expected.push_back(testing::DoubleNear(number, 1e-6));
  EXPECT_THAT(sample["token_info"], testing::ElementsAreArray(expected));
}

TEST_F(AtmoRepDatasetTest, TellsTheVariableThatIsMissing) {
  write("1.nc", 2, "u_component");
  EXPECT_THAT(message_of<steps::DataError>([&] { open(); }),
              AllOf(HasSubstr(path("1.nc")), HasSubstr("variable 'u'")));
}

TEST_F(AtmoRepDatasetTest, KnowsCoordinatesByOtherNames) {
  options_.coordinates = {"time", "hybrid", "latitude", "longitude"};
  EXPECT_THAT(message_of<steps::DataError>([&] { open(); }),
              AllOf(HasSubstr(path("1.nc")), HasSubstr("variable 'hybrid'")));
}

TEST_F(AtmoRepDatasetTest, RefusesAnotherNumberOfTimes) {
  write("1.nc", 3);
  EXPECT_THAT(message_of<steps::DataError>([&] { open(); }),
              AllOf(HasSubstr(path("1.nc")), HasSubstr("variable 't' is float32 (3, 2, 1, 2), "
                                                       "expected float32 (2, 2, 1, 2)")));
}

TEST_F(AtmoRepDatasetTest, TellsTheFileWithAnotherNumberOfTimesThanTheFirst) {
  write("2.nc", 3);
  EXPECT_THAT(message_of<steps::DataError>([&] { open(); }),
              AllOf(HasSubstr(path("2.nc")), HasSubstr("variable 't'")));
}

TEST_F(AtmoRepDatasetTest, TellsThePlaceOfAMissingValue) {
  {
    steps::NetcdfTestFile file(path("2.nc"));
    file.add("t", {2, 2, 2, 5});
    file.add("time", {2}, 876'598, NC_INT);
    file.add("level", {2}, 136);
    file.add("latitude", {2}, 45, NC_DOUBLE);
    file.add("longitude", {5}, 90);
    std::vector<double> numbers = steps::numbers_from(0, 40);
    numbers[21] = NC_FILL_FLOAT;
    nc_redef(file.id());
    file.write(file.define("u", NC_FLOAT, {2, 2, 2, 5}), numbers);
  }
  EXPECT_EQ(message_of<steps::DataError>([&] { open(); }),
            path("2.nc") + ": variable 'u' at (1, 0, 0, 1): missing value");
}

}  // namespace
}  // namespace bench::atmorep

#endif
