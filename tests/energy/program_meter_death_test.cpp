// What becomes of the program when the real bench-energy is killed by SIGKILL.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"
#include "support/eventually.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

/// Whether the process with the number in this file is there, and not as a zombie.
bool runs(const std::filesystem::path& pid_file) {
  std::ifstream status("/proc/" + std::string(strip(read_file(pid_file))) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("State:"))
      return line.find('Z') == std::string::npos && line.find('X') == std::string::npos;
  return false;
}

struct PolicyCase {
  std::string name;
  std::vector<std::string> options;
  bool program_ends;
};
class MeterDeathTest : public testing::TestWithParam<PolicyCase> {};

TEST_P(MeterDeathTest, LeavesNoMeterAndTheProgramAsItWasAsked) {
  const TemporaryDirectory directory;
  const std::string at = directory.path().string();
  std::vector<std::string> options = GetParam().options;
  options.insert(options.end(), constant_power.begin(), constant_power.end());
  ASSERT_EQ(::mkfifo((at + "/go").c_str(), 0600), 0);
  ProcessSpec spec = metered(options, "cd " + at +
                                          "; echo $$ > program; echo $PPID > meter; read go < go; "
                                          "echo went on > after");
  Process meter(spec);
  support::wait_for_line(at + "/meter");
  EXPECT_TRUE(runs(directory.path() / "program"));
  ::kill(meter.pid(), SIGKILL);
  EXPECT_EQ(meter.wait(), ExitStatus{.signal = SIGKILL});
  EXPECT_FALSE(runs(directory.path() / "meter"));
  if (GetParam().program_ends) {
    EXPECT_TRUE(has_ended(directory.path() / "program"));
    return;
  }
  std::fstream go(at + "/go");  // to read and to write: does not wait for the other side
  go << "\n" << std::flush;
  EXPECT_EQ(support::wait_for_line(at + "/after"), "went on\n");
}

INSTANTIATE_TEST_SUITE_P(
    Energy, MeterDeathTest,
    testing::Values(PolicyCase{"ByDefaultItSurvives", {}, false},
                    PolicyCase{"ItSurvives", {"--on-meter-death", "survive"}, false},
                    PolicyCase{"ItIsKilled", {"--on-meter-death", "kill"}, true}),
    [](const auto& test) { return test.param.name; });

/// A program that is to die with the meter notices nothing of it.
struct KillPolicyCase {
  std::string name;
  std::vector<std::string> arguments;
  int code;
  std::string output;
  std::string error;
};
class KillPolicyTest : public testing::TestWithParam<KillPolicyCase> {};

TEST_P(KillPolicyTest, StartsAsTheOtherDoes) {
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM, "--on-meter-death", "kill",
                    "--method",           "mock:constant=1W", "--"};
  spec.arguments.insert(spec.arguments.end(), GetParam().arguments.begin(),
                        GetParam().arguments.end());
  const CommandOutput output = run(spec);
  EXPECT_EQ(output.status.code, GetParam().code);
  EXPECT_EQ(output.standard_output, GetParam().output);
  EXPECT_THAT(output.standard_error, HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Energy, KillPolicyTest,
    testing::Values(
        KillPolicyCase{"ExitCode", {"sh", "-c", "echo out; exit 7"}, 7, "out\n", "energy_quality"},
        KillPolicyCase{"NotFound",
                       {"no-such-program"},
                       127,
                       "",
                       "cannot run 'no-such-program': No such file or directory"},
        KillPolicyCase{
            "NotExecutable", {"/dev/null"}, 126, "", "cannot run '/dev/null': Permission denied"}),
    [](const auto& test) { return test.param.name; });

/// The signals that a program under the meter ignores; -1 where it has blocked some.
long long ignored_signals(const char* on_meter_death) {
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM,
                    "--on-meter-death",
                    on_meter_death,
                    "--method",
                    "mock:constant=1W",
                    "--",
                    "sed",
                    "-nE",
                    "s/^Sig(Blk|Ign):\t//p",
                    "/proc/self/status"};
  const auto masks = split_names(run(spec).standard_output, "\n");
  return std::stoll(masks.at(0), nullptr, 16) != 0 ? -1 : std::stoll(masks.at(1), nullptr, 16);
}

TEST(KillPolicy, ProgramsHaveTheSignalsOfTheOther) {
  const long long ignored = ignored_signals("survive");  // as this test was started with
  EXPECT_GE(ignored, 0);
  EXPECT_EQ(ignored_signals("kill"), ignored);
}

}  // namespace
}  // namespace bench::energy
