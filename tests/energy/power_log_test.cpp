#include "energy/fixtures.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/program/power_log.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsNan;

std::vector<Channel> two_channels() {
  std::vector<Channel> channels(2);
  channels[0].name = "nvml:0:gpu";
  channels[1].name = "rapl:package-0";
  return channels;
}

TEST(PowerLog, LeavesAbsentValuesEmpty) {
  const TemporaryDirectory directory;
  PowerLog log(directory.path() / "power.csv");
  log.write_header(two_channels());
  log.add(0.25, 1700000000.5, std::vector<std::optional<double>>{100.5, std::nullopt});
  EXPECT_EQ(read_file(directory.path() / "power.csv"),
            "time_s,unix_time_s,nvml:0:gpu_w,rapl:package-0_w\n"
            "0.250000,1700000000.500000,100.5,\n");
}

TEST(PowerLog, HasTheColumnsOfJpwrWhereThoseAreWanted) {
  const TemporaryDirectory directory;
  PowerLog log(directory.path() / "power.csv", PowerLayout::jpwr);
  std::vector<Channel> channels = two_channels();
  channels[0].device = 0;
  channels.push_back(channels[0]);
  channels[2].name = "nvml:0:gpu_average";
  log.write_header(channels);
  log.add(0.25, 1700000000.5, std::vector<std::optional<double>>{100.0, std::nullopt, 7.0});
  log.add(0.5, 1700000000.75, std::vector<std::optional<double>>{101.25, 40.5, 7.0});
  EXPECT_EQ(read_file(directory.path() / "power.csv"),
            ",timestamps,pynvml:0,rapl:package-0\n"
            "0,1700000000.500000,100.0,\n"
            "1,1700000000.750000,101.25,40.5\n");
}

TEST(PowerLog, IsReadAgain) {
  const TemporaryDirectory directory;
  PowerLog log(directory.path() / "power.csv");
  log.write_header(two_channels());
  log.add(0.25, 1.5, std::vector<std::optional<double>>{100.5, std::nullopt});
  PowerLogReader reader(directory.path() / "power.csv");
  EXPECT_THAT(reader.columns(),
              ElementsAre("time_s", "unix_time_s", "nvml:0:gpu_w", "rapl:package-0_w"));
  std::vector<double> row;
  ASSERT_TRUE(reader.next(row));
  EXPECT_THAT(row, ElementsAre(0.25, 1.5, 100.5, IsNan()));
  EXPECT_FALSE(reader.next(row));
}

TEST(PowerLog, HasNeitherColumnsNorRowsWithoutAFirstLine) {
  const TemporaryDirectory directory;
  for (const char* text : {"", "\n", "\r\n1,2\n", "\n1,2\n"}) {
    directory.write("power.csv", text);
    PowerLogReader reader(directory.path() / "power.csv");
    EXPECT_THAT(reader.columns(), IsEmpty());
    std::vector<double> row;
    EXPECT_FALSE(reader.next(row));
  }
}

TEST(PowerLog, ALineThatWasCutOffIsNoRow) {
  const TemporaryDirectory directory;
  directory.write("power.csv", "time_s,unix_time_s,a_w\n1,2,3\n2,3");
  PowerLogReader reader(directory.path() / "power.csv");
  std::vector<double> row;
  EXPECT_TRUE(reader.next(row));
  EXPECT_FALSE(reader.next(row));
}

TEST(PowerLog, ReachesTheFileWithEveryRow) {
  const TemporaryDirectory directory;
  PowerLog log(directory.path() / "power.csv");
  log.write_header(two_channels());
  const std::vector<std::optional<double>> row{1.0, 2.0};
  for (std::size_t rows = 1; rows <= 3; ++rows) {
    log.add(0.01 * static_cast<double>(rows), 0, row);
    EXPECT_EQ(csv_cells(read_file(directory.path() / "power.csv")).size(), 1 + rows);
  }
}

TEST(PowerLog, WritesEveryRowAtOnce) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "power.csv";
  PowerLog log(file);
  log.write_header(two_channels());
  const double shortest_gap_s = 0.0005;  // half of 1 ms, the shortest interval
  for (std::size_t k = 1; k <= 9; ++k) {
    log.add(shortest_gap_s * static_cast<double>(k), 0,
            std::vector<std::optional<double>>{1.0, 2.0});
    EXPECT_EQ(csv_cells(read_file(file)).size(), 1 + k);
  }
}

struct NumberCase {
  double power_w;
  std::string text;
};
class PowerLogNumberTest : public testing::TestWithParam<NumberCase> {};

TEST_P(PowerLogNumberTest, HasUpToThreeDecimals) {
  const TemporaryDirectory directory;
  PowerLog log(directory.path() / "power.csv");
  log.write_header(std::vector<Channel>(1));
  log.add(1, 0, std::vector<std::optional<double>>{GetParam().power_w});
  EXPECT_EQ(csv_cells(read_file(directory.path() / "power.csv"))[1][2], GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(Energy, PowerLogNumberTest,
                         testing::Values(NumberCase{0, "0"}, NumberCase{7, "7"},
                                         NumberCase{1000, "1000"}, NumberCase{0.5, "0.5"},
                                         NumberCase{0.001, "0.001"}, NumberCase{0.0004, "0"},
                                         NumberCase{12.34, "12.34"},
                                         NumberCase{123456.789, "123456.789"},
                                         NumberCase{99.9996, "100"}, NumberCase{-1.5, "-1.5"},
                                         NumberCase{-0.05, "-0.05"}));

TEST(PowerLog, AFullDiskEndsTheFileNotTheRun) {
  PowerLog log("/dev/full");
  log.write_header(two_channels());
  EXPECT_EQ(log.failure(), "/dev/full ends early: No space left on device");
}

TEST(PowerLog, RowsStayWhereTheyAreIfTheirFileCannotBeMadeAnew) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "power.csv";
  PowerLog log(file);
  std::vector<Channel> channels = two_channels();
  log.write_header(channels);
  log.add(1, 1, std::vector<std::optional<double>>{1.0, 2.0});
  const std::string before = read_file(file);
  std::filesystem::create_directory(directory.path() / "power.csv.new");
  channels.emplace_back();
  log.add_columns(channels);
  EXPECT_EQ(log.failure(), file.string() + " ends early: Is a directory");
  EXPECT_EQ(read_file(file), before);
}

TEST(PowerLog, AFileThatCannotBeWrittenIsAnError) {
  const TemporaryDirectory directory;
  EXPECT_THROW(PowerLog(directory.path() / "missing" / "power.csv"), Error);
}

}  // namespace
}  // namespace bench::energy
