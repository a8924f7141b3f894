// AP6's files, written with netCDF itself.

#include "ap6/data.hpp"
#include "data/files.hpp"
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

namespace bench::ap6 {
namespace {

using support::message_of;
using testing::AllOf;
using testing::HasSubstr;

constexpr Grid tiny{.height = 1, .width = 2};

/// Two files with two times and with one. Variable v has 100 v + 0, 1, 2, ... on five levels.
class Ap6DatasetTest : public testing::Test {
 protected:
  Ap6DatasetTest() {
    write("era5_2000.nc", 2, 0);
    write("era5_2001.nc", 1, 20);
  }

  void write(const std::string& name, std::size_t times, std::uint64_t first,
             std::size_t levels = 5) const {
    steps::NetcdfTestFile file(path(name));
    std::uint64_t variable = 0;
    for (const char* variable_name : {"q", "t", "u", "v", "z"})
      file.add(variable_name, {times, levels, 1, 2}, 100 * variable++ + first);
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  std::unique_ptr<steps::FieldSource> open() const {
    return open_era5({path("era5_2000.nc"), path("era5_2001.nc")}, tiny, options_);
  }

  DatasetOptions options_;

 private:
  steps::Folder folder_;
};

// A level has the numbers 0, 1, 10, 11, 20, 21 above its smallest one: mean 10.5, variance
// 200.75/3.
TEST_F(Ap6DatasetTest, NormalisesEachLevelOfEachVariable) {
  const auto source = open();
  EXPECT_EQ(source->samples(), 3U);
  EXPECT_EQ(source->fields(), stored_fields(tiny));
  auto sample = steps::read_sample(*source, 2);
  EXPECT_EQ(sample["index"], std::vector<double>{2});
  const double deviation = std::sqrt(200.75 / 3);
  std::vector<testing::Matcher<double>> expected;
  for (int channel = 0; channel < 25; ++channel) {
    expected.push_back(testing::DoubleNear(9.5 / deviation, 1e-5));
    expected.push_back(testing::DoubleNear(10.5 / deviation, 1e-5));
  }
  EXPECT_THAT(sample["fields"], testing::ElementsAreArray(expected));
}

TEST_F(Ap6DatasetTest, TellsTheVariableThatIsMissing) {
  options_.variables.back() = "geopotential";
  EXPECT_THAT(message_of<steps::DataError>([&] { open(); }),
              AllOf(HasSubstr(path("era5_2000.nc")), HasSubstr("variable 'geopotential'")));
}

TEST_F(Ap6DatasetTest, RefusesOtherLevels) {
  write("era5_2000.nc", 2, 0, 4);
  write("era5_2001.nc", 1, 20, 4);
  EXPECT_EQ(message_of<steps::DataError>([&] { open(); }),
            path("era5_2000.nc") +
                ": a sample of variable 'q' is float32 (4, 1, 2), expected float32 (5, 1, 2)");
}

TEST_F(Ap6DatasetTest, ReadsOneVariableWithAllLevels) {
  steps::NetcdfTestFile(path("whole.nc")).add("fields", {2, 25, 1, 2});
  const auto source = open_era5({path("whole.nc")}, tiny, {{"fields"}});
  auto sample = steps::read_sample(*source, 0);
  EXPECT_EQ(sample["fields"].size(), 50U);
}

TEST_F(Ap6DatasetTest, TellsThePlaceOfAMissingValue) {
  {
    steps::NetcdfTestFile file(path("era5_2001.nc"));
    for (const char* variable : {"q", "t", "u", "v"})
      file.add(variable, {1, 5, 1, 2});
    std::vector<double> numbers(10, 270);
    numbers.back() = NC_FILL_FLOAT;
    file.write(file.define("z", NC_FLOAT, {1, 5, 1, 2}), numbers);
  }
  EXPECT_EQ(message_of<steps::DataError>([&] { open(); }),
            path("era5_2001.nc") + ": variable 'z' at (0, 4, 0, 1): missing value");
}

}  // namespace
}  // namespace bench::ap6

#endif
