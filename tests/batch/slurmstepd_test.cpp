#include "batch/slurmstepd.hpp"

#include "support/temp_directory.hpp"

#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>

namespace bench::batch {
namespace {

struct Case {
  std::string name;
  std::string text;
  std::string job;
  std::optional<Outcome> outcome;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class SlurmstepdTest : public testing::TestWithParam<Case> {};

TEST_P(SlurmstepdTest, SaysHowAJobEnded) {
  const support::TempDirectory directory;
  EXPECT_EQ(ended_by_slurmstepd(directory.write("stderr", GetParam().text), GetParam().job),
            GetParam().outcome);
}

std::string line(const std::string& what, const std::string& why) {
  return "slurmstepd: error: *** " + what + " ON n1 CANCELLED AT 2026-11-23T15:46:45" + why +
         " ***\n";
}

INSTANTIATE_TEST_SUITE_P(
    Lines, SlurmstepdTest,
    testing::Values(
        Case{"Timeout", "loading\n" + line("JOB 8", " DUE TO TIME LIMIT"), "8", Outcome::timeout},
        Case{"TimeoutOfAStep",
             line("STEP 8.0", " DUE TO TIME LIMIT") + "srun: error: n1: task 0: Terminated\n", "8",
             Outcome::timeout},
        Case{"OfANamedDaemon",
             "slurmstepd-n1: error: *** JOB 8 ON n1 CANCELLED AT x DUE TO TIME "
             "LIMIT ***\n",
             "8", Outcome::timeout},
        Case{"Preemption", line("JOB 8", " DUE TO PREEMPTION"), "8", Outcome::preempted},
        Case{"NodeFailure", line("JOB 8", " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"),
             "8", Outcome::node_fail},
        Case{"Cancelled", line("JOB 8", ""), "8", Outcome::cancelled},
        Case{"OutOfMemory",
             "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=8.batch cgroup.\n", "8",
             Outcome::out_of_memory},
        Case{"OfAnotherJob", line("JOB 9", " DUE TO TIME LIMIT"), "8", std::nullopt},
        Case{"OfALongerId", line("JOB 88", " DUE TO TIME LIMIT"), "8", std::nullopt},
        Case{"OfAnyJob", line("JOB 9", " DUE TO TIME LIMIT"), "", Outcome::timeout},
        Case{"OfAProgram", "error: *** JOB 8 ON n1 CANCELLED AT x DUE TO TIME LIMIT ***\n", "8",
             std::nullopt},
        Case{"Nothing", "", "8", std::nullopt}),
    [](const auto& one) { return one.param.name; });

TEST(Slurmstepd, SaysNothingWithoutAFile) {
  EXPECT_EQ(ended_by_slurmstepd("/no/such/file", "8"), std::nullopt);
}

}  // namespace
}  // namespace bench::batch
