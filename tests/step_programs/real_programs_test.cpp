// The programs themselves, as files of their own; other tests call their `main` in a child.

#include "step_programs/program_runner.hpp"

#include <string>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

class RealProgramTest : public testing::TestWithParam<const char*> {};

TEST_P(RealProgramTest, StartsAndEndsWithWhatItSaysToAMistake) {
  const Outcome outcome = run_in_shell(GetParam(), "--no-such-option");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            program_name(GetParam()) + ": error: not expected: --no-such-option\nhint: `" +
                program_name(GetParam()) + " --help` lists the options and their defaults\n");
}

INSTANTIATE_TEST_SUITE_P(Programs, RealProgramTest,
                         testing::Values(AP1_PROGRAM, AP2_PROGRAM, AP3_PROGRAM, AP4_PROGRAM,
                                         AP5_PROGRAM, AP6_PROGRAM, ATMOREP_PROGRAM,
                                         COSMOFLOW_PROGRAM, DEEPCAM_PROGRAM, GPT_PROGRAM,
                                         LLAMA_PROGRAM, VISION_PROGRAM),
                         [](const auto& instance) { return program_name(instance.param); });

TEST(RealProgram, TrainsAndEnds) {
  const Outcome outcome = run_in_shell(
      GPT_PROGRAM,
      "--layers 1 --hidden 32 --heads 4 --seq 16 --vocab-size 128 --threads 2 --device cpu "
      "--steps 2 --warmup 0");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
}

}  // namespace
}  // namespace bench::steps
