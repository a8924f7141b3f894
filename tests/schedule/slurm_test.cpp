#include "support/fake_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/schedule/slurm.hpp>

namespace bench::schedule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using State = JobReport::State;
using Kind = Verdict::Kind;

/// Slurm's programs as a test writes them.
class SlurmTest : public testing::Test {
 protected:
  Verdict submit() {
    return slurm_.submit({.uuid = "sub",
                          .name = "job",
                          .script = "/run/job.sh",
                          .directory = programs_.path(),
                          .environment = current_environment()});
  }

  support::FakePrograms programs_;
  Slurm slurm_;
};

struct Case {
  std::string name;
  std::string output;
  std::string error;
  int exit_code;
  Kind kind;
  std::string id;
  std::string reason;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class SbatchTest : public SlurmTest, public testing::WithParamInterface<Case> {};

TEST_P(SbatchTest, IsUnderstood) {
  const Case& c = GetParam();
  programs_.say("sbatch", c.output, c.error, c.exit_code);
  const Verdict verdict = submit();
  EXPECT_EQ(verdict.kind, c.kind);
  EXPECT_EQ(verdict.id, c.id);
  EXPECT_EQ(verdict.reason, c.reason);
}

/// With the program's name in front, once.
std::string said(const std::string& error) {
  return error.starts_with("sbatch: ") ? error : "sbatch: " + error;
}

Case accepted(const std::string& name, const std::string& output, const std::string& error = "") {
  return {name, output, error, 0, Kind::accepted, "123", ""};
}

Case without_id(const std::string& name, const std::string& output, const std::string& shown) {
  return {name, output, "", 0, Kind::unavailable, "", "sbatch answered no job id: " + shown};
}

Case refused(const std::string& name, const std::string& error, int exit_code = 1) {
  return {name, "", error + "\n", exit_code, Kind::refused, "", said(error)};
}

Case unavailable(const std::string& name, const std::string& error) {
  return {name, "", error + "\n", 1, Kind::unavailable, "", said(error)};
}

Case full(const std::string& name, const std::string& error) {
  return {name, "", error + "\n", 1, Kind::full, "", said(error)};
}

std::string name_of_case(const testing::TestParamInfo<Case>& one) {
  return one.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Accepts, SbatchTest,
    testing::Values(accepted("Id", "123\n"), accepted("IdAndCluster", "123;cluster\n"),
                    accepted("IdAndWarning", "123\n", "sbatch: warning: can't run 2 on 1\n")),
    name_of_case);

/// It may have taken the job all the same.
INSTANTIATE_TEST_SUITE_P(AnswersNoId, SbatchTest,
                         testing::Values(without_id("Nothing", "", ""),
                                         without_id("Sentence", "Submitted batch job 123\n",
                                                    "Submitted batch job 123"),
                                         without_id("Garbage", "12\x80\n", "12\uFFFD")),
                         name_of_case);

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
        Case{"Silently", "", "", 1, Kind::refused, "", "sbatch: exit code 1"}),
    name_of_case);

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
        unavailable("Processes", "sbatch: error: fork: Resource temporarily unavailable")),
    name_of_case);

/// The limits pass as jobs end.
INSTANTIATE_TEST_SUITE_P(
    IsFull, SbatchTest,
    testing::Values(full("Association", "sbatch: error: AssocMaxSubmitJobLimit"),
                    full("Qos", "sbatch: error: QOSMaxSubmitJobPerUserLimit"),
                    full("Controller", "Slurm temporarily unable to accept job, sleeping")),
    name_of_case);

TEST_F(SlurmTest, CannotSubmitWithoutSbatch) {
  const Verdict verdict = submit();
  EXPECT_EQ(verdict.kind, Kind::unavailable);
  EXPECT_EQ(verdict.reason, "sbatch: cannot start 'sbatch': not found on PATH");
}

TEST_F(SlurmTest, DoesNotKnowWhatAKilledSbatchHasDone) {
  programs_.write("sbatch", "kill -KILL $$");
  const Verdict verdict = submit();
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
  const support::EnvironmentVariable books("SACCT_FORMAT", "JobID");
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
  slurm_.ask({"1"});
  EXPECT_EQ(read_file(seen), ",,,,/etc/slurm.conf,kept\n");
}

const std::string heading =
    "JOBID|ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|REASON|EXEC_HOST|NAME|COMMENT\n";

class SqueueTest : public SlurmTest {
 protected:
  Answer answer_to(const std::string& lines) {
    programs_.say("squeue", heading + lines);
    return slurm_.ask({"1"});
  }
};

TEST_F(SqueueTest, TellsOfAJob) {
  const Answer queue = answer_to("12|12|N/A|RUNNING|None|node3|train|sub\n");
  EXPECT_EQ(queue.trouble, "");
  ASSERT_EQ(queue.jobs.size(), 1U);
  const JobReport& job = queue.jobs[0];
  EXPECT_EQ(job.id, "12");
  EXPECT_EQ(job.task, std::nullopt);
  EXPECT_EQ(job.state, State::running);
  EXPECT_EQ(job.word, "RUNNING");
  EXPECT_EQ(job.reason, "");
  EXPECT_EQ(job.host, "node3");
  EXPECT_EQ(job.name, "train");
  EXPECT_EQ(job.submission, "sub");
}

TEST_F(SqueueTest, TellsOfTasksByTheirArray) {
  const Answer queue =
      answer_to("15|14|0|COMPLETED|None|n1|a|sub\n14|14|11|PENDING|JobArrayTaskLimit|n/a|a|sub\n");
  ASSERT_EQ(queue.jobs.size(), 2U);
  EXPECT_EQ(queue.jobs[0].id, "14_0");
  EXPECT_EQ(queue.jobs[0].task, 0);
  EXPECT_EQ(queue.jobs[0].state, State::ended);
  EXPECT_EQ(queue.jobs[0].outcome, Outcome::done);
  EXPECT_EQ(queue.jobs[1].id, "14_11");
  EXPECT_EQ(queue.jobs[1].task, 11);
  EXPECT_EQ(queue.jobs[1].reason, "JobArrayTaskLimit");
  EXPECT_EQ(queue.jobs[1].host, "");
}

TEST_F(SqueueTest, TellsOfTheReasonOfAnEnd) {
  const Answer queue = answer_to("1|1|N/A|FAILED|JobLaunchFailure|n1|a|sub\n");
  ASSERT_EQ(queue.jobs.size(), 1U);
  EXPECT_EQ(queue.jobs[0].outcome, Outcome::launch_failure);
}

TEST_F(SqueueTest, TellsTheWholeComment) {
  const Answer queue = answer_to("1|1|N/A|PENDING|None|n/a|a|b|c\n2|2|N/A|PENDING|None|n/a|a|\n");
  ASSERT_EQ(queue.jobs.size(), 2U);
  EXPECT_EQ(queue.jobs[0].submission, "b|c");
  EXPECT_EQ(queue.jobs[1].submission, "");
}

TEST_F(SqueueTest, TellsOfNoJobs) {
  const Answer queue = answer_to("");
  EXPECT_EQ(queue.trouble, "");
  EXPECT_THAT(queue.jobs, IsEmpty());
}

/// Squeue minds a single id that it does not know.
TEST_F(SqueueTest, IsAskedForASingleIdAsForAPair) {
  answer_to("");
  EXPECT_THAT(programs_.calls("squeue"), ElementsAre(testing::EndsWith(" -j 1,1")));
}

TEST_F(SqueueTest, IsAskedForAnArrayOnce) {
  programs_.say("squeue", heading);
  slurm_.ask({"14_0", "14_1", "15"});
  EXPECT_THAT(programs_.calls("squeue"), ElementsAre(testing::EndsWith(" -j 14,15")));
}

TEST_F(SqueueTest, IsAskedForAllOfThisUser) {
  programs_.say("squeue", heading + "1|1|N/A|PENDING|None|n/a|a|sub\n");
  EXPECT_EQ(slurm_.ask_for_all().jobs.size(), 1U);
  EXPECT_THAT(programs_.calls("squeue"), ElementsAre(StartsWith("-a --me -r -t all -o ")));
}

struct Trouble {
  std::string name;
  std::string output;
  std::string error;
  int exit_code;
  std::string expected;
};
void PrintTo(const Trouble& t, std::ostream* out) {
  *out << t.name;
}

class SqueueTroubleTest : public SlurmTest, public testing::WithParamInterface<Trouble> {};

TEST_P(SqueueTroubleTest, LeavesNothingKnown) {
  const Trouble& t = GetParam();
  programs_.say("squeue", t.output, t.error, t.exit_code);
  const Answer queue = slurm_.ask({"1", "2"});
  EXPECT_EQ(queue.trouble, "squeue" + t.expected);
  EXPECT_THAT(queue.jobs, IsEmpty());
}

const std::string no_list = " answered something that is no list of jobs";

INSTANTIATE_TEST_SUITE_P(
    Answers, SqueueTroubleTest,
    testing::Values(Trouble{"Down", "", "Unable to contact slurm controller\n", 1,
                            ": Unable to contact slurm controller"},
                    Trouble{"Silent", "", "", 2, ": exit code 2"},
                    Trouble{"Empty", "", "", 0, no_list},
                    Trouble{"Garbage", "hello\n", "", 0, no_list},
                    Trouble{"WithoutHeading", "1|1|N/A|RUNNING|None|n1|a|sub\n", "", 0, no_list},
                    Trouble{"CutOff", heading + "1|1|N/A|RUNNING|None|n1|a|sub\n2|2|N/A|RUN", "", 0,
                            no_list + ": 2|2|N/A|RUN"},
                    Trouble{"UnknownState", heading + "1|1|N/A|DANCING|None|n1|a|sub\n", "", 0,
                            no_list + ": 1|1|N/A|DANCING|None|n1|a|sub"},
                    Trouble{"NoId", heading + "x|1|N/A|RUNNING|None|n1|a|sub\n", "", 0,
                            no_list + ": x|1|N/A|RUNNING|None|n1|a|sub"}),
    [](const auto& one) { return one.param.name; });

TEST_F(SlurmTest, IsInTroubleWithoutSqueue) {
  EXPECT_EQ(slurm_.ask({"1"}).trouble, "squeue: cannot start 'squeue': not found on PATH");
}

class SacctTest : public SlurmTest {};

TEST_F(SacctTest, TellsOfEndedJobs) {
  programs_.say("sacct",
                "14_3|TIMEOUT|train|node7|sub\n15|CANCELLED by 0|train|None assigned|a|b\n"
                "16|RUNNING|train|node1|sub\n17|FAILED|x|node[1-2]|\ncut|off\n");
  const Answer books = slurm_.look_up({"14_3", "15", "16", "17"});
  EXPECT_EQ(books.trouble, "");
  ASSERT_EQ(books.jobs.size(), 3U);
  EXPECT_EQ(books.jobs[0].id, "14_3");
  EXPECT_EQ(books.jobs[0].task, 3);
  EXPECT_EQ(books.jobs[0].state, State::ended);
  EXPECT_EQ(books.jobs[0].outcome, Outcome::timeout);
  EXPECT_EQ(books.jobs[0].host, "node7");
  EXPECT_EQ(books.jobs[0].submission, "sub");
  EXPECT_EQ(books.jobs[1].outcome, Outcome::cancelled);
  EXPECT_EQ(books.jobs[1].submission, "a|b");
  EXPECT_EQ(books.jobs[1].host, "");
  EXPECT_EQ(books.jobs[2].outcome, Outcome::failed);
  EXPECT_EQ(books.jobs[2].host, "");
  EXPECT_THAT(programs_.calls("sacct"), ElementsAre(StartsWith("-X -P -n -j 14,15,16,17 -o ")));
}

TEST_F(SacctTest, IsInTroubleWhereTheBooksDoNotAnswer) {
  programs_.say("sacct", "", "sacct: error: slurmdbd: Connection refused\n", 1);
  EXPECT_EQ(slurm_.look_up({"1"}).trouble, "sacct: error: slurmdbd: Connection refused");
}

TEST_F(SacctTest, IsAskedOnceWhereThereAreNoBooks) {
  programs_.say("sacct", "", "Slurm accounting storage is disabled\n", 1);
  for (int k = 0; k < 2; ++k) {
    const Answer books = slurm_.look_up({"1"});
    EXPECT_EQ(books.trouble, "");
    EXPECT_THAT(books.jobs, IsEmpty());
  }
  EXPECT_EQ(programs_.calls("sacct").size(), 1U);
}

class ScancelTest : public SlurmTest {};

TEST_F(ScancelTest, IsTheEndOfJobsAndTasks) {
  programs_.say("scancel", "");
  EXPECT_EQ(slurm_.cancel({"12", "14_3"}), "");
  EXPECT_THAT(programs_.calls("scancel"), ElementsAre("12 14_3"));
}

TEST_F(ScancelTest, IsNotMindedWhereAJobIsGone) {
  for (const char* error : {"scancel: error: Kill job error on job id 1: Invalid job id specified",
                            "scancel: error: Job/step already completing or completed"}) {
    programs_.say("scancel", "", error, 1);
    EXPECT_EQ(slurm_.cancel({"1"}), "") << error;
  }
}

TEST_F(ScancelTest, SaysWhatFailed) {
  programs_.say("scancel", "", "scancel: error: Access/permission denied\n", 1);
  EXPECT_EQ(slurm_.cancel({"1"}), "scancel: error: Access/permission denied");
}

TEST_F(ScancelTest, TakesAThousandJobsAtOnce) {
  programs_.say("scancel", "");
  EXPECT_EQ(slurm_.cancel(std::vector<std::string>(1001, "1")), "");
  ASSERT_EQ(programs_.calls("scancel").size(), 2U);
  EXPECT_EQ(programs_.calls("scancel")[1], "1");
  EXPECT_EQ(slurm_.cancel({}), "");
  EXPECT_EQ(programs_.calls("scancel").size(), 2U);
}

class ArraySizeTest : public SlurmTest {};

TEST_F(ArraySizeTest, IsWhatTheConfigurationSays) {
  programs_.say("scontrol",
                "MaxArrayTasks = 7\nMaxArraySize            = 10001\nMaxJobCount = 10\n");
  EXPECT_EQ(slurm_.max_array_size(), 10001);
  EXPECT_EQ(slurm_.max_array_size(), 10001);
  EXPECT_THAT(programs_.calls("scontrol"), ElementsAre("show config"));
}

TEST_F(ArraySizeTest, IsOneWhereThereAreNoArrays) {
  programs_.say("scontrol", "MaxArraySize            = 0\n");
  EXPECT_EQ(slurm_.max_array_size(), 1);
}

TEST_F(ArraySizeTest, IsSlurmsDefaultWhereNothingIsKnown) {
  programs_.say("scontrol", "", "down", 1);
  EXPECT_EQ(slurm_.max_array_size(), 1001);
}

}  // namespace
}  // namespace bench::schedule
