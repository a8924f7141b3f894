#include "machine/slurmstepd.hpp"

#include "support/temp_directory.hpp"

#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>

namespace bench::batch {
namespace {

struct SlurmstepdCase {
  std::string name;
  std::string text;
  std::string job;
  std::optional<Outcome> outcome;
};
void PrintTo(const SlurmstepdCase& c, std::ostream* out) {
  *out << c.name;
}

class SlurmstepdTest : public testing::TestWithParam<SlurmstepdCase> {};

TEST_P(SlurmstepdTest, SaysHowAJobEnded) {
  const support::TempDirectory directory;
  EXPECT_EQ(ended_by_slurmstepd(directory.write("stderr", GetParam().text), GetParam().job),
            GetParam().outcome);
}

std::string slurmstepd_line(const std::string& what, const std::string& why) {
  return "slurmstepd: error: *** " + what + " ON n1 CANCELLED AT 2026-11-23T15:46:45" + why +
         " ***\n";
}

INSTANTIATE_TEST_SUITE_P(
    Lines, SlurmstepdTest,
    testing::Values(
        SlurmstepdCase{"Timeout", "loading\n" + slurmstepd_line("JOB 8", " DUE TO TIME LIMIT"), "8",
                       Outcome::timeout},
        SlurmstepdCase{"TimeoutOfAStep",
                       slurmstepd_line("STEP 8.0", " DUE TO TIME LIMIT") +
                           "srun: error: n1: task 0: Terminated\n",
                       "8", Outcome::timeout},
        SlurmstepdCase{"OfANamedDaemon",
                       "slurmstepd-n1: error: *** JOB 8 ON n1 CANCELLED AT x DUE TO TIME "
                       "LIMIT ***\n",
                       "8", Outcome::timeout},
        SlurmstepdCase{"Preemption", slurmstepd_line("JOB 8", " DUE TO PREEMPTION"), "8",
                       Outcome::preempted},
        SlurmstepdCase{
            "NodeFailure",
            slurmstepd_line("JOB 8", " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"), "8",
            Outcome::node_fail},
        SlurmstepdCase{"Cancelled", slurmstepd_line("JOB 8", ""), "8", Outcome::cancelled},
        SlurmstepdCase{
            "OutOfMemory",
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=8.batch cgroup.\n", "8",
            Outcome::out_of_memory},
        SlurmstepdCase{"MemoryLimit",
                       "slurmstepd: error: StepId=8.batch exceeded memory limit (9 > 5), being "
                       "killed\nslurmstepd: error: Exceeded job memory limit\n" +
                           slurmstepd_line("JOB 8", ""),
                       "8", Outcome::out_of_memory},
        SlurmstepdCase{"MemoryLimitOfAnOlderSlurm",
                       "slurmstepd: error: Job 8 exceeded memory limit (9 > 5), being killed\n",
                       "8", Outcome::out_of_memory},
        SlurmstepdCase{"OfAnotherJob", slurmstepd_line("JOB 9", " DUE TO TIME LIMIT"), "8",
                       std::nullopt},
        SlurmstepdCase{"OfALongerId", slurmstepd_line("JOB 88", " DUE TO TIME LIMIT"), "8",
                       std::nullopt},
        SlurmstepdCase{"OfAnyJob", slurmstepd_line("JOB 9", " DUE TO TIME LIMIT"), "",
                       Outcome::timeout},
        SlurmstepdCase{"OfAProgram",
                       "error: *** JOB 8 ON n1 CANCELLED AT x DUE TO TIME LIMIT ***\n", "8",
                       std::nullopt},
        SlurmstepdCase{"Nothing", "", "8", std::nullopt}),
    [](const auto& one) { return one.param.name; });

TEST(Slurmstepd, SaysNothingWithoutAFile) {
  EXPECT_EQ(ended_by_slurmstepd("/no/such/file", "8"), std::nullopt);
}

}  // namespace
}  // namespace bench::batch
