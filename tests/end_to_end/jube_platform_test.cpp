#include "bench_program.hpp"
#include "support/eventually.hpp"
#include "support/source_directory.hpp"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

/// A script that was written for JUBE, its program, and stand-ins for Slurm's commands.
const fs::path files = support::source_directory() / "tests/data/jube_platform";

class JubePlatformTest : public testing::Test {
 protected:
  JubePlatformTest() {
    fs::copy(files, here_.path(), fs::copy_options::recursive);
    set_variable(machine_, "PATH", (here_.path() / "bin").string() + ":" + std::getenv("PATH"));
    set_variable(machine_, "GO", here_.path() / "go");
  }

  /// Calls `continue` until nothing waits any more, as people's loops do, and returns the last
  /// status.
  std::string continue_to_the_end() const {
    std::string status;
    EXPECT_TRUE(support::eventually([&] {
      here_.bench({"continue", "runs"}, machine_);
      status = here_.bench({"status", "runs"}).standard_output;
      return status != "running\n";
    }));
    return status;
  }

  Playground here_;
  Environment machine_;
};

TEST_F(JubePlatformTest, AScriptOfJubesSlurmLibraryRunsUnchanged) {
  const auto run = here_.bench({"run", "training.yaml"}, machine_);
  ASSERT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_error, HasSubstr("did you mean 'separator'?"));
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "running\n");

  here_.write("go", "");
  EXPECT_EQ(continue_to_the_end(), "finished\n");
  EXPECT_EQ(here_.bench({"result", "runs"}).standard_output,
            "model,devices,version,layers,mean[1/s],per device,spread,threads,lines\n"
            "117M,1,2024.01 ,12,8.00,12.00,4.00,3,3\n"
            "117M,2,2024.01 ,12,16.00,12.00,8.00,3,3\n\n");
}

TEST_F(JubePlatformTest, TheJobScriptHoldsWhatTheScriptAsksFor) {
  here_.write("go", "");
  ASSERT_EQ(here_.bench({"run", "training.yaml"}, machine_).status.code, 0);
  const std::string job = here_.read("runs/000000/000001_train/work/submit.job");
  for (const char* line :
       {"#SBATCH --job-name=\"training_train_1\"\n", "#SBATCH --ntasks=2\n",
        "#SBATCH --ntasks-per-node=2\n", "#SBATCH --cpus-per-task=3\n",
        "#SBATCH --partition=booster\n", "#SBATCH --account=project\n", "#SBATCH --time=00:10:00\n",
        "export OMP_NUM_THREADS=\"3\"\n", "export RANKS=$(printf \"%s \" $(seq 0 $((2 - 1))))\n",
        "echo \"ranks: $RANKS, a comma\"\n", "touch ready\n"})
    EXPECT_THAT(job, HasSubstr(line));
  // What measures ends with the newline that the shell printed, so the starter has its own line.
  EXPECT_THAT(job, HasSubstr("export LOGS=runs/000000/000001_train/work\n"
                             " srun --cpu-bind=none,verbose ./train.sh 8 12\n"));
  EXPECT_THAT(job, Not(HasSubstr("#STARTER#")));
  EXPECT_EQ(continue_to_the_end(), "finished\n");
}

/// A file for JUBE that calls sbatch itself. No platform is selected.
class OwnSubmissionTest : public JubePlatformTest {
 protected:
  OwnSubmissionTest() {
    here_.write("own.yaml",
                "name: own\noutpath: runs\nstep:\n  name: s\n"
                "  do: [{done_file: ready, _: \"sbatch --array=0-2 job.sh; sbatch job.sh\"}]\n");
    program("sbatch",
            "echo x >> sbatch.calls; echo \"Submitted batch job $((4710 + $(wc -l < "
            "sbatch.calls)))\"");
    program("scancel", "echo \"$*\" >> " + here_.path().string() + "/scancel.calls");
    set_variable(machine_, "BENCH_PATIENCE_S", "0");
  }
  void program(const std::string& name, const std::string& text) const {
    const auto file = here_.path() / "bin" / name;
    here_.write("bin/" + name, "#!/bin/sh\n" + text + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }
};

TEST_F(OwnSubmissionTest, WaitsForItsFileWhereNoBatchSystemAnswers) {
  program("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
  ASSERT_EQ(here_.bench({"run", "own.yaml"}, machine_).status.code, 0);
  EXPECT_EQ(here_.bench({"continue", "runs"}, machine_).status.code, 0);
  EXPECT_FALSE(here_.has("runs/000000/000000_s/error"));
  here_.write("runs/000000/000000_s/work/ready", "");
  EXPECT_EQ(here_.bench({"continue", "runs"}, machine_).status.code, 0);
  EXPECT_TRUE(here_.has("runs/000000/000000_s/done"));
  EXPECT_EQ(here_.read("runs/000000/000000_s/work/sbatch.calls"), "x\nx\n");
}

TEST_F(OwnSubmissionTest, EndsOnceTheBatchSystemKnowsNoneOfItsJobs) {
  program("squeue", "printf '\\036JOBID\\037\\n'");
  program("sacct", "exit 0");
  here_.bench({"run", "own.yaml"}, machine_);
  EXPECT_EQ(here_.bench({"continue", "runs"}, machine_).status.code, 1);
  EXPECT_THAT(here_.read("runs/000000/000000_s/error"),
              HasSubstr("Slurm no longer knows job 4711, Slurm no longer knows job 4712, without "
                        "the file that is waited for"));
}

TEST_F(OwnSubmissionTest, CountsAFileThatAppearsAfterItWasGivenUp) {
  program("squeue", "printf '\\036JOBID\\037\\n'");
  program("sacct", "exit 0");
  here_.bench({"run", "own.yaml"}, machine_);
  EXPECT_EQ(here_.bench({"continue", "runs"}, machine_).status.code, 1);
  here_.write("runs/000000/000000_s/work/ready", "");
  const auto again = here_.bench({"continue", "runs", "--failed"}, machine_);
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_TRUE(here_.has("runs/000000/000000_s/done"));
  EXPECT_FALSE(here_.has("runs/000000/000000_s/error"));
  EXPECT_EQ(here_.read("runs/000000/000000_s/work/sbatch.calls"), "x\nx\n");
}

TEST_F(OwnSubmissionTest, CancelEndsAllOfItsJobs) {
  program("squeue", "exit 1");
  ASSERT_EQ(here_.bench({"run", "own.yaml"}, machine_).status.code, 0);
  const auto cancel = here_.bench({"cancel", "runs"}, machine_);
  EXPECT_EQ(cancel.standard_output, "cancelled 2 jobs of run 0, with 1 workpackage\n");
  EXPECT_EQ(here_.read("scancel.calls"), "4711 4712\n");
}

TEST_F(OwnSubmissionTest, CancelFailsWhereScancelDoes) {
  program("squeue", "exit 1");
  program("scancel", "echo 'no permission' >&2; exit 1");
  ASSERT_EQ(here_.bench({"run", "own.yaml"}, machine_).status.code, 0);
  const auto cancel = here_.bench({"cancel", "runs"}, machine_);
  EXPECT_EQ(cancel.status.code, 1);
  EXPECT_THAT(cancel.standard_error, HasSubstr("no permission"));
  EXPECT_FALSE(here_.has("runs/000000/000000_s/error"));
}

TEST_F(JubePlatformTest, AJobThatFailsIsAFailedWorkpackageWithoutChildren) {
  here_.bench({"run", "training.yaml", "--tag", "broken"}, machine_);  // may see it fail, or not
  EXPECT_EQ(continue_to_the_end(), "failed\n");
  EXPECT_TRUE(here_.has("runs/000000/000001_train/error"));
  EXPECT_EQ(here_.read("runs/000000/000001_train/work/job.err"), "no module\n");
  EXPECT_FALSE(here_.has("runs/000000/000003_combine"));
}

}  // namespace
}  // namespace bench::end_to_end
