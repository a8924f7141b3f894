#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/insight/past_runs.hpp>
#include <bench/insight/work.hpp>
#include <bench/machine/platform.hpp>

namespace bench::insight {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> call_in(const std::string& command) {
  return program_call({command}, [](const std::string& word) { return word == "gpt"; });
}

TEST(ProgramCallTest, IsFoundAsAShellReadsIt) {
  EXPECT_THAT(call_in("gpt --steps 3 > log"), ElementsAre("gpt", "--steps", "3"));
  EXPECT_THAT(call_in("srun -n 4 bench-energy -- gpt --model '7 B' \"--x\"\\ y | tail"),
              ElementsAre("gpt", "--model", "7 B", "--x y"));
  EXPECT_THAT(call_in("module load a\ngpt \\\n  --steps 3"), ElementsAre("gpt", "--steps", "3"));
  EXPECT_THAT(call_in("# gpt on 4 GPUs\ngpt --steps a#3 # gpt"),
              ElementsAre("gpt", "--steps", "a#3"));
}

TEST(ProgramCallTest, IsUnknownWhereTheShellWouldHaveToEvaluate) {
  for (const char* command : {"gpt --steps $STEPS", "gpt \"`date`\"", "gpt 'open", "llama", "",
                              "echo done; gpt --steps 3"})
    EXPECT_THAT(call_in(command), IsEmpty()) << command;
}

TEST(PeakTest, IsTheWorkOverTheAssumedShareOfThePeak) {
  const machine::Platform machine = machine::load_platform("A100");
  const Work work{.program = "gpt", .flops = 312e12 * 40, .precision = "fp16", .devices = 4};
  const Prediction planned = predict_by_peak(work, machine, 0.4);
  EXPECT_NEAR(planned.time_s.value.value(), 25, 1e-9);
  EXPECT_EQ(planned.time_s.source,
            "assumed: 40 % of the fp16 peak of 312 TFLOP/s, without start-up");
  const Prediction unknown = predict_by_peak({.absent_reason = "why"}, machine, 0.4);
  EXPECT_FALSE(unknown.time_s.value);
  EXPECT_EQ(unknown.time_s.source, "why");
}

TEST(PeakTest, ACommandThatStopsTakesNoLongerThanThat) {
  const machine::Platform machine = machine::load_platform("A100");
  Work work{.program = "gpt", .flops = 312e12 * 40, .stop_s = 600, .precision = "fp16"};
  EXPECT_NEAR(predict_by_peak(work, machine, 0.4).time_s.value.value(), 100, 1e-9);
  work.stop_s = 90;
  EXPECT_EQ(predict_by_peak(work, machine, 0.4).time_s.value, 90);
  work.flops.reset();
  EXPECT_EQ(predict_by_peak(work, machine, 0.4).time_s.source,
            "the command ends after 1 min 30 s, without start-up");
}

TEST(PeakTest, NeedsAConfirmedOne) {
  const Prediction planned = predict_by_peak({.program = "gpt", .flops = 1e12, .precision = "fp16"},
                                             machine::load_platform("local"), 0.4);
  EXPECT_FALSE(planned.time_s.value);
  EXPECT_EQ(planned.time_s.source, "never measured, and platform local has no confirmed fp16 peak");
}

TEST(DeviceMemoryTest, IsThatOfThePlatformOrOfThisMachine) {
  EXPECT_EQ(device_memory_gb(machine::load_platform("A100")).value, 40);
  EXPECT_EQ(device_memory_gb(machine::load_platform("local")).source, "this machine");
  EXPECT_FALSE(device_memory_gb(machine::load_platform("slurm")).value);
}

}  // namespace
}  // namespace bench::insight
