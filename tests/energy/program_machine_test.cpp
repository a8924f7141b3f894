#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bench/base/files.hpp>

namespace bench::energy {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

/// A node that nobody else uses, until a script says so.
class ProgramMachineTest : public testing::Test {
 protected:
  void SetUp() override {
    root_.write("proc/loadavg", "0.42 0.30 0.20 1/100 1000");
    root_.write("proc/stat",
                "cpu  100 0 0 100 0 0 0 0 0 0\ncpu0 50 0 0 50 0 0 0 0 0 0\n"
                "cpu1 50 0 0 50 0 0 0 0 0 0");
    root_.write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance");
    root_.write("sys/class/hwmon/hwmon0/name", "coretemp");
    root_.write("sys/class/hwmon/hwmon0/temp1_input", "45000");
  }

  CommandOutput measured(const std::string& script, const Environment& variables = {}) {
    return run(metered({"--method", "mock:constant=100W", "--proc-root", path("proc"),
                        "--sysfs-root", path("sys"), "--out", path("out"), "--format", "json"},
                       script),
               variables);
  }

  std::string path(const std::string& name) const { return (root_.path() / name).string(); }

  TemporaryDirectory root_;
  /// 1000 s of CPU time while the program runs, which cannot all be its own. The meter makes its
  /// files when it has looked at the node.
  std::string use_cpus_ = "while [ ! -e " + path("out/power.csv") + " ]; do sleep 0.01; done; " +
                          "echo 'cpu  100100 0 0 100 0 0 0 0 0 0\ncpu0 1 0 0 0\ncpu1 1 0 0 0' > " +
                          path("proc/stat");
};

TEST_F(ProgramMachineTest, RecordsTheStateOfTheNode) {
  const auto output = measured("sleep 3");
  EXPECT_THAT(values(output.standard_error),
              AllOf(Contains(Pair("machine_load", "0.42")), Contains(Pair("machine_cpus", "2")),
                    Contains(Pair("machine_other_cpus", "0")),
                    Contains(Pair("machine_governor", "performance")),
                    Contains(Pair("machine_cpu_temperature_max_c", "45"))));
  const auto document = nlohmann::json::parse(read_file(root_.path() / "out/energy.json"));
  EXPECT_EQ(document["machine"]["machine_load"], 0.42);
}

/// The kernel's ticks are too coarse for it.
TEST_F(ProgramMachineTest, AShortRunDoesNotKnowWhetherItWasAlone) {
  const auto output = measured("sleep 0.1");
  EXPECT_THAT(values(output.standard_error),
              AllOf(Contains(Key("machine_cpus")), Not(Contains(Key("machine_other_cpus")))));
}

TEST_F(ProgramMachineTest, WarnsWhereOtherProgramsUseItsCpus) {
  const auto output = measured(use_cpus_);
  EXPECT_THAT(output.standard_error,
              HasSubstr("bench-energy: warning: not quiet: CPUs used by other programs: "));
}

TEST_F(ProgramMachineTest, InAJobKnowsWhoseCpuTimeItIsByTheControlGroup) {
  root_.write("proc/self/cgroup", "0::/slurm/job_7/step_0");
  root_.write("sys/fs/cgroup/slurm/job_7/cpu.stat", "usage_usec 0");
  const auto output = measured(use_cpus_ + "; echo 'usage_usec 1000000000' > " +
                                   path("sys/fs/cgroup/slurm/job_7/cpu.stat") + "; sleep 2",
                               {{"SLURM_JOB_ID", "7"}});
  EXPECT_EQ(values(output.standard_error)["machine_other_cpus"], "0");
}

TEST_F(ProgramMachineTest, GpusShowClocksTemperaturesAndWhyTheyAreSlow) {
  ProcessSpec spec = metered({"--method", "nvml", "--interval", "10ms"}, "sleep 0.2");
  const auto output = run(std::move(spec), {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                                            {"FAKE_NVML_CLOCK_MHZ", "1410"},
                                            {"FAKE_NVML_TEMPERATURE_C", "83"},
                                            {"FAKE_NVML_CLOCK_REASONS", "68"}});
  EXPECT_THAT(values(output.standard_error),
              AllOf(Contains(Pair("machine_gpu_clock_mhz", "1410")),
                    Contains(Pair("machine_gpu_temperature_max_c", "83")),
                    Contains(Pair("machine_gpu_throttle", "hw_thermal 100 %, power_cap 100 %"))));
  EXPECT_THAT(output.standard_error, HasSubstr("not quiet: "));
  EXPECT_THAT(output.standard_error,
              HasSubstr("a GPU lowered its clock (hw_thermal), share of the time: 100 %"));
}

}  // namespace
}  // namespace bench::energy
