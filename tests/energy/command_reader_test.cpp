#include "energy/fixtures.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/drivers/command_reader.hpp>
#include <bench/energy/meter/ticks.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

CommandSettings shell(const std::string& script) {
  return {.arguments = {"/bin/sh", "-c", script},
          .interval_s = 0.02,
          .patience_s = 5,
          .is_reading = [](std::string_view line) { return parse_integer(line).has_value(); },
          .expected = "a number"};
}

/// What is read once `wanted` holds; it is waited for at most 5 s.
template <class Wanted>
std::string read_until(CommandReader& reader, Wanted wanted) {
  std::string text;
  for (int i = 0; i < 500; ++i) {
    std::string failure;
    const auto line = reader.latest(failure);
    text = line ? *line : "failure: " + failure;
    if (wanted(text))
      return text;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "timed out at " + text;
}

std::string reason(const CommandSettings& settings) {
  try {
    CommandReader(settings).wait_for_first();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

bool is_alive(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  return !text.empty() && text.find(") Z") == std::string::npos;
}

/// Whether the process whose number is in the file is gone within 5 s.
bool has_ended(const std::filesystem::path& pid_file) {
  for (int i = 0; i < 500; ++i) {
    if (std::filesystem::exists(pid_file))
      if (const std::string pid(strip(read_file(pid_file))); !pid.empty() && !is_alive(pid))
        return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
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
  CommandReader reader(shell("[ -e " + flag + " ] && sleep 60; touch " + flag + "; echo 5"));
  reader.wait_for_first();
  const auto before = Clock::now();
  std::string failure;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(reader.latest(failure), "5");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(2));
}

TEST(CommandReader, DoesNotDrownInEndlessOutput) {
  CommandReader reader(shell("yes 7"));
  reader.wait_for_first();
  const auto before = Clock::now();
  std::string failure;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(reader.latest(failure), "7");
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(2));
}

TEST(CommandReader, KillsASilentCommandWithItsChildren) {
  const TemporaryDirectory directory;
  const auto pid = directory.path() / "pid";
  CommandSettings settings = shell("sleep 60 & echo $! > " + pid.string() + "; echo 1; wait");
  settings.patience_s = 0.3;
  settings.interval_s = 60;
  CommandReader reader(settings);
  reader.wait_for_first();
  EXPECT_EQ(read_until(reader, [](const std::string& text) { return text != "1"; }),
            "failure: no reading within 0.3 s");
  EXPECT_TRUE(has_ended(pid));
}

TEST(CommandReader, KillsWhatACommandLeavesBehind) {
  const TemporaryDirectory directory;
  const auto pid = directory.path() / "pid";
  CommandSettings settings = shell("sleep 60 & echo $! > " + pid.string() + "; echo 1");
  settings.interval_s = 60;
  CommandReader reader(settings);
  reader.wait_for_first();
  std::string failure;
  for (int i = 0; i < 100 && is_alive(std::string(strip(read_file(pid)))); ++i) {
    reader.latest(failure);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(has_ended(pid));
}

TEST(CommandReader, TakesItsCommandAlong) {
  const TemporaryDirectory directory;
  const auto pid = directory.path() / "pid";
  {
    CommandReader reader(shell("sleep 60 & echo $! > " + pid.string() + "; echo 1; wait"));
    reader.wait_for_first();
  }
  EXPECT_TRUE(has_ended(pid));
}

TEST(CommandReader, HoldsAReadingAndThenSaysWhyThereIsNone) {
  const TemporaryDirectory directory;
  const std::string flag = (directory.path() / "flag").string();
  CommandSettings settings = shell(
      "[ -e " + flag + " ] && echo the meter is gone >&2 && exit 3; touch " + flag + "; echo 5");
  settings.patience_s = 0.4;
  CommandReader reader(settings);
  reader.wait_for_first();
  std::string failure;
  EXPECT_EQ(reader.latest(failure), "5");
  EXPECT_EQ(read_until(reader, [](const std::string& text) { return text != "5"; }),
            "failure: exit code 3: the meter is gone");
}

TEST(CommandReader, SaysWhatCameInPlaceOfTheFirstReading) {
  EXPECT_EQ(reason(shell("echo no device >&2; exit 3")), "exit code 3: no device");
  EXPECT_EQ(reason(shell("echo ten")), "it printed 'ten', not a number");
  EXPECT_EQ(reason(shell("true")), "it printed nothing, not a number");
  CommandSettings absent = shell("");
  absent.arguments = {"no-such-program"};
  EXPECT_THAT(reason(absent), HasSubstr("no-such-program"));
  CommandSettings silent = shell("sleep 60");
  silent.patience_s = 0.1;
  EXPECT_EQ(reason(silent), "no reading within 0.1 s");
}

}  // namespace
}  // namespace bench::energy
