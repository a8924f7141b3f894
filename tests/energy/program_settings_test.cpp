// Settings of the real bench-energy, and what becomes of them when it is killed.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/process.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

class ProgramSettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    root_.write("power_limit0", "500000");
    root_.write(policy_ + "/scaling_available_governors", "performance powersave");
    root_.write(policy_ + "/scaling_governor", "powersave");
  }

  std::vector<std::string> options() const {
    return {"--method",          "mock:constant=100W",
            "--sysfs-root",      root_.path().string(),
            "--gpu-power-limit", "300W",
            "--cpu-governor",    "performance"};
  }
  Environment variables(const std::string& settings) const {
    return {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_SETTINGS", settings}};
  }
  std::string limit() const { return first_line(root_.path() / "power_limit0"); }
  std::string governor() const { return first_line(root_.path() / policy_ / "scaling_governor"); }

  std::string policy_ = "devices/system/cpu/cpufreq/policy0";
  TemporaryDirectory root_;
};

TEST_F(ProgramSettingsTest, AreInForceWhileTheProgramRunsAndRestoredWhenItHasEnded) {
  const std::string at = root_.path().string();
  const auto output = run(metered(options(), "cat " + at + "/power_limit0 " + at + "/" + policy_ +
                                                 "/scaling_governor; exit 3"),
                          variables(at));
  EXPECT_EQ(output.standard_output, "300000performance");
  EXPECT_EQ(output.status.code, 3);
  EXPECT_EQ(limit(), "500000");
  EXPECT_EQ(governor(), "powersave");
}

TEST_F(ProgramSettingsTest, WhichMayNotBeMadeAreRefusedBeforeTheProgramStarts) {
  const auto output = run(metered(options(), "echo started"), variables("/proc/no/such/directory"));
  EXPECT_EQ(output.standard_output, "");
  EXPECT_EQ(output.status.code, 125);
  EXPECT_THAT(output.standard_error,
              HasSubstr("error: cannot set the power limit of GPU 0: Insufficient Permissions "
                        "(NVML code 4)\nhint: this needs root"));
}

TEST_F(ProgramSettingsTest, ThatCannotBeRestoredAreToldAndDoNotChangeTheExitCode) {
  const std::string at = root_.path().string();
  const auto output =
      run(metered(options(), "rm " + at + "/" + policy_ + "/scaling_governor; mkdir " + at + "/" +
                                 policy_ + "/scaling_governor; exit 3"),
          variables(at));
  EXPECT_EQ(output.status.code, 3);
  EXPECT_THAT(
      output.standard_error,
      HasSubstr("warning: cannot set the governor of policy0 to powersave: Is a directory"));
  EXPECT_EQ(limit(), "500000");
}

TEST_F(ProgramSettingsTest, OfASecondMeterAreRefusedUntilTheFirstHasEnded) {
  const std::string at = root_.path().string();
  const std::string second = std::string(BENCH_ENERGY_PROGRAM) +
                             " --method mock:constant=100W --sysfs-root " + at +
                             " --gpu-power-limit 200W -- echo started";
  const auto both = run(metered(options(), second), variables(at));
  EXPECT_EQ(both.status.code, 125);
  EXPECT_EQ(both.standard_output, "");
  EXPECT_THAT(both.standard_error,
              HasSubstr("error: another meter has changed the settings of GPU 0\n"
                        "hint: wait until it ends and restores them\n"));
  EXPECT_EQ(limit(), "500000");
  EXPECT_EQ(run(metered(options(), "true"), variables(at)).status.code, 0);
  EXPECT_EQ(limit(), "500000");
}

/// As a batch system or the kernel's memory killer does: all at once, without a word.
TEST_F(ProgramSettingsTest, AreRestoredWhenEverythingElseIsKilled) {
  ProcessSpec spec =
      metered(options(), "echo $$ > " + root_.path().string() + "/program; exec sleep 600");
  spec.environment = support::environment_with(variables(root_.path().string()));
  Process meter(spec);
  ASSERT_TRUE(support::eventually([&] { return !first_line(root_.path() / "program").empty(); }));
  EXPECT_EQ(limit(), "300000");
  meter.signal_group(SIGKILL);
  EXPECT_EQ(meter.wait(), ExitStatus{.signal = SIGKILL});
  EXPECT_TRUE(has_ended(root_.path() / "program"));
  EXPECT_TRUE(support::eventually([&] { return limit() == "500000"; }));
  EXPECT_TRUE(support::eventually([&] { return governor() == "powersave"; }));
}

}  // namespace
}  // namespace bench::energy
