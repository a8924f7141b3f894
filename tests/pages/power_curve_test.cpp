#include "pages/power_curve.hpp"

#include "support/temp_directory.hpp"

#include <cstddef>
#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>

namespace bench::serve {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

PowerCurve curve_of(const std::string& text) {
  const support::TempDirectory directory;
  write_file_atomically(directory.path() / "power.csv", text);
  return read_power_curve(open_regular_file(directory.path() / "power.csv"), "power.csv");
}

TEST(PowerCurveTest, HasAChannelForEachColumnOfPowers) {
  const PowerCurve curve =
      curve_of("time_s,unix_time_s,nvml:0_w,rapl:0_w\n0.5,1.0,100,20\n1.5,2.0,300,\n");
  ASSERT_EQ(curve.channels.size(), 2U);
  EXPECT_EQ(curve.channels[0].name, "nvml:0");
  ASSERT_EQ(curve.channels[0].samples.samples().size(), 2U);
  EXPECT_EQ(curve.channels[0].samples.samples()[1].power_w, 300);
  EXPECT_EQ(curve.channels[1].name, "rapl:0");
  EXPECT_EQ(curve.channels[1].samples.samples().size(), 1U);
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
    EXPECT_TRUE(curve_of(text).empty()) << what;
}

/// A full disk cuts a line off, and the meter writes on once there is room.
TEST(PowerCurveTest, SaysFromWhereOnAFileIsDamaged) {
  const PowerCurve damaged = curve_of("time_s,a_w\n0.1,100\n0.2\n0.3,300\n");
  ASSERT_TRUE(damaged.damage);
  EXPECT_EQ(damaged.damage->place.line, 3);
  EXPECT_EQ(damaged.channels.at(0).samples.samples().size(), 1U);
  EXPECT_FALSE(curve_of("time_s,a_w\n0.1,100\n0.2").damage) << "still being written";
}

TEST(PowerCurveTest, ThinningOutKeepsPeaksAndOrder) {
  Envelope envelope;
  constexpr int count = 100'000;
  for (int k = 0; k < count; ++k)
    envelope.add({.time_s = 0.01 * k, .power_w = k == 77'777 ? 900.0 : k == 1234 ? 3.0 : 100.0});
  const auto samples = envelope.samples();
  EXPECT_LE(samples.size(), 2 * Envelope::most_stretches);
  EXPECT_GE(samples.size(), Envelope::most_stretches / 2);
  EXPECT_EQ(envelope.highest().power_w, 900);
  EXPECT_DOUBLE_EQ(envelope.highest().time_s, 777.77);
  EXPECT_EQ(envelope.lowest().power_w, 3);
  for (std::size_t k = 1; k < samples.size(); ++k)
    EXPECT_LT(samples[k - 1].time_s, samples[k].time_s);
}

TEST(PowerCurveTest, TheFigureEscapesTheNamesOfChannels) {
  const std::string figure =
      power_figure(curve_of("time_s,<script>x_w\n0,50\n1,100\n"), {}, "a & b/power.csv");
  EXPECT_THAT(figure, AllOf(HasSubstr("&lt;script&gt;x"), HasSubstr("a &amp; b"),
                            HasSubstr("points=\"0.0,50.00 1000.0,0.00 \""),
                            HasSubstr("50.0 to 100.0 W"), Not(HasSubstr("<script"))));
}

TEST(PowerCurveTest, RegionsAreBandsBehindTheCurve) {
  const auto visits = report::region_visits(
      "region,begin_s,end_s\n\"load, \"\"all\"\"\",0,0.5\n<b>,0.5,9\nlost,nan,1\nbad,x,1\n",
      "region_times.csv");
  ASSERT_EQ(visits.size(), 2U);
  EXPECT_EQ(visits[0].region, "load, \"all\"");
  EXPECT_EQ(visits[1].region, "<b>");
  EXPECT_THAT(power_figure(curve_of("time_s,a_w\n0,50\n1,100\n"), visits, "power.csv"),
              AllOf(HasSubstr("<rect class=\"region c1\" x=\"0.0\" y=\"-2\" width=\"500.0\""),
                    HasSubstr("<rect class=\"region c2\" x=\"500.0\" y=\"-2\" width=\"500.0\""),
                    HasSubstr("<li class=\"region c2\">&lt;b&gt;</li>"), Not(HasSubstr("<b>"))));
}

}  // namespace
}  // namespace bench::serve
