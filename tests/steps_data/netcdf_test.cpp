#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/hex.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"

#include <netcdf.h>
#endif

namespace bench::steps {

// The lengths of files written with netCDF itself.

#ifdef BENCH_STEPS_NETCDF
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

// Files written with netCDF itself.

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::StartsWith;

TEST(NetcdfFile, IsNoticedIfItIsCut) {
  const Folder folder;
  for (const int mode : {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4}) {
    NetcdfTestFile(folder.file("a"), mode).add("x", {4, 1000});
    const std::uint64_t size = std::filesystem::file_size(folder.file("a"));
    std::filesystem::resize_file(folder.file("a"), size - 1);
    EXPECT_THAT(
        message_of<DataError>([&] { open_netcdf_fields({folder.file("a")}, samples_of({"x"})); }),
        StartsWith(folder.file("a") + ": " +
                   (mode == NC_NETCDF4
                        ? "cannot be opened as netCDF: "
                        : fmt::format("byte {}: the file ends here, but needs {} bytes", size - 1,
                                      size))));
  }
}

struct StoredInNetcdf {
  std::string name;
  nc_type stored;
  FieldType type;
  std::size_t bytes;
};
TEST(NetcdfType, IsConverted) {
  const StoredInNetcdf cases[] = {
      {"Byte", NC_BYTE, FieldType::int64, 1},     {"UByte", NC_UBYTE, FieldType::int64, 1},
      {"Short", NC_SHORT, FieldType::int64, 2},   {"UShort", NC_USHORT, FieldType::int64, 2},
      {"Int", NC_INT, FieldType::int64, 4},       {"UInt", NC_UINT, FieldType::int64, 4},
      {"Int64", NC_INT64, FieldType::int64, 8},   {"UInt64", NC_UINT64, FieldType::int64, 8},
      {"Float", NC_FLOAT, FieldType::float32, 4}, {"Double", NC_DOUBLE, FieldType::float32, 8}};
  for (const StoredInNetcdf& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    NetcdfTestFile(folder.file("a")).add("x", {3, 2}, 1, c.stored);
    const auto source = open_netcdf_fields({folder.file("a")}, samples_of({"x"}));
    EXPECT_EQ(source->fields().front().type, c.type);
    EXPECT_EQ(source->bytes(), 6 * c.bytes);
    EXPECT_THAT(read_sample(*source, 2)["x"], ElementsAre(5, 6));
  }
}

class NetcdfFields : public testing::Test {
 protected:
  std::string path(const std::string& name = "a.nc") const { return folder_.file(name); }

  /// A variable `x` of 2 samples with 2 numbers each, and attributes.
  void write(nc_type type, const std::vector<double>& numbers,
             const std::vector<std::pair<std::string, double>>& attributes) const {
    NetcdfTestFile file(path());
    const int x = file.define("x", type, {2, 2});
    for (const auto& [name, value] : attributes)
      expect_success(nc_put_att_double(file.id(), x, name.c_str(),
                                       name == "_FillValue" ? type : NC_DOUBLE, 1, &value));
    file.write(x, numbers);
  }

  Folder folder_;
};

TEST_F(NetcdfFields, MayLieInGroups) {
  {
    const NetcdfTestFile file(path());
    int outer = -1;
    int inner = -1;
    int dimension = -1;
    int variable = -1;
    expect_success(nc_def_dim(file.id(), "d", 2, &dimension));
    expect_success(nc_def_grp(file.id(), "outer", &outer));
    expect_success(nc_def_grp(outer, "inner", &inner));
    expect_success(nc_def_var(inner, "x", NC_INT, 1, &dimension, &variable));
    const std::array<int, 2> numbers = {7, 8};
    expect_success(nc_put_var_int(inner, variable, numbers.data()));
  }
  const auto source = open_netcdf_fields({path()}, samples_of({"outer/inner/x"}));
  EXPECT_THAT(read_sample(*source, 1)["outer/inner/x"], ElementsAre(8));
}

TEST_F(NetcdfFields, AreScaled) {
  write(NC_SHORT, {0, 100, -50, 1}, {{"scale_factor", 0.5}, {"add_offset", 273}});
  const auto source = open_netcdf_fields({path()}, samples_of({"x"}));
  EXPECT_EQ(source->fields().front().type, FieldType::float32);
  EXPECT_EQ(source->bytes(), 4U * 2);
  EXPECT_THAT(read_sample(*source, 0)["x"], ElementsAre(273, 323));
  EXPECT_THAT(read_sample(*source, 1)["x"], ElementsAre(248, 273.5));
}

TEST_F(NetcdfFields, MayBeScaledDifferentlyInEachFile) {
  write(NC_SHORT, {1, 2, 3, 4}, {{"scale_factor", 10}});
  std::filesystem::rename(path(), path("b.nc"));
  write(NC_SHORT, {1, 2, 3, 4}, {{"scale_factor", 100}});
  const auto source = open_netcdf_fields({path(), path("b.nc")}, samples_of({"x"}));
  const auto reader = source->reader();
  EXPECT_THAT(read_sample(*reader, *source, 0)["x"], ElementsAre(100, 200));
  EXPECT_THAT(read_sample(*reader, *source, 2)["x"], ElementsAre(10, 20));
}

struct MissingCase {
  std::string name;
  nc_type type;
  double missing;  ///< The third of four numbers.
  std::vector<std::pair<std::string, double>> attributes;
};
TEST_F(NetcdfFields, TakeAMissingValueForAnErrorOrNaN) {
  const MissingCase cases[] = {
      {"FillValue", NC_FLOAT, -999, {{"_FillValue", -999}}},
      {"FillValueIsNaN", NC_FLOAT, std::nan(""), {{"_FillValue", std::nan("")}}},
      {"OfDoublePrecision", NC_DOUBLE, 1e300, {{"_FillValue", 1e300}}},
      {"MissingValue", NC_FLOAT, -999, {{"missing_value", -999}}},
      {"OfAnotherType", NC_FLOAT, 1e20, {{"missing_value", 1e20}}},
      {"Scaled", NC_SHORT, -1, {{"_FillValue", -1}, {"scale_factor", 0.1}}},
      {"OfOneByte", NC_BYTE, -1, {{"_FillValue", -1}}},
      {"NeverWrittenFloat", NC_FLOAT, NC_FILL_FLOAT, {}},
      {"NeverWrittenDouble", NC_DOUBLE, NC_FILL_DOUBLE, {}},
      {"NeverWrittenShort", NC_SHORT, NC_FILL_SHORT, {}}};
  ArrayLayout strict_layout = samples_of({"x"});
  strict_layout.fields[0].type = FieldType::float32;
  ArrayLayout lenient_layout = strict_layout;
  lenient_layout.fields[0].missing_as_nan = true;
  for (const MissingCase& c : cases) {
    SCOPED_TRACE(c.name);
    write(c.type, {1, 2, c.missing, 4}, c.attributes);
    const auto strict = open_netcdf_fields({path()}, strict_layout);
    EXPECT_NO_THROW(read_sample(*strict, 0));
    EXPECT_EQ(message_of<DataError>([&] { read_sample(*strict, 1); }),
              path() + ": variable 'x' at (1, 0): missing value");
    const auto lenient = open_netcdf_fields({path()}, lenient_layout);
    const auto numbers = read_sample(*lenient, 1)["x"];
    EXPECT_TRUE(std::isnan(numbers[0]));
    EXPECT_FALSE(std::isnan(numbers[1]));
  }
}

TEST_F(NetcdfFields, MayNameMissingDoublesAsFloats) {
  constexpr float missing = 1e20F;  // as a double 1.00000002e20
  {
    NetcdfTestFile file(path());
    const int x = file.define("x", NC_DOUBLE, {1, 3});
    expect_success(nc_put_att_float(file.id(), x, "missing_value", NC_FLOAT, 1, &missing));
    file.write(x, {1e20, missing, 2});
  }
  ArrayLayout layout = samples_of({"x"});
  layout.fields[0].missing_as_nan = true;
  const auto numbers = read_sample(*open_netcdf_fields({path()}, layout), 0)["x"];
  EXPECT_TRUE(std::isnan(numbers[0]));
  EXPECT_TRUE(std::isnan(numbers[1]));
  EXPECT_EQ(numbers[2], 2);
}

TEST_F(NetcdfFields, HaveNoMissingBytesByDefault) {
  write(NC_BYTE, {NC_FILL_BYTE, 1, 2, 3}, {});
  const auto source = open_netcdf_fields({path()}, samples_of({"x"}));
  EXPECT_THAT(read_sample(*source, 0)["x"], ElementsAre(NC_FILL_BYTE, 1));
}

TEST_F(NetcdfFields, HaveNoMissingNumbersIfTheFileIsNotFilled) {
  {
    NetcdfTestFile file(path());
    const int x = file.define("x", NC_SHORT, {1, 2});
    expect_success(nc_def_var_fill(file.id(), x, NC_NOFILL, nullptr));
    file.write(x, {NC_FILL_SHORT, 1});
  }
  const auto source = open_netcdf_fields({path()}, samples_of({"x"}));
  EXPECT_THAT(read_sample(*source, 0)["x"], ElementsAre(NC_FILL_SHORT, 1));
}

TEST_F(NetcdfFields, NeedNumbersAsAttributes) {
  {
    NetcdfTestFile file(path());
    const int x = file.define("x", NC_SHORT, {1, 2});
    expect_success(nc_put_att_text(file.id(), x, "scale_factor", 3, "0.5"));
    file.write(x, {1, 2});
  }
  EXPECT_EQ(message_of<DataError>([&] { open_netcdf_fields({path()}, samples_of({"x"})); }),
            path() + ": variable 'x' has an attribute scale_factor that cannot be read: " +
                nc_strerror(NC_ECHAR));
}

/// What is wrong with the second of two files.
struct NetcdfDamage {
  std::string name;
  std::function<void(const std::string& path)> write;
  std::string message;
};
TEST(BadNetcdf, IsNamedWithItsVariable) {
  const NetcdfDamage cases[] = {
      {"Text", [](const std::string& path) { std::ofstream(path) << "text"; },
       "cannot be opened as netCDF: NetCDF: Unknown file format"},
      {"Empty", [](const std::string& path) { std::ofstream(path).close(); },
       "cannot be opened as netCDF: "},
      {"Texts",
       [](const std::string& path) {
         NetcdfTestFile(path).define("x", NC_CHAR, {3, 2});
       },
       "variable 'x' has no numbers of a known type"}};
  for (const NetcdfDamage& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    NetcdfTestFile(folder.file("a")).add("x", {3, 2});
    c.write(folder.file("b"));
    testing::internal::CaptureStderr();
    EXPECT_THAT(message_of<DataError>([&] {
                  open_netcdf_fields({folder.file("a"), folder.file("b")}, samples_of({"x"}));
                }),
                StartsWith(folder.file("b") + ": " + c.message));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
}

}  // namespace

#endif
}  // namespace bench::steps
