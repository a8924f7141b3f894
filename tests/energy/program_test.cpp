#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"
#include "support/sanitizer.hpp"

#include <array>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;
using testing::Not;

struct EndCase {
  std::string name;
  std::string script;
  ExitStatus expected;
};
class ProgramEndTest : public testing::TestWithParam<EndCase> {};

TEST_P(ProgramEndTest, IsTheEndOfTheProgramItRan) {
  const CommandOutput output = run(metered(constant_power, GetParam().script));
  EXPECT_EQ(output.status, GetParam().expected);
  EXPECT_EQ(values(output.standard_error).count("energy_quality"), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, ProgramEndTest,
    testing::Values(EndCase{"Success", "exit 0", {}}, EndCase{"Failure", "exit 7", {.code = 7}},
                    EndCase{"HighCode", "exit 255", {.code = 255}},
                    EndCase{"WithoutDescriptors", "exec 0<&- 1>&- 2>&-; exit 5", {.code = 5}},
                    EndCase{"BeforeItsDaemon", "sleep 20 >/dev/null 2>&1 & exit 3", {.code = 3}},
                    EndCase{"Kill", "kill -KILL $$", {.signal = SIGKILL}},
                    EndCase{"SegmentationFault", "kill -SEGV $$", {.signal = SIGSEGV}},
                    EndCase{"Terminate", "kill -TERM $$", {.signal = SIGTERM}},
                    EndCase{"UserSignal", "kill -USR1 $$", {.signal = SIGUSR1}}),
    [](const auto& test) { return test.param.name; });

/// Fewer threads, processes or memory than the meter would use.
struct LimitCase {
  std::string name;
  std::string limit;  ///< Shell text before the command.
};
class ProgramLimitTest : public testing::TestWithParam<LimitCase> {};

TEST_P(ProgramLimitTest, TheProgramRunsWithItsOwnExitCode) {
  if (support::sanitized)
    GTEST_SKIP() << "a sanitizer needs more memory and threads";
  const TemporaryDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  ProcessSpec can;
  can.arguments = {"sh", "-c", GetParam().limit + "test -x " BENCH_ENERGY_PROGRAM};
  if (!run(can).status.success())
    GTEST_SKIP() << "this user may not set the limit";
  ProcessSpec spec;
  spec.arguments = {"sh", "-c",
                    GetParam().limit + BENCH_ENERGY_PROGRAM +
                        " --method mock:constant=1W,rapl,hwmon,pm_counters --regions --out " +
                        (directory.path() / "out").string() + " -- sh -c 'echo ran; exit 3'"};
  const CommandOutput output = run(spec);
  EXPECT_EQ(output.status, ExitStatus{.code = 3}) << output.standard_error;
  EXPECT_EQ(output.standard_output, "ran\n");
}

INSTANTIATE_TEST_SUITE_P(
    Energy, ProgramLimitTest,
    testing::Values(LimitCase{"AddressSpace", "ulimit -v 20000; exec "},
                    LimitCase{"AddressSpaceForNoThread", "ulimit -v 12000; exec "},
                    // Root's processes are not limited.
                    LimitCase{"Processes",
                              "ulimit -u 5; exec setpriv --reuid 54321 --clear-groups "},
                    LimitCase{"ProcessesForNoThread",
                              "ulimit -u 2; exec setpriv --reuid 54321 --clear-groups "}),
    [](const auto& test) { return test.param.name; });

struct MistakeCase {
  std::string name;
  std::vector<std::string> arguments;
  int code;
  std::string message;
};
class MistakeTest : public testing::TestWithParam<MistakeCase> {};

TEST_P(MistakeTest, IsNamedAndHasItsExitCode) {
  ProcessSpec spec;
  spec.arguments = GetParam().arguments;
  spec.arguments.insert(spec.arguments.begin(), BENCH_ENERGY_PROGRAM);
  const CommandOutput output = run(spec);
  EXPECT_EQ(output.status, ExitStatus{.code = GetParam().code});
  EXPECT_EQ(output.standard_output, "");
  EXPECT_EQ(output.standard_error, "bench-energy: " + GetParam().message + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Energy, MistakeTest,
    testing::Values(MistakeCase{"NotFound",
                                {"--", "no-such-program"},
                                127,
                                "cannot run 'no-such-program': No such file or directory"},
                    MistakeCase{"NotExecutable",
                                {"--", "/dev/null"},
                                126,
                                "cannot run '/dev/null': Permission denied"},
                    MistakeCase{"UnknownOption",
                                {"--metod", "nvml", "--", "true"},
                                125,
                                "error: unknown option '--metod'\nhint: did you mean '--method'?"}),
    [](const auto& test) { return test.param.name; });

TEST(EnergyProgram, PassesInputAndOutputByteForByte) {
  std::string input;
  for (int i = 0; i < 100000; ++i)
    input += static_cast<char>(i * 31);
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM, "--method", "mock:constant=1W", "--", "cat"};
  const CommandOutput output = run(spec, {}, input);
  EXPECT_EQ(output.standard_output, input);
}

TEST(EnergyProgram, PassesTheProgramsErrorsBeforeItsOwn) {
  const CommandOutput output = run(metered(constant_power, "echo out; echo err >&2"));
  EXPECT_EQ(output.standard_output, "out\n");
  EXPECT_TRUE(output.standard_error.starts_with("err\nbench-energy: "));
}

/// What a background job of a shell or nohup ignores cannot be trapped by the programs it starts.
void stop_ignoring_signals() {
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT})
    ::signal(signal, SIG_DFL);
}

TEST(EnergyProgram, ForwardsSignalsToTheProgram) {
  stop_ignoring_signals();
  // From a subshell, since what the program itself sends is not sent back to it.
  for (const std::string signal : {"TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "WINCH"}) {
    const CommandOutput output =
        run(metered(constant_power, "trap 'exit 9' " + signal + "; (kill -" + signal +
                                        " $PPID); while :; do sleep 0.02; done"));
    EXPECT_EQ(output.status, ExitStatus{.code = 9}) << signal;
    EXPECT_EQ(values(output.standard_error).count("energy_wh"), 1U) << signal;
  }
}

TEST(EnergyProgram, ForwardsSignalsToTheGroupThatTheProgramHasMade) {
  const TemporaryDirectory directory;
  ProcessSpec spec;
  spec.directory = directory.path();
  spec.arguments = {
      "sh", "-c",
      std::string(BENCH_ENERGY_PROGRAM) +
          " --method mock:constant=1W -- setsid sh -c '"
          "sh -c \"trap \\\"echo child; exit\\\" TERM; touch a; while :; do sleep 0.02; done\" & "
          "trap \"wait; exit 9\" TERM; echo ready; touch b; wait' & "
          "until [ -e a ] && [ -e b ]; do sleep 0.02; done; kill -TERM $!; wait $!; echo $?"};
  if (find_program("setsid").empty())
    GTEST_SKIP() << "no setsid here";
  EXPECT_EQ(run(spec).standard_output, "ready\nchild\n9\n");
}

TEST(EnergyProgram, ReportsWhatATimeLimitHasEnded) {
  ProcessSpec spec = metered(constant_power, "sleep 600");
  spec.arguments.insert(spec.arguments.begin(), {"timeout", "3"});
  const CommandOutput output = run(spec);
  EXPECT_EQ(output.status.code, 124);
  EXPECT_LT(std::stod(values(output.standard_error).at("duration_s")), 600);
}

TEST(EnergyProgram, LeavesSignalsAsItFoundThem) {
  const std::string state = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status";
  ProcessSpec bare;
  bare.arguments = {"sh", "-c", state};
  const CommandOutput output = run(metered(constant_power, state));
  EXPECT_EQ(output.standard_output, run(bare).standard_output);
}

TEST(EnergyProgram, AClosedStandardErrorChangesNothing) {
  const TemporaryDirectory directory;
  ProcessSpec spec;
  spec.arguments = {"sh", "-c",
                    std::string(BENCH_ENERGY_PROGRAM) +
                        " --method mock:constant=1W --out . -- sh -c 'exit 7' 2>&-"};
  spec.directory = directory.path();
  EXPECT_EQ(run(spec).status.code, 7);
  EXPECT_THAT(read_file(directory.path() / "power.csv"), Not(HasSubstr("bench-energy")));
}

TEST(EnergyProgram, StaysInTheProcessGroup) {
  ProcessSpec spec;
  spec.arguments = {"sh", "-c",
                    std::string(BENCH_ENERGY_PROGRAM) +
                        " -- sh -c 'ps -o pgid= -p $$' 2>/dev/null; ps -o pgid= -p $$"};
  if (find_program("ps").empty())
    GTEST_SKIP() << "no ps here";
  const auto rows = csv_cells(run(spec).standard_output);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], rows[1]);
}

/// Reads from a terminal until `text` has come; everything there is at its end.
std::string read_until(int terminal, const std::string& text) {
  std::string seen;
  std::array<char, 256> buffer;
  ssize_t count = 0;
  while (seen.find(text) == std::string::npos &&
         (count = ::read(terminal, buffer.data(), buffer.size())) > 0)
    seen.append(buffer.data(), static_cast<std::size_t>(count));
  return seen;
}

TEST(EnergyProgram, AnInterruptFromTheTerminalArrivesOnce) {
  stop_ignoring_signals();
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ::execl(BENCH_ENERGY_PROGRAM, "bench-energy", "--method", "mock:constant=1W", "--", "sh", "-c",
            "n=0; trap 'n=$((n+1))' INT; echo ready; i=0;"
            "while [ $i -lt 20 ]; do sleep 0.05 & wait; i=$((i+1)); done; echo count=$n",
            nullptr);
    ::_exit(1);
  }
  read_until(terminal, "ready");
  EXPECT_EQ(::write(terminal, "\x03", 1), 1);
  EXPECT_THAT(read_until(terminal, "energy_quality"), HasSubstr("count=1\r\n"));
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ::close(terminal);
}

TEST(EnergyProgram, WritesItsFiles) {
  const TemporaryDirectory directory;
  std::vector<std::string> options = constant_power;
  options.insert(options.end(),
                 {"--out", (directory.path() / "new").string(), "--suffix", "node7"});
  const CommandOutput output = run(metered(options, "sleep 0.2"));
  const auto power = csv_cells(read_file(directory.path() / "new/power.node7.csv"));
  ASSERT_GE(power.size(), 3U);
  EXPECT_EQ(power[1].at(2), "100");
  const auto energy = csv_cells(read_file(directory.path() / "new/energy.node7.csv"));
  ASSERT_EQ(energy.size(), 3U);
  EXPECT_EQ(energy[1][0], "mock:constant");
  EXPECT_EQ(energy[2][0], "total");
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "new/energy.node7.json"));
  std::string expected;
  std::istringstream lines(output.standard_error);
  for (std::string line; std::getline(lines, line);)
    if (line = line.substr(std::string("bench-energy: ").size()); !line.starts_with("warning: "))
      expected += line + "\n";
  EXPECT_EQ(read_file(directory.path() / "new/energy.node7.txt"), expected);
}

TEST(EnergyProgram, WritesNoFilesUnlessAsked) {
  const TemporaryDirectory directory;
  ProcessSpec spec = metered(constant_power, "true");
  spec.directory = directory.path();
  run(spec);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(EnergyProgram, AKillOfTheMeterLeavesItsSamples) {
  const TemporaryDirectory directory;
  std::vector<std::string> options = constant_power;
  options.insert(options.end(), {"--out", directory.path().string()});
  const std::string file = (directory.path() / "power.csv").string();
  const CommandOutput output = run(metered(
      options, "until [ $(wc -l < " + file + ") -gt 50 ]; do sleep 0.05; done; kill -KILL $PPID"));
  EXPECT_EQ(output.status.signal, SIGKILL);
  EXPECT_GT(csv_cells(read_file(file)).size(), 50U);
}

TEST(EnergyProgram, MatchesTheClosedFormOfASum) {
  const CommandOutput output =
      run(metered({"--strict", "--method", "mock:constant=100W,mock:square=100W/300W/10ms",
                   "--interval", "5ms"},
                  "sleep 1"));
  EXPECT_EQ(output.status.code, 0);
  const auto found = values_of(output);
  EXPECT_NEAR(joules(found.at("energy_wh")) / (300 * std::stod(found.at("duration_s"))), 1, 0.02);
  EXPECT_EQ(found.at("energy_quality"), "measured");
  EXPECT_EQ(found.at("energy_source"), "mock");
}

TEST(EnergyProgram, MatchesTheClosedFormOfARamp) {
  const TemporaryDirectory directory;
  const auto found = values(run(metered({"--method", "mock:ramp=50W/20W", "--interval", "5ms",
                                         "--out", directory.path().string()},
                                        "sleep 1"))
                                .standard_error);
  // The first sample tells how long the source was there before the run.
  const auto sample = csv_cells(read_file(directory.path() / "power.csv")).at(1);
  const double before_s = (std::stod(sample.at(2)) - 50) / 20 - std::stod(sample.at(0));
  const double run_s = std::stod(found.at("duration_s"));
  const double mean_w = 50 + 20 * (before_s + run_s / 2);
  EXPECT_NEAR(joules(found.at("energy_wh")) / (mean_w * run_s), 1, 0.01);
}

TEST(EnergyProgram, WithoutASourceRunsTheProgramAndSaysWhyThereIsNoEnergy) {
  const TemporaryDirectory tree;
  const CommandOutput output =
      run(metered({"--method", "rapl,hwmon", "--sysfs-root", tree.path().string()}, "exit 3"));
  EXPECT_EQ(output.status.code, 3);
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.at("energy_quality"), "none");
  EXPECT_EQ(found.at("energy_absent"),
            "rapl: no " + tree.path().string() +
                "/class/powercap/intel-rapl:* (no RAPL, or hidden from this container); hwmon: no "
                "power meter in " +
                tree.path().string() + "/class/hwmon/hwmon*");
  EXPECT_THAT(output.standard_error, Not(HasSubstr("energy_wh")));
}

TEST(EnergyProgram, StrictRefusesAnAbsentSourceBeforeTheProgramStarts) {
  const TemporaryDirectory tree;
  const CommandOutput output = run(metered(
      {"--strict", "--method", "rapl", "--sysfs-root", tree.path().string()}, "echo started"));
  EXPECT_EQ(output.status.code, 125);
  EXPECT_EQ(output.standard_output, "");
}

TEST(EnergyProgram, OnlyStrictLetsALostDeviceChangeTheExitCode) {
  const std::string method = "mock:lost=100W/50ms";
  EXPECT_EQ(run(metered({"--method", method}, "sleep 0.3")).status.code, 0);
  EXPECT_EQ(run(metered({"--strict", "--method", method}, "sleep 0.3")).status.code, 125);
  EXPECT_EQ(run(metered({"--strict", "--method", method}, "sleep 0.3; exit 4")).status.code, 4);
}

TEST(EnergyProgram, FindsNvmlOnTheLibraryPath) {
  const Environment fake{{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_DEVICES", "2"}};
  const auto found = values(
      run(metered({"--method", "nvml", "--interval", "10ms"}, "sleep 0.5"), fake).standard_error);
  EXPECT_NEAR(joules(found.at("energy_wh")) / (500 * std::stod(found.at("duration_s"))), 1, 0.02);
  EXPECT_EQ(found.at("energy_source"), "nvml");
  EXPECT_EQ(found.count("energy_nvml_1_gpu_wh"), 1U);
}

TEST(EnergyProgram, ADeviceLostDuringTheRunIsReportedAndTheProgramGoesOn) {
  const Environment fake{{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_FAIL_AFTER", "6"}};
  const CommandOutput output =
      run(metered({"--method", "nvml", "--interval", "10ms"}, "sleep 0.3; exit 5"), fake);
  EXPECT_EQ(output.status.code, 5);
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_THAT(found.at("energy_absent"), HasSubstr("GPU is lost (NVML code 15)"));
}

TEST(EnergyProgram, ListsWhatIsThere) {
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM, "--list", "--method", "mock:constant=5W"};
  const CommandOutput output = run(spec);
  EXPECT_EQ(output.status.code, 0);
  EXPECT_EQ(output.standard_output,
            "channel        added  part of  what\n"
            "mock:constant  yes    -        constant=5W\n");
}

TEST(EnergyProgram, HelpHasAnExample) {
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM, "--help"};
  const CommandOutput output = run(spec);
  EXPECT_EQ(output.status.code, 0);
  EXPECT_THAT(output.standard_output, HasSubstr("bench-energy --out energy --interval 50ms -- "));
}

}  // namespace
}  // namespace bench::energy
