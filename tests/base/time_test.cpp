#include "support/environment_variable.hpp"
#include "support/error_of.hpp"

#include <chrono>
#include <ctime>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <time.h>

#include <bench/base/time.hpp>

namespace bench {
namespace {

TEST(Duration, IsReadWithAUnitOrAsAClock) {
  const struct {
    const char* text;
    double seconds;
  } cases[] = {{"90", 90},
               {" 90 s ", 90},
               {"1.5s", 1.5},
               {"30sec", 30},
               {"100ms", 0.1},
               {"5us", 5e-6},
               {"5min", 300},
               {"5m", 300},
               {"2h", 7200},
               {"1d", 86400},
               {"0", 0},
               {"1e3", 1000},
               {"30:00", 1800},
               {"01:30:00", 5400},
               {"1:02:03", 3723},
               {"1-0", 86400},
               {"1-12", 129600},
               {"1-12:30", 131400},
               {"2-01:00:01", 176401},
               {"100:00:00", 360000}};
  for (const auto& [text, seconds] : cases)
    EXPECT_DOUBLE_EQ(parse_duration_s(text), seconds) << text;
}

TEST(Duration, RefusesEverythingElse) {
  for (const std::string text : {"", "soon", "5 parsecs", "-5", "1:2:3:4", "1:x", "1:-2", ":", "1-",
                                 "nan", "inf", "1:+2", "-1:00"})
    EXPECT_EQ(support::error_of([&] {
                parse_duration_s(text, {"in.yaml", 2, 3});
              }),
              "in.yaml:2:3: error: invalid duration '" + text +
                  "'\n"
                  "hint: write seconds (90), a unit (5min, 2h) or HH:MM:SS");
}

// A deadline that is farther away overflowed, and had passed at once.
TEST(Duration, IsAtMostTheLongest) {
  EXPECT_DOUBLE_EQ(parse_duration_s("4e9"), longest_duration_s);
  for (const std::string text : {"9999999999", "1e308h", "46300-00:00", "9999999999999:00:00"})
    EXPECT_EQ(
        support::error_of([&] {
          parse_duration_s(text, {"in.yaml", 2, 3});
        }),
        "in.yaml:2:3: error: duration '" + text + "' is too long\nhint: the longest is 4e+09 s");
}

TEST(HumanDuration, ChoosesTheUnit) {
  EXPECT_EQ(human_duration(3.21), "3.2 s");
  EXPECT_EQ(human_duration(60), "1 min 00 s");
  EXPECT_EQ(human_duration(245), "4 min 05 s");
  EXPECT_EQ(human_duration(7800), "2 h 10 min");
}

TEST(HumanDuration, NeverShowsSixtySeconds) {
  EXPECT_EQ(human_duration(59.97), "1 min 00 s");
}

TEST(UtcTime, HasTheFormOfIso8601) {
  EXPECT_EQ(utc_time_at(1000000000.25), "2001-09-09T01:46:40.250Z");
  EXPECT_EQ(utc_time_at(1.9996), "1970-01-01T00:00:02.000Z");
}

TEST(LocalTime, HasItsOffsetForPeople) {
  const support::EnvironmentVariable zone("TZ", "CET-1CEST,M3.5.0,M10.5.0/3");
  ::tzset();
  // Both sides of the end of summer time, when the clock shows 02:30 twice.
  EXPECT_EQ(local_time_at(1792888200), "2026-10-25 02:30:00 +0200");
  EXPECT_EQ(local_time_at(1792891800.75), "2026-10-25 02:30:00 +0100");
  EXPECT_EQ(parse_local_time("2026-10-25 02:30:00 +0200"), 1792888200.0);
  EXPECT_EQ(parse_local_time("2026-10-25 02:30:00 +0100"), 1792891800.0);
  EXPECT_EQ(parse_local_time("2026-10-25 09:30:00 +0900"), 1792888200.0);
}

TEST(LocalTime, HasTheFormThatJubeWrites) {
  const support::EnvironmentVariable zone("TZ", "UTC");
  ::tzset();
  EXPECT_EQ(local_time(std::chrono::system_clock::from_time_t(1769864709)), "2026-01-31 13:05:09");
  EXPECT_EQ(parse_local_time("2026-01-31 13:05:09"), 1769864709.0);
  for (const char* other :
       {"", "2026-01-31", "2026-01-31 13:05:09.5", "2026-01-31 13:05:09 +", "yesterday"})
    EXPECT_EQ(parse_local_time(other), std::nullopt) << other;
}

}  // namespace
}  // namespace bench
