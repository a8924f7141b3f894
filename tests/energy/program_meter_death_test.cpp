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

TEST(MeterDeath, AProgramThatIsToDieWithTheMeterEndsAsItWould) {
  const CommandOutput output = run(
      metered({"--on-meter-death", "kill", "--method", "mock:constant=1W"}, "echo out; exit 7"));
  EXPECT_EQ(output.status.code, 7);
  EXPECT_EQ(output.standard_output, "out\n");
}

}  // namespace
}  // namespace bench::energy
