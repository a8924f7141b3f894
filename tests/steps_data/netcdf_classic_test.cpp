// The lengths of files written with netCDF itself.

#include "data/files.hpp"
#include "data/netcdf.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/hex.hpp"
#include "support/message_of.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"

#include <netcdf.h>

namespace bench::steps {
namespace {

using support::message_of;

/// A variable of `columns` numbers, or of as many in each of three records.
struct VariableCase {
  nc_type type;
  std::size_t columns;
  bool in_records;
};
struct LengthCase {
  std::string name;
  std::vector<VariableCase> variables;
};
void PrintTo(const LengthCase& c, std::ostream* out) {
  *out << c.name;
}
class ClassicLengthTest : public testing::TestWithParam<std::tuple<int, LengthCase>> {};

void write_variables(const std::string& path, int mode, const std::vector<VariableCase>& cases) {
  int file = -1;
  int records = -1;
  expect_success(nc_create(path.c_str(), mode | NC_CLOBBER, &file));
  expect_success(nc_def_dim(file, "records", NC_UNLIMITED, &records));
  expect_success(nc_put_att_text(file, NC_GLOBAL, "title", 5, "title"));
  const double factor = 0.5;
  std::vector<int> ids(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string name = "variable" + std::to_string(i);
    std::array<int, 2> dimensions = {records, -1};
    expect_success(nc_def_dim(file, ("d" + name).c_str(), cases[i].columns, &dimensions[1]));
    expect_success(nc_def_var(file, name.c_str(), cases[i].type, cases[i].in_records ? 2 : 1,
                              dimensions.data() + (cases[i].in_records ? 0 : 1), &ids[i]));
    expect_success(nc_put_att_double(file, ids[i], "scale_factor", NC_DOUBLE, 1, &factor));
  }
  expect_success(nc_enddef(file));
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (std::size_t record = 0; record < (cases[i].in_records ? 3 : 1); ++record) {
      const std::array<std::size_t, 2> start = {cases[i].in_records ? record : 0, 0};
      const std::array<std::size_t, 2> count = {cases[i].in_records ? 1 : cases[i].columns,
                                                cases[i].columns};
      expect_success(nc_put_vara_double(file, ids[i], start.data(), count.data(),
                                        std::vector<double>(cases[i].columns, 1).data()));
    }
  expect_success(nc_close(file));
}

TEST_P(ClassicLengthTest, IsThatOfTheFileWithoutItsPadding) {
  const Folder folder;
  const auto& [mode, c] = GetParam();
  write_variables(folder.file("a"), mode, c.variables);
  const MappedFile file(folder.file("a"), "");
  const std::uint64_t length = classic_netcdf_length(file.bytes(), file.path());
  EXPECT_LE(length, file.size());
  EXPECT_GT(length + 4, file.size());
}

INSTANTIATE_TEST_SUITE_P(
    Files, ClassicLengthTest,
    testing::Combine(
        testing::Values(0, NC_64BIT_OFFSET, NC_64BIT_DATA),
        testing::Values(LengthCase{"OneFixed", {{NC_FLOAT, 1000, false}}},
                        LengthCase{"FixedOfBytes", {{NC_FLOAT, 5, false}, {NC_BYTE, 7, false}}},
                        LengthCase{"Records", {{NC_DOUBLE, 9, true}, {NC_SHORT, 3, true}}},
                        LengthCase{"OneInRecords", {{NC_FLOAT, 5, false}, {NC_SHORT, 3, true}}})),
    [](const auto& instance) {
      const int mode = std::get<0>(instance.param);
      return std::get<1>(instance.param).name + (mode == 0                 ? "Classic"
                                                 : mode == NC_64BIT_OFFSET ? "Offsets64"
                                                                           : "Data64");
    });

TEST(ClassicLength, IsUnknownOfOtherFiles) {
  for (const char* bytes : {"", "CDF", "text", "CDF\3", "\x89HDF\r\n\x1a\n"})
    EXPECT_EQ(classic_netcdf_length(bytes, "a"), 0U) << bytes;
}

TEST(ClassicLength, NeedsAValidHeader) {
  // No records, no dimensions, one global attribute `a` of type 0.
  const std::string bytes = unhex(
      "43444601 00000000 00000000 00000000 0000000c 00000001 00000001 61000000 00000000 00000001");
  EXPECT_EQ(message_of<DataError>([&] { classic_netcdf_length(bytes, "a"); }),
            "a: byte 32: no type of netCDF has the number 0");
  EXPECT_EQ(message_of<DataError>([&] { classic_netcdf_length(bytes.substr(0, 30), "a"); }),
            "a: byte 28: the file ends inside its header");
}

TEST(ClassicLength, MayBeBeyondAnyFile) {
  // CDF-5: one dimension of 2^60, one variable of doubles in it, which begins at byte 256.
  const std::string bytes = unhex(
      "43444605 0000000000000000"
      "0000000a 0000000000000001 0000000000000001 78000000 1000000000000000"
      "00000000 0000000000000000"
      "0000000b 0000000000000001 0000000000000001 78000000 0000000000000001 0000000000000000"
      "00000000 0000000000000000 00000006 0000000000000000 0000000000000100");
  EXPECT_EQ(classic_netcdf_length(bytes, "a"), (std::uint64_t{1} << 63) + 256);
}

}  // namespace
}  // namespace bench::steps
#endif
