#include <string>

#include <gtest/gtest.h>

#include <bench/energy/core/machine_state.hpp>

namespace bench::energy {
namespace {

MachineState with_others(int cpus, double other_cpus) {
  MachineState machine;
  machine.cpu.cpus = cpus;
  machine.cpu.other_cpus = other_cpus;
  return machine;
}

MachineState with_gpu(const std::string& reason) {
  MachineState machine;
  machine.gpu = GpuState{.reads = 4, .throttled = {{reason, 3}}};
  return machine;
}

MachineState with_governor(const std::string& governor) {
  MachineState machine;
  machine.cpu.governor = governor;
  return machine;
}

struct DisturbanceCase {
  std::string name;
  MachineState machine;
  std::string disturbance;
};
class DisturbanceTest : public testing::TestWithParam<DisturbanceCase> {};

TEST_P(DisturbanceTest, IsNamed) {
  EXPECT_EQ(disturbance(GetParam().machine), GetParam().disturbance);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, DisturbanceTest,
    testing::Values(DisturbanceCase{"Nothing", {}, ""},
                    DisturbanceCase{"OtherPrograms", with_others(2, 0.95),
                                    "CPUs used by other programs: 0.9 of 2"},
                    DisturbanceCase{"DaemonsOfASmallNode", with_others(2, 0.09), ""},
                    DisturbanceCase{"DaemonsOfALargeNode", with_others(256, 2.5), ""},
                    DisturbanceCase{"OneProgramMoreOnALargeNode", with_others(256, 3.5),
                                    "CPUs used by other programs: 3.5 of 256"},
                    DisturbanceCase{"OneGovernor", with_governor("powersave"), ""},
                    DisturbanceCase{"TwoGovernors", with_governor("performance,powersave"),
                                    "CPUs have different governors: performance,powersave"},
                    DisturbanceCase{"PowerCap", with_gpu("power_cap"), ""},
                    DisturbanceCase{
                        "Heat", with_gpu("hw_thermal"),
                        "a GPU lowered its clock (hw_thermal), share of the time: 75 %"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::energy
