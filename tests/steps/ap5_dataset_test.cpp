// AP5's files, written with netCDF itself.

#include "ap5/data.hpp"
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

namespace bench::ap5 {
namespace {

using support::message_of;
using testing::AllOf;
using testing::HasSubstr;

constexpr Grid tiny{.height = 1, .width = 2};

/// Two months with two times and with one. Variable v has 100 v + 0, 1, 2, ...
class Ap5DatasetTest : public testing::Test {
 protected:
  Ap5DatasetTest() {
    for (int i = 0; i < 14; ++i)
      options_.predictors.push_back("x" + std::to_string(i) + "_in");
    write("2006-01.nc", 2, 0);
    write("2006-02.nc", 1, 4);
  }

  void write(const std::string& name, std::size_t times, std::uint64_t first,
             std::size_t width = 2) const {
    steps::NetcdfTestFile file(path(name));
    for (std::size_t i = 0; i < 14; ++i)
      file.add(options_.predictors[i], {times, 1, width}, 100 * i + first);
    file.add("hsurf_tar", {times, 1, width}, 2000 + first);
    file.add("t_2m_tar", {times, 1, width}, 3000 + first);
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  std::unique_ptr<steps::FieldSource> open() const {
    steps::FieldMoments moments;
    return open_dataset({path("2006-01.nc"), path("2006-02.nc")}, tiny, options_, moments);
  }

  DatasetOptions options_;

 private:
  steps::Folder folder_;
};

// Of six numbers from 0 to 5, mean and deviation are 2.5 and sqrt(35 / 12).
TEST_F(Ap5DatasetTest, HasNormalisedPredictorsAndTargets) {
  const auto source = open();
  EXPECT_EQ(source->samples(), 3U);
  EXPECT_EQ(source->fields(), fields(tiny));
  auto sample = steps::read_sample(*source, 2);
  const double deviation = std::sqrt(35.0 / 12);
  std::vector<testing::Matcher<double>> expected;
  for (int i = 0; i < 15; ++i) {
    expected.push_back(testing::DoubleNear(1.5 / deviation, 1e-6));
    expected.push_back(testing::DoubleNear(2.5 / deviation, 1e-6));
  }
  EXPECT_THAT(sample["predictors"], testing::ElementsAreArray(expected));
  expected.resize(4);
  EXPECT_THAT(sample["target"], testing::ElementsAreArray(expected));
}

TEST_F(Ap5DatasetTest, NeedsFourteenPredictors) {
  options_.predictors.pop_back();
  EXPECT_EQ(message_of<steps::UsageError>([&] { open(); }),
            "13 variables are given as predictors, expected 14");
}

TEST_F(Ap5DatasetTest, TellsTheVariableThatIsMissing) {
  options_.temperature = "t2m";
  EXPECT_THAT(message_of<steps::DataError>([&] { open(); }),
              AllOf(HasSubstr(path("2006-01.nc")), HasSubstr("variable 't2m'")));
}

TEST_F(Ap5DatasetTest, RefusesAnotherGrid) {
  write("2006-01.nc", 2, 0, 3);
  EXPECT_THAT(message_of<steps::DataError>([&] { open(); }),
              AllOf(HasSubstr(path("2006-01.nc")), HasSubstr("x0_in")));
}

TEST_F(Ap5DatasetTest, TellsThePlaceOfAMissingValue) {
  {
    steps::NetcdfTestFile file(path("2006-02.nc"));
    for (const std::string& predictor : options_.predictors)
      file.add(predictor, {1, 1, 2});
    file.add("hsurf_tar", {1, 1, 2});
    file.write(file.define("t_2m_tar", NC_FLOAT, {1, 1, 2}), {270, NC_FILL_FLOAT});
  }
  EXPECT_EQ(message_of<steps::DataError>([&] { open(); }),
            path("2006-02.nc") + ": variable 't_2m_tar' at (0, 0, 1): missing value");
}

}  // namespace
}  // namespace bench::ap5

#endif
