#include "energy/fixtures.hpp"

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/energy/power_log.hpp>

namespace bench::energy {
namespace {

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

TEST(PowerLog, ReachesTheFileWithEveryRow) {
  const TemporaryDirectory directory;
  PowerLog log(directory.path() / "power.csv");
  log.write_header(two_channels());
  const std::vector<std::optional<double>> row{1.0, 2.0};
  for (std::size_t rows = 1; rows <= 3; ++rows) {
    log.add(0.1, 0, row);
    EXPECT_EQ(csv_cells(read_file(directory.path() / "power.csv")).size(), 1 + rows);
  }
}

TEST(PowerLog, AFullDiskEndsTheFileNotTheRun) {
  PowerLog log("/dev/full");
  log.write_header(two_channels());
  EXPECT_EQ(log.failure(), "/dev/full ends early: No space left on device");
}

TEST(PowerLog, AFileThatCannotBeWrittenIsAnError) {
  const TemporaryDirectory directory;
  EXPECT_THROW(PowerLog(directory.path() / "missing" / "power.csv"), Error);
}

}  // namespace
}  // namespace bench::energy
