#include "pages/meter_files.hpp"

#include "support/temp_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>

namespace bench::pages {
namespace {

using Point = Envelope::Point;

std::vector<Point> kept_of(int count, std::size_t most_points, double (*y)(int)) {
  Envelope envelope(most_points);
  for (int k = 0; k < count; ++k)
    envelope.add({.x = 0.01 * k, .y = y(k)});
  return envelope.points();
}

TEST(EnvelopeTest, KeepsPeaksOrderAndTheEnds) {
  constexpr std::size_t most = 800;
  const auto points = kept_of(100'000, most, [](int k) {
    return k == 77'777 ? 900.0 : k == 1234 ? 3.0 : 100.0;
  });
  EXPECT_LE(points.size(), most);
  EXPECT_GE(points.size(), most / 4);
  const Point highest = *std::ranges::max_element(points, {}, &Point::y);
  EXPECT_EQ(highest.y, 900);
  EXPECT_DOUBLE_EQ(highest.x, 777.77);
  EXPECT_EQ(std::ranges::min_element(points, {}, &Point::y)->y, 3);
  EXPECT_EQ(std::ranges::adjacent_find(points, std::ranges::greater_equal(), &Point::x),
            points.end());
  EXPECT_EQ(points.front().x, 0);
  EXPECT_DOUBLE_EQ(points.back().x, 999.99);
}

TEST(EnvelopeTest, NeverExceedsItsLimit) {
  for (const std::size_t most : {5U, 6U, 7U, 8U, 2000U})
    for (const int count : {1, 5, 9, 2001, 6000})
      EXPECT_LE(kept_of(count, most, [](int k) { return k % 2 == 0 ? 1.0 * k : -1.0 * k; }).size(),
                most)
          << count;
}

TEST(EnvelopeTest, KeepsAllOfAFewPoints) {
  EXPECT_TRUE(kept_of(0, 100, [](int) { return 0.0; }).empty());
  EXPECT_EQ(kept_of(40, 100, [](int) { return 7.0; }).size(), 40U);
}

PowerCurve curve_of(const std::string& text) {
  const support::TempDirectory directory;
  write_file_atomically(directory.path() / "power.csv", text);
  return read_power_curve(open_regular_file(directory.path() / "power.csv"), "power.csv");
}

bool is_empty(const PowerCurve& curve) {
  return std::ranges::all_of(curve.channels,
                             [](const auto& one) { return one.samples.points().empty(); });
}

TEST(PowerCurveTest, HasAChannelForEachColumnOfPowers) {
  const PowerCurve curve =
      curve_of("time_s,unix_time_s,nvml:0_w,rapl:0_w\n0.5,1.0,100,20\n1.5,2.0,300,\n");
  ASSERT_EQ(curve.channels.size(), 2U);
  EXPECT_EQ(curve.channels[0].name, "nvml:0");
  ASSERT_EQ(curve.channels[0].samples.points().size(), 2U);
  EXPECT_EQ(curve.channels[0].samples.points()[1].x, 1.5);
  EXPECT_EQ(curve.channels[0].samples.points()[1].y, 300);
  EXPECT_EQ(curve.channels[1].name, "rapl:0");
  EXPECT_EQ(curve.channels[1].samples.points().size(), 1U);
  EXPECT_FALSE(curve.damage);
}

TEST(PowerCurveTest, WhatIsNoSampleIsLeftOut) {
  const struct {
    const char* what;
    const char* text;
  } cases[] = {{"no rows", "time_s,a_w\n"},
               {"no file of samples", "region,count\nsum,1\n"},
               {"not a number", "time_s,a_w\n0.1,high\nnan,3\n0.2,inf\n"},
               {"a row that is cut off", "time_s,a_w\n0.1,100"},
               {"nothing", ""},
               {"a row without an end", "time_s,a_w\n"}};
  for (const auto& [what, text] : cases)
    EXPECT_TRUE(is_empty(curve_of(text))) << what;
}

/// A full disk cuts a line off, and the meter writes on once there is room.
TEST(PowerCurveTest, SaysFromWhereOnAFileIsDamaged) {
  const PowerCurve damaged = curve_of("time_s,a_w\n0.1,100\n0.2\n0.3,300\n");
  ASSERT_TRUE(damaged.damage);
  EXPECT_EQ(damaged.damage->place.line, 3);
  EXPECT_EQ(damaged.channels.at(0).samples.points().size(), 1U);
  EXPECT_FALSE(curve_of("time_s,a_w\n0.1,100\n0.2").damage) << "still being written";
}

TEST(PowerCurveTest, SaysWhyAFileIsLeftOut) {
  const PowerCurve quoted = curve_of("time_s,\"a_w\n0.1,100\n");
  ASSERT_TRUE(quoted.damage);
  EXPECT_EQ(note_of("/runs/000000", *quoted.damage),
            "power.csv: line 1: this quote is never closed; it is left out");
  const PowerCurve other = curve_of("region,count\nsum,1\n");
  ASSERT_TRUE(other.damage);
  EXPECT_EQ(other.damage->message, "not a log of power samples");
}

TEST(MeterFileTest, IsReadIfItIsSmallAndInTheRun) {
  const support::TempDirectory directory;
  directory.write("secret", "secret");
  const auto run = directory.path() / "run";
  directory.write("run/regions.csv", "text");
  std::filesystem::create_symlink(directory.path() / "secret", run / "link.csv");
  std::string text;
  const auto read = [&](const char* file, std::uintmax_t most_bytes) {
    text.clear();
    return read_meter_file(run, run / file, most_bytes,
                           [&](const std::string& found) { text = found; });
  };
  EXPECT_FALSE(read("regions.csv", 4));
  EXPECT_EQ(text, "text");
  const auto too_large = read("regions.csv", 3);
  ASSERT_TRUE(too_large);
  EXPECT_EQ(note_of(run, *too_large), "regions.csv: it has 4 bytes, more than 3; it is left out");
  for (const char* file : {"absent.csv", "link.csv"}) {
    EXPECT_FALSE(read(file, 100)) << file;
    EXPECT_EQ(text, "") << file;
  }
}

TEST(RegionVisitsTest, AreThoseWithTwoFiniteTimes) {
  const auto visits = region_visits(
      "region,begin_s,end_s\n\"load, \"\"all\"\"\",0,0.5\n<b>,0.5,9\nlost,nan,1\nbad,x,1\n",
      "region_times.csv");
  ASSERT_EQ(visits.size(), 2U);
  EXPECT_EQ(visits[0].region, "load, \"all\"");
  EXPECT_EQ(visits[0].end_s, 0.5);
  EXPECT_EQ(visits[1].region, "<b>");
}

}  // namespace

}  // namespace bench::pages
