#include "step_programs/linked_programs.hpp"
#include "step_programs/program_runner.hpp"
#include "support/sanitizer.hpp"

#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bench::steps {

// The programs themselves, as files of their own; other tests call their `main` in a child.

namespace {

class RealProgramTest : public testing::TestWithParam<const char*> {};

TEST_P(RealProgramTest, StartsAndEndsWithWhatItSaysToAMistake) {
  const Outcome outcome = run_in_shell(GetParam(), "--no-such-option");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            program_name(GetParam()) + ": error: unknown option '--no-such-option'\nhint: `" +
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

// What a real program does before its `main`.

using testing::HasSubstr;

// OpenBLAS looks for memory without end as soon as it is loaded. How much is taken by then depends
// on the libraries; the limits are closer to each other than its buffer is large.
TEST(Loading, EndsWhereMemoryRunsOut) {
  if (support::sanitized)
    GTEST_SKIP() << "sanitizers map more memory than that";
  constexpr int cannot_load = 127;  // the dynamic linker
  int ran_out = 0;
  int kib = 100000;
  for (int exit_code = cannot_load; exit_code != 0; kib += 100000) {
    const Outcome outcome =
        run_step(GPT_PROGRAM, "--version",
                 fmt::format("export OMP_NUM_THREADS=1; ulimit -v {}; timeout 60", kib));
    exit_code = outcome.exit_code;
    ASSERT_THAT(exit_code, testing::AnyOf(0, 3, cannot_load)) << kib << outcome.err;
    if (exit_code != 3)
      continue;
    ++ran_out;
    EXPECT_EQ(outcome.value("result"), "oom") << kib;
    EXPECT_THAT(outcome.err, HasSubstr("not enough memory to load the libraries"));
  }
  EXPECT_GT(ran_out, 0);
}

}  // namespace
}  // namespace bench::steps
