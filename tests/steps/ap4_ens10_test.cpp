// ENS-10's files, written with netCDF itself.

#include "ap4/data.hpp"
#include "data/files.hpp"
#include "data/netcdf.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"

namespace bench::ap4 {
namespace {

using support::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Grid tiny{.height = 1, .width = 2};

/// Two times in five files. A number tells its file (thousands), variable (hundreds) and place.
class Ens10Test : public testing::Test {
 protected:
  Ens10Test() {
    const std::vector<std::string> all{"Z", "T", "Q", "W", "D", "U", "V"};
    write("ENS10_pl_mean_normalized.nc", all, 1000);
    write("ENS10_pl_std_normalized.nc", all, 2000);
    write("ENS10_pl_mean.nc", {"Z", "T"}, 3000);
    write("ENS10_pl_std.nc", {"Z"}, 4000);
    write("ERA5_z500.nc", {"Z"}, 5000);
  }

  void write(const std::string& name, const std::vector<std::string>& variables,
             std::uint64_t first, const std::vector<std::size_t>& shape = {2, 1, 1, 2}) const {
    steps::NetcdfTestFile file(path(name));
    for (const std::string& variable : variables) {
      file.add(variable, shape, first);
      first += 100;
    }
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  std::unique_ptr<steps::FieldSource> open() const {
    return open_ens10(steps::find_data_files(folder_.file(""), steps::netcdf_endings), tiny);
  }
  std::string data_error() const {
    return message_of<steps::DataError>([&] { open(); });
  }

 private:
  steps::Folder folder_;
};

TEST_F(Ens10Test, HasMeansAndDeviationsOfAllVariables) {
  const auto source = open();
  EXPECT_EQ(source->samples(), 2U);
  EXPECT_EQ(source->fields(), fields(tiny));
  EXPECT_EQ(source->bytes(), 2U * 2 * 4 * (14 + 2 + 1));
  auto sample = steps::read_sample(*source, 1);
  EXPECT_THAT(sample["predictors"],
              ElementsAre(1002, 1003, 1102, 1103, 1202, 1203, 1302, 1303, 1402, 1403, 1502, 1503,
                          1602, 1603, 2002, 2003, 2102, 2103, 2202, 2203, 2302, 2303, 2402, 2403,
                          2502, 2503, 2602, 2603));
  EXPECT_THAT(sample["scale"], ElementsAre(3002, 3003, 4002, 4003));
  EXPECT_THAT(sample["target"], ElementsAre(5002, 5003));
}

TEST_F(Ens10Test, MayHaveNoDimensionOfLevels) {
  write("ERA5_z500.nc", {"Z"}, 5000, {2, 1, 2});
  EXPECT_THAT(steps::read_sample(*open(), 0)["target"], ElementsAre(5000, 5001));
}

TEST_F(Ens10Test, TellsTheFileThatIsMissing) {
  std::filesystem::remove(path("ENS10_pl_std.nc"));
  EXPECT_THAT(message_of<steps::UsageError>([&] { open(); }),
              HasSubstr("no file ENS10_pl_std.nc among the 4 files of the data set"));
}

TEST_F(Ens10Test, TellsTheVariableThatIsMissing) {
  write("ENS10_pl_mean_normalized.nc", {"Z", "T", "Q", "W", "D", "U"}, 1000);
  EXPECT_THAT(data_error(),
              AllOf(HasSubstr(path("ENS10_pl_mean_normalized.nc")), HasSubstr("variable 'V'")));
}

TEST_F(Ens10Test, RefusesSeveralLevels) {
  write("ENS10_pl_std.nc", {"Z"}, 4000, {2, 2, 1, 2});
  EXPECT_EQ(data_error(), path("ENS10_pl_std.nc") +
                              ": variable 'Z' has fields of shape (2, 1, 2), expected (1, 2) of "
                              "one level");
}

TEST_F(Ens10Test, RefusesOtherTimes) {
  write("ERA5_z500.nc", {"Z"}, 5000, {3, 1, 1, 2});
  EXPECT_EQ(data_error(), path("ERA5_z500.nc") + ": 3 times, ENS10_pl_mean_normalized.nc has 2");
}

TEST_F(Ens10Test, TellsThePlaceOfAMissingValue) {
  {
    steps::NetcdfTestFile file(path("ERA5_z500.nc"));
    const int variable = file.define("Z", NC_FLOAT, {2, 1, 1, 2});
    file.write(variable, {1, 2, 3, NC_FILL_FLOAT});
  }
  const auto source = open();
  EXPECT_EQ(message_of<steps::DataError>([&] { steps::read_sample(*source, 1); }),
            path("ERA5_z500.nc") + ": variable 'Z' at (1, 0, 0, 1): missing value");
}

TEST_F(Ens10Test, RefusesAFileThatIsCut) {
  const auto size = std::filesystem::file_size(path("ENS10_pl_mean.nc"));
  std::filesystem::resize_file(path("ENS10_pl_mean.nc"), size / 2);
  EXPECT_THAT(data_error(), HasSubstr(path("ENS10_pl_mean.nc")));
}

}  // namespace
}  // namespace bench::ap4

#endif
