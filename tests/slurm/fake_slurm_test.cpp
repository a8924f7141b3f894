#include "fake/slurm/fake_slurm.hpp"

#include "support/environment_variable.hpp"
#include "support/patience.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::fake {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A job script of two tasks, each of which leaves a line.
class FakeSlurmTest : public testing::Test {
 protected:
  FakeSlurmTest() {
    here_.write("job.sh",
                "#!/bin/bash\n#SBATCH --array=0-1\n#SBATCH --comment=\"a|b\"\n"
                "echo $SLURM_ARRAY_TASK_ID >> witness\nexit $SLURM_ARRAY_TASK_ID\n");
  }

  CommandOutput call(std::vector<std::string> arguments) const {
    Environment environment = support::environment_with(slurm_.environment());
    std::erase_if(environment, [](const auto& each) { return each.first == "SLURM_CONF"; });
    // Through env, because the program itself is looked up on this process's PATH.
    arguments.insert(arguments.begin(), "env");
    return run_command({.arguments = std::move(arguments),
                        .directory = here_.path(),
                        .environment = std::move(environment)},
                       support::far_too_long_s);
  }

  std::string queue() const {
    return call({"squeue", "--me", "-h", "-r", "-t", "all", "-o", "%A|%F|%K|%T|%k"})
        .standard_output;
  }

  FakeSlurm slurm_;
  support::TempDirectory here_;
};

TEST_F(FakeSlurmTest, RunsTheTasksOfAnArray) {
  EXPECT_EQ(call({"sbatch", "--parsable", "job.sh"}).standard_output, "101\n");
  EXPECT_EQ(queue(), "101|101|0|COMPLETED|a|b\n102|101|1|FAILED|a|b\n");
  EXPECT_EQ(read_file(here_.path() / "witness"), "0\n1\n");
}

TEST_F(FakeSlurmTest, EndsJobsAsTold) {
  slurm_.fates({"OUT_OF_MEMORY", "BOOT_FAIL"});
  call({"sbatch", "job.sh"});
  EXPECT_EQ(queue(), "101|101|0|OUT_OF_MEMORY|a|b\n102|101|1|BOOT_FAIL|a|b\n");
}

TEST_F(FakeSlurmTest, RefusesAndThenObeys) {
  slurm_.mishap("sbatch", {.error = "no\n", .code = 1}, 2);
  EXPECT_EQ(call({"sbatch", "job.sh"}).standard_error, "no\n");
  EXPECT_EQ(call({"sbatch", "job.sh"}).status.code, 1);
  EXPECT_EQ(queue(), "");
  EXPECT_EQ(call({"sbatch", "job.sh"}).standard_output, "Submitted batch job 101\n");
}

TEST_F(FakeSlurmTest, ObeysAndLosesItsAnswer) {
  slurm_.mishap("sbatch", {.code = 1, .also = true});
  EXPECT_EQ(call({"sbatch", "job.sh"}).standard_output, "");
  EXPECT_EQ(queue(), "101|101|0|COMPLETED|a|b\n102|101|1|FAILED|a|b\n");
}

TEST_F(FakeSlurmTest, NotesEveryCall) {
  call({"sbatch", "job.sh"});
  queue();
  EXPECT_THAT(slurm_.calls("sbatch"), ElementsAre(R"(["sbatch", "job.sh"])"));
  EXPECT_THAT(slurm_.calls("sacct"), IsEmpty());
}

TEST_F(FakeSlurmTest, ForgetsEndedJobsWhereAccountingKnowsThem) {
  call({"sbatch", "job.sh"});
  EXPECT_EQ(call({"sacct", "-X"}).standard_error, "Slurm accounting storage is disabled\n");
  slurm_.accounting(true);
  EXPECT_EQ(queue(), "");
  EXPECT_EQ(call({"sacct", "-X", "-P", "-n", "-o", "JobID,State,ExitCode"}).standard_output,
            "101_0|COMPLETED|0:0\n101_1|FAILED|1:0\n");
}

TEST_F(FakeSlurmTest, KnowsNoOtherIds) {
  EXPECT_EQ(call({"squeue", "-j", "5"}).standard_error,
            "slurm_load_jobs error: Invalid job id specified\n");
  EXPECT_EQ(call({"squeue", "-j", "5,6"}).status.code, 0);
}

}  // namespace
}  // namespace bench::fake
