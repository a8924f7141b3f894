#include "energy/fixtures.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/power_table.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;

Clock::time_point tick(int number) {
  return Clock::time_point{} + std::chrono::seconds(number);
}

std::vector<Channel> channels_named(const std::vector<std::string>& names) {
  std::vector<Channel> channels;
  for (const std::string& name : names) {
    channels.emplace_back().name = name;
    channels.back().additive = true;
  }
  return channels;
}

/// Two sources, of two channels and one.
class PowerTableTest : public testing::Test {
 protected:
  PowerTableTest() { table_.set_log(PowerLog(file_)); }
  void start(bool second_is_slow = false) {
    table_.declare(0, 2, false);
    table_.declare(1, 1, second_is_slow);
    table_.start(channels_named({"a", "b", "c"}));
  }
  void add_first(int number, double a = 1, double b = 2) {
    table_.add(0, tick(number), number, {a, b});
  }
  void add_second(int number, double c = 4) { table_.add(1, tick(number), number, {c}); }
  /// Without the heading and the second column.
  std::vector<std::string> rows() const {
    std::vector<std::string> rows;
    const auto cells = csv_cells(read_file(file_));
    for (std::size_t k = 1; k < cells.size(); ++k)
      rows.push_back(cells[k][0].substr(0, 1) + ":" + cells[k][2] + " " + cells[k][3] + " " +
                     cells[k][4]);
    return rows;
  }

  TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "power.csv";
  PowerTable table_{2};
};

TEST_F(PowerTableTest, WritesARowWhenAllOfItIsThere) {
  start();
  add_first(1);
  EXPECT_THAT(rows(), ElementsAre());
  add_second(1);
  EXPECT_THAT(rows(), ElementsAre("1:1 2 4"));
}

TEST_F(PowerTableTest, GivesTheTimeSince1970) {
  table_.set_unix_time(1000);
  start();
  add_first(3);
  add_second(3);
  EXPECT_THAT(read_file(file_), testing::HasSubstr("\n3.000000,1003.000000,1,2,4\n"));
}

TEST_F(PowerTableTest, DoesNotWaitForASourceThatIsStuck) {
  start();
  for (int k = 1; k <= 4; ++k)
    add_first(k);
  EXPECT_THAT(rows(), ElementsAre("1:1 2 ", "2:1 2 "));
}

TEST_F(PowerTableTest, KeepsTheOrderWhereSourcesOvertakeEachOther) {
  start();
  add_first(1);
  add_first(2);
  add_second(1);
  add_second(2);
  EXPECT_THAT(rows(), ElementsAre("1:1 2 4", "2:1 2 4"));
}

TEST_F(PowerTableTest, ASlowSourceIsNotWaitedFor) {
  start(true);
  add_second(1);
  add_first(1);
  add_first(2);
  EXPECT_THAT(rows(), ElementsAre("1:1 2 4", "2:1 2 "));
}

TEST_F(PowerTableTest, KeepsRowsUntilEverySourceIsKnown) {
  table_.declare(0, 2, false);
  for (int k = 1; k <= 5; ++k)
    add_first(k);
  start();
  add_first(6);
  EXPECT_EQ(rows().size(), 4U);
  table_.finish();
  EXPECT_EQ(rows().size(), 6U);
}

TEST_F(PowerTableTest, ALateSourceHasItsColumnsBehindTheOthers) {
  table_.declare(1, 1, false);
  table_.start(channels_named({"c"}));
  add_second(1);
  EXPECT_EQ(read_file(file_), "time_s,unix_time_s,c_w\n1.000000,1.000000,4\n");
  start();
  add_second(2, 5);
  add_first(2);
  EXPECT_EQ(read_file(file_),
            "time_s,unix_time_s,c_w,a_w,b_w\n1.000000,1.000000,4,,\n2.000000,2.000000,5,1,2\n");
  EXPECT_EQ(table_.total_power().min_w, 8) << "of all that is there, not of one source alone";
  add_second(3, 6);
  add_first(3);
  EXPECT_THAT(read_file(file_), testing::EndsWith("\n3.000000,3.000000,6,1,2\n"));
}

TEST_F(PowerTableTest, AddsUpTheChannelsOfATick) {
  start();
  add_first(1, 10, 20);
  add_second(1, 100);
  add_first(2, 30, 40);
  add_second(2, 200);
  EXPECT_EQ(table_.total_power().min_w, 130);
  EXPECT_EQ(table_.total_power().max_w, 270);
}

TEST_F(PowerTableTest, HoldsTheValueOfASlowSourceInTheSum) {
  start(true);
  add_first(1, 1, 1);  // no sum before its first value
  add_second(2, 100);
  add_first(2, 10, 20);
  add_first(3, 30, 40);
  EXPECT_EQ(table_.total_power().min_w, 130);
  EXPECT_EQ(table_.total_power().max_w, 170);
}

TEST_F(PowerTableTest, HasNoSumOfATickWithAGap) {
  start();
  table_.add(0, tick(1), 1, {std::nullopt, 2.0});
  add_second(1);
  EXPECT_FALSE(table_.total_power().max_w);
}

TEST_F(PowerTableTest, NamesTheChannelsEvenWithoutRows) {
  start();
  table_.finish();
  EXPECT_EQ(read_file(file_), "time_s,unix_time_s,a_w,b_w,c_w\n");
}

TEST_F(PowerTableTest, RowsWaitForALogThatIsToCome) {
  table_.await_log(nullptr);
  start();
  add_first(1);
  add_second(1);
  EXPECT_THAT(rows(), ElementsAre());
  table_.set_log(PowerLog(file_));
  add_first(2);
  add_second(2);
  EXPECT_THAT(rows(), ElementsAre("1:1 2 4", "2:1 2 4"));
}

TEST_F(PowerTableTest, RowsAreAddedUpWhereNoLogComes) {
  table_.await_log(nullptr);
  start();
  add_first(1);
  add_second(1);
  table_.set_log(std::nullopt);
  table_.finish();
  EXPECT_EQ(table_.total_power().max_w, 7);
}

TEST_F(PowerTableTest, SaysWhatEndsTheFile) {
  PowerTable table(1);
  table.set_log(PowerLog("/dev/full"));
  table.declare(0, 1, false);
  table.start(channels_named({"a"}));
  table.finish();
  EXPECT_EQ(table.failure(), "/dev/full ends early: No space left on device");
}

}  // namespace
}  // namespace bench::energy
