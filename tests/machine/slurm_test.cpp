#include "machine/slurm.hpp"

#include "support/case_name.hpp"
#include "support/environment_variable.hpp"
#include "support/fake_programs.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

using support::case_name;
using testing::ElementsAre;
using Kind = SubmitResult::Kind;

std::unique_ptr<BatchSystem> of_clusters(const std::string& names) {
  return find_system("slurm")->make({.directives = "#SBATCH --clusters=" + names});
}

/// Slurm's programs as a test writes them.
class SlurmTest : public testing::Test {
 protected:
  SubmitResult submit() {
    return slurm_->submit({.uuid = "sub",
                           .name = "job",
                           .script = "/run/job.sh",
                           .directory = programs_.path(),
                           .environment = current_environment()});
  }

  support::FakePrograms programs_;
  std::unique_ptr<BatchSystem> slurm_ = find_system("slurm")->make({});
};

struct SbatchCase {
  std::string name;
  std::string output;
  std::string error;
  int exit_code;
  Kind kind;
  std::string id;
  std::string reason;
};

class SbatchTest : public SlurmTest, public testing::WithParamInterface<SbatchCase> {};

TEST_P(SbatchTest, IsUnderstood) {
  const SbatchCase& c = GetParam();
  programs_.say("sbatch", c.output, c.error, c.exit_code);
  const SubmitResult verdict = submit();
  EXPECT_EQ(verdict.kind, c.kind);
  EXPECT_EQ(verdict.id, c.id);
  EXPECT_EQ(verdict.reason, c.reason);
}

/// With the program's name in front, once.
std::string said(const std::string& error) {
  return error.starts_with("sbatch: ") ? error : "sbatch: " + error;
}

SbatchCase accepted(const std::string& name, const std::string& output,
                    const std::string& error = "") {
  return {name, output, error, 0, Kind::accepted, "123", ""};
}

SbatchCase without_id(const std::string& name, const std::string& output,
                      const std::string& shown) {
  return {name, output, "", 0, Kind::unavailable, "", "sbatch printed no job id: " + shown};
}

SbatchCase refused(const std::string& name, const std::string& error, int exit_code = 1) {
  return {name, "", error + "\n", exit_code, Kind::refused, "", said(error)};
}

SbatchCase unavailable(const std::string& name, const std::string& error) {
  return {name, "", error + "\n", 1, Kind::unavailable, "", said(error)};
}

SbatchCase full(const std::string& name, const std::string& error) {
  return {name, "", error + "\n", 1, Kind::full, "", said(error)};
}

INSTANTIATE_TEST_SUITE_P(
    Accepts, SbatchTest,
    testing::Values(accepted("Id", "123\n"),
                    SbatchCase{"IdAndCluster", "123;blue\n", "", 0, Kind::accepted, "123;blue", ""},
                    accepted("IdAndWarning", "123\n", "sbatch: warning: can't run 2 on 1\n")),
    case_name);

/// It may have taken the job all the same.
INSTANTIATE_TEST_SUITE_P(AnswersNoId, SbatchTest,
                         testing::Values(without_id("Nothing", "", ""),
                                         without_id("Sentence", "Submitted batch job 123\n",
                                                    "Submitted batch job 123"),
                                         without_id("Garbage", "12\x80\n", "12\uFFFD")),
                         case_name);

INSTANTIATE_TEST_SUITE_P(
    Refuses, SbatchTest,
    testing::Values(
        refused("Partition", "sbatch: error: invalid partition specified: gpus"),
        refused("Account",
                "sbatch: error: Batch job submission failed: Invalid account or account/partition "
                "combination specified"),
        refused("Time",
                "sbatch: error: Batch job submission failed: Requested time limit is invalid"),
        refused("Option", "sbatch: error: Invalid --time specification", 255),
        refused("Program", "sbatch: cannot be executed", 126),
        SbatchCase{"Silently", "", "", 1, Kind::refused, "", "sbatch: exit code 1"}),
    case_name);

// Source: the error texts of Slurm 22.05.
INSTANTIATE_TEST_SUITE_P(
    IsOutOfReach, SbatchTest,
    testing::Values(
        unavailable("Connect", "Unable to contact slurm controller (connect failure)"),
        unavailable("Receive", "Unable to contact slurm controller (receive failure)"),
        unavailable("Timeout", "Socket timed out on send/recv operation"),
        unavailable("NoBytes", "Zero Bytes were transmitted or received"),
        unavailable("Connection", "Communication connection failure"),
        unavailable("Shutdown", "Communication shutdown failure"),
        unavailable("MessageNotSent", "Message send failure"),
        unavailable("MessageNotReceived", "Message receive failure"),
        unavailable("WrongMessage", "Unexpected message received"),
        unavailable("LongMessage", "Insane message length"),
        unavailable("Backup", "Slurm backup controller in standby mode"),
        unavailable("Standby", "Controller is in standby mode, try a different controller"),
        unavailable("OtherCluster",
                    "sbatch: error: 'two' can't be reached now, or it is an invalid entry for "
                    "--cluster. Use 'sacctmgr list clusters' to see available clusters."),
        unavailable("Processes", "sbatch: error: fork: Resource temporarily unavailable")),
    case_name);

/// A smaller submission may be taken, or the same one as jobs end.
INSTANTIATE_TEST_SUITE_P(
    IsFull, SbatchTest,
    testing::Values(full("Array", "sbatch: error: Invalid job array specification"),
                    full("Association", "sbatch: error: AssocMaxSubmitJobLimit"),
                    full("Qos", "sbatch: error: QOSMaxSubmitJobPerUserLimit"),
                    full("Controller", "Slurm temporarily unable to accept job, sleeping"),
                    full("ControllerToTheEnd",
                         "sbatch: error: Slurm temporarily unable to accept job, sleeping and "
                         "retrying.; error: Batch job submission failed: Resource temporarily "
                         "unavailable"),
                    full("Queue", "sbatch: error: Slurm job queue full, sleeping and retrying."),
                    full("Creation", "sbatch: Job creation temporarily disabled, retrying")),
    case_name);

TEST_F(SlurmTest, CannotSubmitWithoutSbatch) {
  const SubmitResult verdict = submit();
  EXPECT_EQ(verdict.kind, Kind::unavailable);
  EXPECT_EQ(verdict.reason, "sbatch: cannot start 'sbatch': not found on PATH");
}

/// A full queue lets sbatch try again by itself for two minutes; squeue does not wait.
TEST_F(SlurmTest, LetsSbatchTryAgainForLongerThanOthersMayTake) {
  struct Limit {
    Limit() { limit_answers(0.2); }
    ~Limit() { limit_answers(60); }
  } const limit;
  programs_.write("sbatch", "sleep 1; echo 123");
  programs_.write("squeue", "sleep 30");
  EXPECT_EQ(submit().id, "123");
  EXPECT_NE(slurm_->ask({"1"}).failure, "");
}

TEST_F(SlurmTest, DoesNotKnowWhatAKilledSbatchHasDone) {
  programs_.write("sbatch", "kill -KILL $$");
  const SubmitResult verdict = submit();
  EXPECT_EQ(verdict.kind, Kind::unavailable);
  EXPECT_EQ(verdict.reason, "sbatch: signal 9 (Killed)");
}

TEST_F(SlurmTest, HandsTheScriptOverInItsDirectory) {
  programs_.write("sbatch", "echo \"$PWD\" >directory; echo 1");
  submit();
  EXPECT_THAT(programs_.calls("sbatch"), ElementsAre("--parsable /run/job.sh"));
  EXPECT_EQ(read_file(programs_.path() / "directory"), programs_.path().string() + "\n");
}

/// What the shell of the user, or a job that bench runs in, would force on every job.
TEST_F(SlurmTest, DoesNotPassOnWhatWouldChangeTheJob) {
  const support::EnvironmentVariable partition("SBATCH_PARTITION", "debug");
  const support::EnvironmentVariable tasks("SLURM_NTASKS", "4");
  const support::EnvironmentVariable format("SQUEUE_FORMAT", "%i");
  const support::EnvironmentVariable accounting("SACCT_FORMAT", "JobID");
  const support::EnvironmentVariable settings("SLURM_CONF", "/etc/slurm.conf");
  const support::EnvironmentVariable own("MY_SLURM_NOTE", "kept");
  const std::string echo =
      "echo \"$SBATCH_PARTITION,$SLURM_NTASKS,$SQUEUE_FORMAT,$SACCT_FORMAT,$SLURM_CONF,"
      "$MY_SLURM_NOTE\" >";
  const std::string seen = (programs_.path() / "seen").string();
  programs_.write("sbatch", echo + seen);
  programs_.write("squeue", echo + seen);
  submit();
  EXPECT_EQ(read_file(seen), ",,,,/etc/slurm.conf,kept\n");
  std::filesystem::remove(seen);
  slurm_->ask({"1"});
  EXPECT_EQ(read_file(seen), ",,,,/etc/slurm.conf,kept\n");
}

class ScancelTest : public SlurmTest {};

TEST_F(ScancelTest, IsTheEndOfJobsAndTasks) {
  programs_.say("scancel", "");
  EXPECT_EQ(slurm_->cancel({"12", "14_3"}), "");
  EXPECT_THAT(programs_.calls("scancel"), ElementsAre("12 14_3"));
}

/// The controller takes milliseconds for each word.
TEST_F(ScancelTest, NamesEachArrayOnce) {
  programs_.say("scancel", "");
  EXPECT_EQ(slurm_->cancel(
                {"14_0", "14_1", "14_10", "14_2", "14_4", "15_7", "16", "17_0;blue", "17_1;blue"}),
            "");
  EXPECT_THAT(programs_.calls("scancel"), ElementsAre("16 14_[0-2,4,10] 15_7", "-M blue 17_[0-1]"));
}

TEST_F(ScancelTest, NamesTheClusterOfAJob) {
  programs_.say("scancel", "");
  EXPECT_EQ(slurm_->cancel({"12", "14_3;blue"}), "");
  EXPECT_THAT(programs_.calls("scancel"), ElementsAre("12", "-M blue 14_3"));
}

TEST_F(ScancelTest, IsNotMindedWhereAJobIsGone) {
  for (const char* error : {"scancel: error: Kill job error on job id 1: Invalid job id specified",
                            "scancel: error: Job/step already completing or completed"}) {
    programs_.say("scancel", "", error, 1);
    EXPECT_EQ(slurm_->cancel({"1"}), "") << error;
  }
}

TEST_F(ScancelTest, SaysWhatFailed) {
  programs_.say("scancel", "", "scancel: error: Access/permission denied\n", 1);
  EXPECT_EQ(slurm_->cancel({"1"}), "scancel: error: Access/permission denied");
}

TEST_F(ScancelTest, TakesAThousandJobsAtOnce) {
  programs_.say("scancel", "");
  EXPECT_EQ(slurm_->cancel(std::vector<std::string>(1001, "1")), "");
  ASSERT_EQ(programs_.calls("scancel").size(), 2U);
  EXPECT_EQ(programs_.calls("scancel")[1], "1");
  EXPECT_EQ(slurm_->cancel({}), "");
  EXPECT_EQ(programs_.calls("scancel").size(), 2U);
}

class ArraySizeTest : public SlurmTest {};

TEST_F(ArraySizeTest, IsWhatTheConfigurationSays) {
  programs_.say("scontrol",
                "MaxArrayTasks = 7\nMaxArraySize            = 10001\nMaxJobCount = 10\n");
  EXPECT_EQ(slurm_->max_array_size(), 10001);
  EXPECT_EQ(slurm_->max_array_size(), 10001);
  EXPECT_THAT(programs_.calls("scontrol"), ElementsAre("show config"));
}

TEST_F(ArraySizeTest, IsOneWhereThereAreNoArrays) {
  programs_.say("scontrol", "MaxArraySize            = 0\n");
  EXPECT_EQ(slurm_->max_array_size(), 1);
}

// Those of the clusters that the jobs go to, whatever the user's own allows.
TEST_F(ArraySizeTest, IsTheSmallestOfTheClusters) {
  programs_.write("scontrol",
                  "case $2 in one) echo MaxArraySize = 500;; two) echo MaxArraySize = 3;;"
                  " *) echo MaxArraySize = 1;; esac");
  EXPECT_EQ(of_clusters("one,two")->max_array_size(), 3);
  EXPECT_EQ(of_clusters("one")->max_array_size(), 500);
}

TEST_F(ArraySizeTest, IsSlurmsDefaultWhereNothingIsKnown) {
  programs_.say("scontrol", "", "down", 1);
  EXPECT_EQ(slurm_->max_array_size(), 1001);
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Associations, AreWhatSacctmgrTells) {
  const support::FakePrograms programs;
  programs.say("sacctmgr", "one|zam|normal,debug\none|other|\nno line\n");
  const auto found = ask_slurm_associations();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].account, "zam");
  EXPECT_THAT(found[0].qos, ElementsAre("normal", "debug"));
  EXPECT_EQ(found[1].account, "other");
  EXPECT_THAT(found[1].qos, IsEmpty());
}

std::vector<std::string> accounts_of(const std::vector<Association>& associations) {
  std::vector<std::string> accounts;
  for (const Association& one : associations)
    accounts.push_back(one.account);
  return accounts;
}

// One accounting serves all clusters of a site, and an account of one is of no use on another.
TEST(Associations, AreThoseOfTheClusterThatJobsGoTo) {
  const support::FakePrograms programs;
  programs.say("sacctmgr", "one|zam|normal\ntwo|other|normal\nthree|third|normal\n");
  programs.say("scontrol", "AuthType = auth/none\nClusterName             = one\n");
  EXPECT_THAT(accounts_of(ask_slurm_associations()), ElementsAre("zam"));
  EXPECT_THAT(accounts_of(ask_slurm_associations({"two"})), ElementsAre("other"));
  EXPECT_THAT(accounts_of(ask_slurm_associations({"two", "three"})), ElementsAre("other", "third"));
}

TEST(Associations, AreThoseOfAllClustersWhereTheOwnIsNotKnown) {
  const support::FakePrograms programs;
  programs.say("sacctmgr", "one|zam|normal\ntwo|other|normal\n");
  EXPECT_THAT(accounts_of(ask_slurm_associations()), ElementsAre("zam", "other"));
}

TEST(Associations, AreNoneWithoutAccounting) {
  const support::FakePrograms programs;
  EXPECT_THAT(ask_slurm_associations(), IsEmpty());
  programs.say("sacctmgr", "one|zam|normal\n",
               "You are not running a supported accounting plugin\n", 1);
  EXPECT_THAT(ask_slurm_associations(), IsEmpty());
}

class SlurmsFailedNodeTest : public testing::Test {
 protected:
  std::string node(const std::string& errors, const std::string& host = "") {
    JobReport report;
    report.id = "7_1";
    report.host = host;
    return find_system("slurm")->make({})->failed_node(report, directory_.write("stderr", errors));
  }

  support::TempDirectory directory_;
  support::FakePrograms programs_;
};

TEST_F(SlurmsFailedNodeTest, IsTheOneThatSrunNames) {
  programs_.say("squeue", "n[1-2]\n");
  EXPECT_EQ(node("x\nsrun: error: Node failure on n2\nsrun: Job step aborted\n"), "n2");
  EXPECT_TRUE(programs_.calls("squeue").empty());
}

TEST_F(SlurmsFailedNodeTest, IsTheOnlyOneOfAJob) {
  programs_.say("squeue", "n3\n");
  EXPECT_EQ(node("", "n3"), "n3");
  EXPECT_EQ(programs_.calls("squeue").front(), "-a -h -t all -o %N -j 7_1");
}

TEST_F(SlurmsFailedNodeTest, IsUnknownWhereAJobHasSeveral) {
  programs_.say("squeue", "n[1-2]\n");
  EXPECT_EQ(node("", "n1"), "");
  EXPECT_EQ(node("srun: error: Node failure on n[1-2]\n", "n1"), "");
}

}  // namespace
}  // namespace bench::machine
