#include "space/script_fixture.hpp"
#include "support/error_of.hpp"

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/machine/platform.hpp>

namespace bench::space {
namespace {

using testing::HasSubstr;

/// The meter in the job scripts of a step.
class MeterCommandTest : public ScriptFixture {};

const std::string divided =
    "batch: {nodes: 2, tasks_per_node: 4, gpus_per_node: 4, template: commands.job}";

/// One meter would see the GPUs of its own task alone.
TEST_F(MeterCommandTest, EachTaskThatHasGpusOfItsOwnHasAMeter) {
  begin("step: {name: go, do: '$jube_starter ./train', energy: true, " + divided + "}\n");
  run_.platform.gpu_request = machine::GpuRequest::gpus_per_task;
  EXPECT_THAT(script(context()), HasSubstr(" --interval 100ms --record "));
  run_.benchmark.steps[0].power.gpu_power_limit = "300W";
  const RenderContext of = context();
  EXPECT_THAT(
      support::error_of([&] { script(of); }),
      HasSubstr(": error: no task of step 'go' sees all GPUs of a node, so no meter can set "
                "and restore what the tasks use\nhint: platform slurm gives GPUs to tasks: "
                "use another gpu_request, or one task per node"));
}

TEST_F(MeterCommandTest, OneMeterSeesAllGpusWhereNoLauncherDividesThem) {
  begin("step: {name: go, do: ./train, energy: true, gpu_power_limit: 300W, " + divided + "}\n");
  run_.platform.gpu_request = machine::GpuRequest::gpus_per_task;
  EXPECT_THAT(script(context()), HasSubstr(" --per-node --gpu-power-limit 300W --record "));
}

TEST_F(MeterCommandTest, TheMeterSetsTheProcessorsToWhatParametersSay) {
  begin(
      "parameterset: {name: p, parameter: {limit: [300W, ''], governor: performance}}\n"
      "step: {name: go, use: p, do: a, batch: {template: commands.job}, energy: true, "
      "gpu_power_limit: $limit, cpu_governor: $governor}\n");
  EXPECT_THAT(script(context(0)),
              HasSubstr(" --per-node --gpu-power-limit 300W --cpu-governor performance --record "));
  EXPECT_THAT(script(context(1)), HasSubstr(" --per-node --cpu-governor performance --record "));
}

TEST_F(MeterCommandTest, ASettingThatParametersMakeWrongIsRefusedBeforeTheJob) {
  begin(
      "parameterset: {name: p, parameter: {limit: 300}}\n"
      "step: {name: go, use: p, do: a, batch: {template: commands.job}, energy: true, "
      "gpu_power_limit: $limit}\n");
  const RenderContext of = context();
  EXPECT_THAT(support::error_of([&] { script(of); }),
              HasSubstr(": error: the power limit of a GPU is a number above zero with a unit, not "
                        "'300'\nhint: write it like 300W"));
}

TEST_F(MeterCommandTest, APackCannotSetTheGovernorOfCpusThatItShares) {
  begin(
      "step: {name: go, do: a, batch: {pack: 2, template: commands.job}, energy: true, "
      "cpu_governor: performance}\n");
  const RenderContext of = context();
  EXPECT_THAT(support::error_of([&] { script(of); }),
              HasSubstr(": error: workpackages that share a job cannot each set the governor of "
                        "its CPUs\nhint: remove `cpu_governor` or `pack`"));
}

struct Setting {
  std::string name;
  std::string energy;
  std::string expected;
};
void PrintTo(const Setting& s, std::ostream* out) {
  *out << s.name;
}

class MeterSettingTest : public MeterCommandTest, public testing::WithParamInterface<Setting> {};

TEST_P(MeterSettingTest, IsRefusedBeforeTheJobOnceItsParametersAreKnown) {
  begin(
      "parameterset: {name: p, parameter: {m: nvm, t: 1us}}\n"
      "step: {name: go, use: p, do: a, batch: {template: commands.job}, energy: " +
      GetParam().energy + "}\n");
  const RenderContext of = context();
  EXPECT_THAT(support::error_of([&] { script(of); }), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, MeterSettingTest,
    testing::Values(Setting{"Methods", "{methods: $m}",
                            ": error: unknown method 'nvm'\nhint: did you mean 'nvml'?"},
                    Setting{"UnknownParameter", "{methods: $x}", ": error: unknown method '$x'"},
                    Setting{"Interval", "{interval: $t}",
                            ": error: interval 1us is out of range\nhint: 1ms to 10s"},
                    Setting{"Baseline", "{baseline: $t}",
                            ": error: baseline 1us is out of range\nhint: 100ms to 60min"}),
    [](const auto& one) { return one.param.name; });

TEST_F(MeterCommandTest, MeasuresAsThePlatformDoesUnlessToldOtherwise) {
  begin("step: {name: go, do: a, energy: true, batch: {template: commands.job}}\n");
  run_.platform.energy = "nvml,rapl";
  EXPECT_THAT(script(context()), testing::StartsWith("bench-energy --method nvml,rapl "));
  run_.benchmark.steps[0].energy->methods = "hwmon";
  EXPECT_THAT(script(context()), testing::StartsWith("bench-energy --method hwmon "));
}

}  // namespace
}  // namespace bench::space
