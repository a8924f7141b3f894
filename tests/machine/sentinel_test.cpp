#include "support/temp_directory.hpp"

#include <string>

#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/sentinel.hpp>

namespace bench::machine {
namespace {

using support::TempDirectory;

struct SentinelCase {
  std::string name;
  std::string content;
  bool names_attempt;
  bool tells_end;
};

class SentinelTest : public testing::TestWithParam<SentinelCase> {};

TEST_P(SentinelTest, TellsOfTheBeginningAndOfTheEnd) {
  const TempDirectory directory;
  const auto sentinel = read_sentinel(directory.write("sentinel", GetParam().content));
  EXPECT_EQ(sentinel.has_value(), GetParam().names_attempt);
  EXPECT_EQ(sentinel && sentinel->exit_code, GetParam().tells_end);
}

INSTANTIATE_TEST_SUITE_P(
    Files, SentinelTest,
    testing::Values(SentinelCase{"OfASnippet", "attempt=u\nexit_code=0\n", true, true},
                    SentinelCase{"Empty", "", false, false},
                    SentinelCase{"Begun", "attempt=u\nhost=n\nstarted_unix_s=1\n", true, false},
                    SentinelCase{"WithoutAttempt", "exit_code=0\n", false, false},
                    SentinelCase{"CutOff", "attempt=u\n", true, false},
                    SentinelCase{"CutOffInTheCode", "attempt=u\nexit_code=", true, false},
                    SentinelCase{"CodeThatIsNone", "attempt=u\nexit_code=x\n", true, false}),
    [](const auto& one) { return one.param.name; });

TEST(Sentinel, HasEverythingThatTheScriptWrote) {
  const TempDirectory directory;
  const auto sentinel = read_sentinel(directory.write(
      "sentinel", "attempt=u\nexit_code=137\nstarted_unix_s=10.25\nended_unix_s=11\nhost=n=1\n"));
  ASSERT_TRUE(sentinel);
  EXPECT_EQ(sentinel->attempt, "u");
  EXPECT_EQ(sentinel->exit_code, 137);
  EXPECT_EQ(sentinel->started_unix_s, 10.25);
  EXPECT_EQ(sentinel->ended_unix_s, 11);
  EXPECT_EQ(sentinel->host, "n=1");
}

struct ClockCase {
  std::string name;
  std::string uptimes;
  double expected_end_unix_s;
};

class SentinelClock : public testing::TestWithParam<ClockCase> {};

TEST_P(SentinelClock, EndsWhenAsMuchTimeHasPassedAsOnAClockThatNobodySets) {
  const TempDirectory directory;
  const auto sentinel = read_sentinel(
      directory.write("sentinel", "attempt=u\nstarted_unix_s=5000.5\n" + GetParam().uptimes +
                                      "ended_unix_s=5012.625\nexit_code=0\n"));
  ASSERT_TRUE(sentinel && sentinel->ended_unix_s);
  EXPECT_DOUBLE_EQ(*sentinel->ended_unix_s, GetParam().expected_end_unix_s);
}

INSTANTIATE_TEST_SUITE_P(
    Clocks, SentinelClock,
    testing::Values(
        ClockCase{"Unknown", "", 5012.625}, ClockCase{"NoProc", "started_uptime_s=\n", 5012.625},
        ClockCase{"Equal", "started_uptime_s=7.00\nended_uptime_s=19.13\n", 5012.625},
        ClockCase{"SetBack", "started_uptime_s=7.00\nended_uptime_s=3619.25\n", 8612.75},
        ClockCase{"SetForward", "started_uptime_s=7.00\nended_uptime_s=9.00\n", 5002.5}),
    [](const auto& one) { return one.param.name; });

TEST(Sentinel, ThatIsNotThereTellsNothing) {
  EXPECT_FALSE(read_sentinel("/no/such/sentinel"));
}

TEST(Sentinel, OfAnotherAttemptTellsNothing) {
  const TempDirectory directory;
  Job job;
  job.uuid = "second";
  job.sentinel = directory.write("sentinel", "attempt=first\nexit_code=0\n");
  EXPECT_FALSE(completion_from_sentinel(job));
  job.uuid = "first";
  EXPECT_TRUE(completion_from_sentinel(job)->success());
}

struct LastLine {
  std::string name;
  std::string content;
  std::string expected;
};

class LastLineTest : public testing::TestWithParam<LastLine> {};

TEST_P(LastLineTest, IsTheLastWithText) {
  const TempDirectory directory;
  EXPECT_EQ(last_line(directory.write("f", GetParam().content), 10), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Files, LastLineTest,
    testing::Values(
        LastLine{"One", "one\ntwo\n", "two"}, LastLine{"WithoutNewline", "one\ntwo", "two"},
        LastLine{"BlankLinesBelow", "one\n \n\n", "one"}, LastLine{"Empty", "", ""},
        LastLine{"Blank", " \n", ""}, LastLine{"ProgressBar", "10%\r50%\r100%\n", "100%"},
        LastLine{"TooLong", "0123456789abc\n", "0123456789"},
        LastLine{"AboveTheMeter", "broken\nbench-energy: a=1\nbench-energy: b=2\n", "broken"},
        LastLine{"ErrorAboveItsHint", "error: a\nhint: b\n", "error: a"},
        LastLine{"ErrorWithItsPlaceAndExcerpt", "error: x\nf:1:2: error: a\n  a: b\n  ^\nhint: b\n",
                 "f:1:2: err"},
        LastLine{"ErrorAboveTheMeter", "error: a\nhint: b\nbench-energy: a=1\n", "error: a"},
        LastLine{"ErrorAboveSomethingElse", "error: a\nhint: b\nc\n", "c"},
        LastLine{"HintAlone", "a\nhint: b\n", "hint: b"},
        LastLine{"OnlyTheMeter", "bench-energy: a=1\n", ""},
        LastLine{"NoText", "a\xff\n", "a\uFFFD"},
        LastLine{"CutBetweenLetters", "12345678öä\n", "12345678ö"},
        LastLine{"CutInALetter", "123456789ö\n", "123456789"},
        LastLine{"LongFile", std::string(100'000, 'x') + "\nend\n", "end"}),
    [](const auto& one) { return one.param.name; });

TEST(LastLine, OfNoFileIsEmpty) {
  EXPECT_EQ(last_line("/no/such/file"), "");
}

TEST(FailedNode, StandsInTheReasonOfItsAttempt) {
  const std::string reason = reason_with_node("n1", "Slurm job 7: NODE_FAIL");
  EXPECT_EQ(reason, "node n1 failed: Slurm job 7: NODE_FAIL");
  EXPECT_EQ(node_in_reason(reason), "n1");
  for (const char* other : {"", "node n1", "node n1 is down", "exit code 1: node n1 failed: x"})
    EXPECT_EQ(node_in_reason(other), "") << other;
}

TEST(FailedNode, IsNotLookedForAfterOtherEnds) {
  EXPECT_TRUE(may_be_fault_of_node(Outcome::node_fail));
  EXPECT_TRUE(may_be_fault_of_node(Outcome::boot_fail));
  EXPECT_FALSE(may_be_fault_of_node(Outcome::failed));
  EXPECT_FALSE(may_be_fault_of_node(Outcome::preempted));
}

}  // namespace
}  // namespace bench::machine
