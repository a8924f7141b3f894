#include "energy/fixtures.hpp"
#include "support/eventually.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/command_reader.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

CommandSettings shell(const std::string& script) {
  return {.arguments = {"/bin/sh", "-c", script},
          .interval_s = 0.02,
          .patience_s = 100,
          .start_patience_s = 100,
          .is_reading = [](std::string_view line) { return parse_integer(line).has_value(); },
          .expected = "a number"};
}

/// The first reading for which `wanted` holds.
template <class Wanted>
std::string read_until(CommandReader& reader, Wanted wanted) {
  std::string text;
  const bool found = support::eventually([&] {
    std::string failure;
    const auto line = reader.latest(failure);
    text = line ? *line : "failure: " + failure;
    return wanted(text);
  });
  return found ? text : "timed out at " + text;
}

std::string reader_error(const CommandSettings& settings) {
  return message_of([&] { CommandReader(settings).wait_for_first(); });
}

TEST(CommandReader, RunsACommandThatEndsAgain) {
  const TemporaryDirectory directory;
  const std::string runs = (directory.path() / "runs").string();
  CommandReader reader(shell("echo >> " + runs + "; wc -l < " + runs));
  reader.wait_for_first();
  EXPECT_EQ(read_until(reader, [](const std::string& text) { return text == "3"; }), "3");
}

TEST(CommandReader, LeavesACommandThatGoesOnRunning) {
  const TemporaryDirectory directory;
  const std::string runs = (directory.path() / "runs").string();
  CommandReader reader(
      shell("echo >> " + runs + "; i=0; while :; do i=$((i+1)); echo $i; sleep 0.01; done"));
  reader.wait_for_first();
  read_until(reader, [](const std::string& text) { return std::stoi(text) >= 10; });
  EXPECT_EQ(read_file(runs), "\n");
}

TEST(CommandReader, TakesTheLastLineThatIsAReading) {
  CommandReader reader(shell("echo one; echo 2; echo 3; echo four"));
  reader.wait_for_first();
  std::string failure;
  EXPECT_EQ(reader.latest(failure), "3");
}

TEST(CommandReader, TakesALineThatItsCommandDoesNotEnd) {
  CommandReader reader(shell("printf 42"));
  reader.wait_for_first();
  std::string failure;
  EXPECT_EQ(reader.latest(failure), "42");
}

TEST(CommandReader, GivesACommandNoInput) {
  CommandReader reader(shell("cat; echo 5"));
  reader.wait_for_first();
  std::string failure;
  EXPECT_EQ(reader.latest(failure), "5");
}

TEST(CommandReader, DoesNotWaitForACommandThatHangs) {
  const TemporaryDirectory directory;
  const std::string flag = (directory.path() / "flag").string();
  CommandReader reader(shell("[ -e " + flag + " ] && sleep 600; touch " + flag + "; echo 5"));
  reader.wait_for_first();
  const auto before = Clock::now();
  std::string failure;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(reader.latest(failure), "5");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_LT(Clock::now() - before, std::chrono::minutes(2));
}

TEST(CommandReader, DoesNotDrownInEndlessOutput) {
  CommandReader reader(shell("yes 7"));
  reader.wait_for_first();
  std::string failure;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(reader.latest(failure), "7");
}

TEST(CommandReader, KillsASilentCommandWithItsChildren) {
  const TemporaryDirectory directory;
  const auto pid = directory.path() / "pid";
  // One that is killed before it has written its number is started again.
  CommandSettings settings = shell("sleep 600 & echo $! >> " + pid.string() + "; echo 1; wait");
  settings.patience_s = 0.3;
  CommandReader reader(settings);
  std::string failure;
  EXPECT_TRUE(support::eventually([&] {
    reader.latest(failure);
    return process_is_gone(pid);
  }));
  EXPECT_EQ(failure, "no reading within 0.3 s");
}

TEST(CommandReader, KillsWhatACommandLeavesBehind) {
  const TemporaryDirectory directory;
  const auto pid = directory.path() / "pid";
  CommandSettings settings = shell("sleep 600 & echo $! > " + pid.string() + "; echo 1");
  settings.interval_s = 60;
  CommandReader reader(settings);
  reader.wait_for_first();
  std::string failure;
  EXPECT_TRUE(support::eventually([&] {
    reader.latest(failure);
    return process_is_gone(pid);
  }));
}

TEST(CommandReader, TakesItsCommandAlong) {
  const TemporaryDirectory directory;
  const auto pid = directory.path() / "pid";
  {
    CommandReader reader(shell("sleep 600 & echo $! > " + pid.string() + "; echo 1; wait"));
    reader.wait_for_first();
  }
  EXPECT_TRUE(has_ended(pid));
}

TEST(CommandReader, HoldsAReadingAndThenSaysWhyThereIsNone) {
  const TemporaryDirectory directory;
  const std::string flag = (directory.path() / "flag").string();
  CommandSettings settings = shell(
      "[ -e " + flag + " ] && echo the meter is gone >&2 && exit 3; touch " + flag + "; echo 5");
  settings.patience_s = 3;
  CommandReader reader(settings);
  const auto before = Clock::now();
  reader.wait_for_first();
  std::string failure;
  const auto held = reader.latest(failure);
  if (Clock::now() - before < std::chrono::seconds(3)) {
    EXPECT_EQ(held, "5");
  }
  EXPECT_EQ(read_until(reader, [](const std::string& text) { return text != "5"; }),
            "failure: exit code 3: the meter is gone");
}

TEST(CommandReader, SaysWhatCameInPlaceOfTheFirstReading) {
  EXPECT_EQ(reader_error(shell("echo no device >&2; exit 3")), "exit code 3: no device");
  EXPECT_EQ(reader_error(shell("echo ten")), "it printed 'ten', not a number");
  EXPECT_EQ(reader_error(shell("true")), "it printed nothing, not a number");
  CommandSettings absent = shell("");
  absent.arguments = {"no-such-program"};
  EXPECT_THAT(reader_error(absent), HasSubstr("no-such-program"));
  CommandSettings silent = shell("sleep 60");
  silent.patience_s = 0.1;
  EXPECT_EQ(reader_error(silent), "no reading within 0.1 s");
}

}  // namespace
}  // namespace bench::energy
