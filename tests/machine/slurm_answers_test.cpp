#include "machine/slurm.hpp"
#include "support/fake_programs.hpp"
#include "support/temp_directory.hpp"

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using State = JobReport::State;

/// What squeue and sacct answer, as a test writes them.
class SlurmAnswersTest : public testing::Test {
 protected:
  support::FakePrograms programs_;
  std::unique_ptr<BatchSystem> slurm_ = find_system("slurm")->make({});
};

/// A record as squeue is told to print them.
std::string record(const std::vector<std::string>& fields) {
  return "\x1e" + join(fields, "\x1f") + "\x1f\n";
}

const std::string heading = record(
    {"JOBID", "ARRAY_JOB_ID", "ARRAY_TASK_ID", "STATE", "REASON", "EXEC_HOST", "NAME", "COMMENT"});

std::string job_line(const std::string& id, const std::string& state, const std::string& name = "a",
                     const std::string& comment = "sub") {
  return record({id, id, "N/A", state, "None", "n1", name, comment});
}

class SqueueTest : public SlurmAnswersTest {
 protected:
  QueryResult answer_to(const std::string& records) {
    programs_.say("squeue", heading + records);
    return slurm_->ask({"1"});
  }
};

TEST_F(SqueueTest, TellsOfAJob) {
  const QueryResult queue =
      answer_to(record({"12", "12", "N/A", "RUNNING", "None", "node3", "train", "sub"}));
  EXPECT_EQ(queue.failure, "");
  ASSERT_EQ(queue.jobs.size(), 1U);
  const JobReport& job = queue.jobs[0];
  EXPECT_EQ(job.id, "12");
  EXPECT_EQ(job.task, std::nullopt);
  EXPECT_EQ(job.state, State::running);
  EXPECT_EQ(job.word, "RUNNING");
  EXPECT_EQ(job.reason, "");
  EXPECT_EQ(job.host, "node3");
  EXPECT_EQ(job.name, "train");
  EXPECT_EQ(job.comment, "sub");
}

/// One job that Slurm has forgotten keeps some versions of squeue from answering for all of a list.
TEST_F(SqueueTest, IsAskedForAllJobsWhereItKnowsOneNoMore) {
  programs_.write(
      "squeue",
      "case \"$*\" in *-j*) echo 'slurm_load_jobs error: Invalid job id specified' >&2; "
      "exit 1;; esac\nprintf %s " +
          shell_quote(heading + job_line("2", "RUNNING")));
  const QueryResult queue = slurm_->ask({"1", "2"});
  EXPECT_EQ(queue.failure, "");
  ASSERT_EQ(queue.jobs.size(), 1U) << "so the accounting is asked about the other";
  EXPECT_EQ(queue.jobs[0].id, "2");
}

TEST_F(SqueueTest, TellsOfTasksByTheirArray) {
  const QueryResult queue =
      answer_to(record({"15", "14", "0", "COMPLETED", "None", "n1", "a", "sub"}) +
                record({"14", "14", "11", "PENDING", "JobArrayTaskLimit", "n/a", "a", "sub"}));
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
  const QueryResult queue =
      answer_to(record({"1", "1", "N/A", "FAILED", "JobLaunchFailure", "n1", "a", "sub"}));
  ASSERT_EQ(queue.jobs.size(), 1U);
  EXPECT_EQ(queue.jobs[0].outcome, Outcome::launch_failure);
}

/// People put anything into names and comments.
TEST_F(SqueueTest, TellsWhateverStandsInNamesAndComments) {
  const QueryResult queue = answer_to(job_line("1", "PENDING", "two\nlines", "b|c\n3|x") +
                                      job_line("2", "PENDING", "a", "(null)"));
  EXPECT_EQ(queue.failure, "");
  ASSERT_EQ(queue.jobs.size(), 2U);
  EXPECT_EQ(queue.jobs[0].name, "two\nlines");
  EXPECT_EQ(queue.jobs[0].comment, "b|c\n3|x");
  EXPECT_EQ(queue.jobs[1].comment, "");
}

TEST_F(SqueueTest, LeavesOutWhatIsNoJob) {
  const QueryResult queue = answer_to(job_line("x", "RUNNING") +
                                      job_line("1", "RUNNING",
                                               "a\x1e"
                                               "b") +
                                      job_line("2", "RUNNING"));
  EXPECT_EQ(queue.failure, "");
  ASSERT_EQ(queue.jobs.size(), 1U);
  EXPECT_EQ(queue.jobs[0].id, "2");
}

TEST_F(SqueueTest, TakesAnUnknownStateForOneThatHasNotEnded) {
  const QueryResult queue = answer_to(job_line("1", "EXPEDITING"));
  EXPECT_EQ(queue.failure, "");
  ASSERT_EQ(queue.jobs.size(), 1U);
  EXPECT_EQ(queue.jobs[0].state, State::pending);
  EXPECT_EQ(queue.jobs[0].word, "EXPEDITING");
}

TEST_F(SqueueTest, TellsOfNoJobs) {
  const QueryResult queue = answer_to("");
  EXPECT_EQ(queue.failure, "");
  EXPECT_THAT(queue.jobs, IsEmpty());
}

/// Squeue minds a single id that it does not know.
TEST_F(SqueueTest, IsAskedForASingleIdAsForAPair) {
  answer_to("");
  EXPECT_THAT(programs_.calls("squeue"), ElementsAre(testing::EndsWith(" -j 1,1")));
}

TEST_F(SqueueTest, IsAskedForAnArrayOnce) {
  programs_.say("squeue", heading);
  slurm_->ask({"14_0", "14_1", "15"});
  EXPECT_THAT(programs_.calls("squeue"), ElementsAre(testing::EndsWith(" -j 14,15")));
}

TEST_F(SqueueTest, IsAskedForEachClusterByItsName) {
  programs_.say("squeue", "CLUSTER: blue\n" + heading +
                              record({"15", "14", "0", "RUNNING", "None", "n1", "a", "sub"}));
  const QueryResult queue = slurm_->ask({"12", "14_0;blue"});
  EXPECT_THAT(programs_.calls("squeue"),
              ElementsAre(testing::EndsWith(" -j 12,12"),
                          testing::AllOf(StartsWith("-M blue "), testing::EndsWith(" -j 14,14"))));
  ASSERT_EQ(queue.jobs.size(), 2U);
  EXPECT_EQ(queue.jobs[0].id, "14_0");
  EXPECT_EQ(queue.jobs[1].id, "14_0;blue");
}

TEST_F(SqueueTest, IsAskedForAllOfThisUser) {
  programs_.say("squeue", heading + job_line("1", "PENDING"));
  EXPECT_EQ(slurm_->ask_for_all().jobs.size(), 1U);
  EXPECT_THAT(programs_.calls("squeue"), ElementsAre(StartsWith("-a --me -r -t all -o ")));
}

TEST_F(SqueueTest, IsAskedForAllOfTheClustersThatJobsGoTo) {
  programs_.say("squeue", heading + job_line("1", "PENDING"));
  const QueryResult queue =
      find_system("slurm")->make({.directives = "#SBATCH --clusters=blue,red"})->ask_for_all();
  ASSERT_EQ(queue.jobs.size(), 2U);
  EXPECT_EQ(queue.jobs[0].id, "1;blue");
  EXPECT_EQ(queue.jobs[1].id, "1;red");
}

struct Trouble {
  std::string name;
  std::string output;
  std::string error;
  int exit_code;
  std::string expected;
};

class SqueueTroubleTest : public SlurmAnswersTest, public testing::WithParamInterface<Trouble> {};

TEST_P(SqueueTroubleTest, LeavesNothingKnown) {
  const Trouble& t = GetParam();
  programs_.say("squeue", t.output, t.error, t.exit_code);
  const QueryResult queue = slurm_->ask({"1", "2"});
  EXPECT_EQ(queue.failure, t.expected);
  EXPECT_THAT(queue.jobs, IsEmpty());
}

const std::string no_list = "the answer of squeue is not a list of jobs";

INSTANTIATE_TEST_SUITE_P(Answers, SqueueTroubleTest,
                         testing::Values(Trouble{"Down", "", "Unable to contact slurm controller\n",
                                                 1, "squeue: Unable to contact slurm controller"},
                                         Trouble{"Silent", "", "", 2, "squeue: exit code 2"},
                                         Trouble{"Empty", "", "", 0, no_list},
                                         Trouble{"Garbage", "hello\n", "", 0, no_list},
                                         Trouble{"WithoutHeading", job_line("1", "RUNNING"), "", 0,
                                                 no_list},
                                         Trouble{"CutOff",
                                                 heading + job_line("1", "RUNNING") +
                                                     "\x1e"
                                                     "2\x1f"
                                                     "2",
                                                 "", 0,
                                                 "the answer of squeue was cut off: 2\x1f"
                                                 "2"}),
                         [](const auto& one) { return one.param.name; });

TEST_F(SlurmAnswersTest, IsInTroubleWithoutSqueue) {
  EXPECT_EQ(slurm_->ask({"1"}).failure, "squeue: cannot start 'squeue': not found on PATH");
}

class SacctTest : public SlurmAnswersTest {};

/// A line of sacct.
std::string ended(const std::vector<std::string>& fields) {
  return join(fields, "\x1f") + "\n";
}

TEST_F(SacctTest, TellsOfEndedJobs) {
  programs_.say("sacct", ended({"14_3", "TIMEOUT", "train", "node7", "sub"}) +
                             ended({"15", "CANCELLED by 0", "train", "None assigned", "a|b"}) +
                             ended({"16", "RUNNING", "train", "node1", "sub"}) +
                             ended({"17", "FAILED", "x", "node[1-2]", ""}) + "cut\x1foff\n");
  const QueryResult accounting = slurm_->query_accounting({"14_3", "15", "16", "17"});
  EXPECT_EQ(accounting.failure, "");
  ASSERT_EQ(accounting.jobs.size(), 3U);
  EXPECT_EQ(accounting.jobs[0].id, "14_3");
  EXPECT_EQ(accounting.jobs[0].task, 3);
  EXPECT_EQ(accounting.jobs[0].state, State::ended);
  EXPECT_EQ(accounting.jobs[0].outcome, Outcome::timeout);
  EXPECT_EQ(accounting.jobs[0].host, "node7");
  EXPECT_EQ(accounting.jobs[0].comment, "sub");
  EXPECT_EQ(accounting.jobs[1].outcome, Outcome::cancelled);
  EXPECT_EQ(accounting.jobs[1].comment, "a|b");
  EXPECT_EQ(accounting.jobs[1].host, "");
  EXPECT_EQ(accounting.jobs[2].outcome, Outcome::failed);
  EXPECT_EQ(accounting.jobs[2].host, "");
  EXPECT_THAT(programs_.calls("sacct"),
              ElementsAre(testing::HasSubstr(" -j 14,15,16,17 -o JobID,State,")));
}

/// Tasks that ended before they began are one record.
TEST_F(SacctTest, TellsOfEachTaskByItself) {
  programs_.say("sacct", ended({"14_[1-2,5%2]", "CANCELLED by 0", "train", "None", "sub"}) +
                             ended({"15_[1,3...]", "CANCELLED", "train", "None", "sub"}));
  const QueryResult accounting = slurm_->query_accounting({"14_1", "15_1"});
  ASSERT_EQ(accounting.jobs.size(), 4U);
  std::vector<std::string> ids;
  for (const JobReport& job : accounting.jobs)
    ids.push_back(job.id);
  EXPECT_THAT(ids, ElementsAre("14_1", "14_2", "14_5", "15_[1,3...]"));
  EXPECT_EQ(accounting.jobs[1].task, 2);
  EXPECT_EQ(accounting.jobs[1].outcome, Outcome::cancelled);
}

TEST_F(SacctTest, IsAskedForEachClusterByItsName) {
  programs_.say("sacct", ended({"14", "FAILED", "x", "n1", "sub"}));
  const QueryResult accounting = slurm_->query_accounting({"14;blue"});
  EXPECT_THAT(programs_.calls("sacct"), ElementsAre(StartsWith("-M blue ")));
  ASSERT_EQ(accounting.jobs.size(), 1U);
  EXPECT_EQ(accounting.jobs[0].id, "14;blue");
}

TEST_F(SacctTest, IsInTroubleWhereTheBooksDoNotAnswer) {
  programs_.say("sacct", "", "sacct: error: slurmdbd: Connection refused\n", 1);
  EXPECT_EQ(slurm_->query_accounting({"1"}).failure, "sacct: error: slurmdbd: Connection refused");
}

TEST_F(SacctTest, IsAskedOnceWhereThereAreNoBooks) {
  programs_.say("sacct", "", "Slurm accounting storage is disabled\n", 1);
  for (int k = 0; k < 2; ++k) {
    const QueryResult accounting = slurm_->query_accounting({"1"});
    EXPECT_EQ(accounting.failure, "");
    EXPECT_THAT(accounting.jobs, IsEmpty());
  }
  EXPECT_THAT(programs_.calls("sacct"),
              ElementsAre(StartsWith("-X "), StartsWith("-c "), StartsWith("-c ")));
}

TEST(SbatchAnswer, HoldsTheIdBesideWhatAWrapperSays) {
  for (const auto& [answer, id] : std::initializer_list<std::pair<const char*, const char*>>{
           {"12\n", "12"},
           {"12;c\n", "12;c"},
           {"Welcome!\n12\n", "12"},
           {"12\nYour project has 3 hours left.\n", "12"},
           {"Submitted batch job 12\n", ""},
           {"", ""}})
    EXPECT_EQ(job_id_in(answer), id) << answer;
}

using State = JobReport::State;

struct StateCase {
  std::string name;
  std::string word;
  std::string reason;
  State state;
  Outcome outcome = Outcome::done;
};

class SlurmStateTest : public testing::TestWithParam<StateCase> {};

TEST_P(SlurmStateTest, IsUnderstood) {
  const SlurmState known = slurm_state(GetParam().word, GetParam().reason);
  EXPECT_EQ(known.state, GetParam().state);
  EXPECT_EQ(known.outcome, GetParam().outcome);
}

// Source: squeue(1) of Slurm 22.05, JOB STATE CODES.
INSTANTIATE_TEST_SUITE_P(
    Words, SlurmStateTest,
    testing::Values(
        StateCase{"Pending", "PENDING", "Priority", State::pending},
        StateCase{"Requeued", "REQUEUED", "", State::pending},
        StateCase{"RequeuedInFederation", "REQUEUE_FED", "", State::pending},
        StateCase{"Configuring", "CONFIGURING", "None", State::running},
        StateCase{"Running", "RUNNING", "None", State::running},
        StateCase{"Completing", "COMPLETING", "None", State::running},
        StateCase{"Suspended", "SUSPENDED", "None", State::running},
        StateCase{"Stopped", "STOPPED", "", State::running},
        StateCase{"Resizing", "RESIZING", "", State::running},
        StateCase{"Signaling", "SIGNALING", "", State::running},
        StateCase{"StageOut", "STAGE_OUT", "", State::running},
        StateCase{"RequeueHold", "REQUEUE_HOLD", "", State::blocked},
        StateCase{"ReservationDeleted", "RESV_DEL_HOLD", "", State::blocked},
        StateCase{"SpecialExit", "SPECIAL_EXIT", "", State::blocked},
        StateCase{"Completed", "COMPLETED", "None", State::ended, Outcome::done},
        StateCase{"Failed", "FAILED", "NonZeroExitCode", State::ended, Outcome::failed},
        StateCase{"Timeout", "TIMEOUT", "TimeLimit", State::ended, Outcome::timeout},
        StateCase{"OutOfMemory", "OUT_OF_MEMORY", "", State::ended, Outcome::out_of_memory},
        StateCase{"Deadline", "DEADLINE", "", State::ended, Outcome::deadline},
        StateCase{"Cancelled", "CANCELLED", "None", State::ended, Outcome::cancelled},
        StateCase{"NodeFail", "NODE_FAIL", "NodeDown", State::ended, Outcome::node_fail},
        StateCase{"BootFail", "BOOT_FAIL", "", State::ended, Outcome::boot_fail},
        StateCase{"Preempted", "PREEMPTED", "", State::ended, Outcome::preempted},
        StateCase{"Revoked", "REVOKED", "", State::ended, Outcome::cancelled},
        StateCase{"LaunchFailed", "LAUNCH_FAILED", "", State::ended, Outcome::launch_failure},
        StateCase{"CancelledBySomebody", "CANCELLED by 0", "", State::ended, Outcome::cancelled},
        StateCase{"CutOff", "CANCELLED+", "", State::ended, Outcome::cancelled},
        StateCase{"NotLaunched", "FAILED", "JobLaunchFailure", State::ended,
                  Outcome::launch_failure},
        StateCase{"TimeoutWhateverTheReason", "TIMEOUT", "JobLaunchFailure", State::ended,
                  Outcome::timeout}),
    [](const auto& one) { return one.param.name; });

struct Reason {
  std::string name;
  std::string text;
  State state;
};

class PendingReasonTest : public testing::TestWithParam<Reason> {};

TEST_P(PendingReasonTest, TellsWaitingFromWaitingInVain) {
  EXPECT_EQ(slurm_state("PENDING", GetParam().text).state, GetParam().state);
}

// Source: squeue(1) of Slurm 22.05, JOB REASON CODES.
INSTANTIATE_TEST_SUITE_P(
    Codes, PendingReasonTest,
    testing::Values(
        Reason{"Resources", "Resources", State::pending},
        Reason{"BeginTime", "BeginTime", State::pending},
        Reason{"Dependency", "Dependency", State::pending},
        Reason{"JobArrayTaskLimit", "JobArrayTaskLimit", State::pending},
        Reason{"QosLimit", "QOSMaxJobsPerUserLimit", State::pending},
        Reason{"None", "None", State::pending}, Reason{"Empty", "", State::pending},
        Reason{"HeldByUser", "JobHeldUser", State::blocked},
        Reason{"HeldByAdmin", "JobHeldAdmin", State::blocked},
        Reason{"LaunchFailedHeld", "launch failed requeued held", State::blocked},
        Reason{"InBrackets", "(launch failed requeued held)", State::blocked},
        Reason{"DependencyNeverSatisfied", "DependencyNeverSatisfied", State::blocked},
        Reason{"PartitionNodeLimit", "PartitionNodeLimit", State::blocked},
        Reason{"PartitionTimeLimit", "PartitionTimeLimit", State::blocked},
        Reason{"PartitionDown", "PartitionDown", State::pending},
        Reason{"PartitionInactive", "PartitionInactive", State::blocked},
        Reason{"BadConstraints", "BadConstraints", State::blocked},
        Reason{"InvalidAccount", "InvalidAccount", State::blocked},
        Reason{"InvalidQos", "InvalidQOS", State::blocked},
        Reason{"AccountNotAllowed", "AccountNotAllowed", State::blocked},
        Reason{"QosNotAllowed", "QOSNotAllowed", State::blocked},
        Reason{"NodesAreDown", "ReqNodeNotAvail, UnavailableNodes:n1", State::without_nodes},
        Reason{"NodesAreReserved", "ReqNodeNotAvail, Reserved for maintenance", State::pending},
        Reason{"ReservationDeleted", "ReservationDeleted", State::blocked},
        Reason{"NodeDown", "NodeDown", State::pending}),
    [](const auto& one) { return one.param.name; });

TEST(SlurmState, OfARunningJobDoesNotDependOnTheReason) {
  EXPECT_EQ(slurm_state("RUNNING", "JobHeldUser").state, State::running);
}

TEST(SlurmState, OfAnUnknownWordHasNotEnded) {
  for (const char* word : {"", "EXPEDITING", "pending", "COMPLETE", "COMPLETEDX", " RUNNING"})
    EXPECT_EQ(slurm_state(word, "").state, State::pending) << word;
}

using testing::ElementsAre;
using testing::IsEmpty;

/// A scontrol_line of scontrol, with these words beside what every partition has.
std::string scontrol_line(const std::string& words) {
  return "PartitionName=gpu AllowGroups=ALL AllocNodes=ALL QoS=N/A " + words +
         " MaxCPUsPerNode=UNLIMITED OverSubscribe=NO\n";
}

Partition one(const std::string& words, const std::string& sinfo = "") {
  return read_partitions(scontrol_line(words), sinfo).at(0);
}

TEST(Partitions, AreReadInSlurmsOrder) {
  const auto all = read_partitions(
      "PartitionName=long Default=NO State=UP\n\nslurm_load_partitions: noise\n"
      "PartitionName=dev Default=YES State=UP\n",
      "");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "long");
  EXPECT_FALSE(all[0].is_default);
  EXPECT_EQ(all[1].name, "dev");
  EXPECT_TRUE(all[1].is_default);
}

TEST(Partitions, AreNoneWhereSlurmTellsOfNone) {
  EXPECT_THAT(read_partitions("", ""), IsEmpty());
  EXPECT_THAT(read_partitions("No partitions in the system\n", ""), IsEmpty());
}

TEST(Partitions, TakeJobsUnlessTheySayOtherwise) {
  // Where one is down, jobs wait until it is up again.
  for (const char* state : {"State=UP", "State=DOWN", ""})
    EXPECT_TRUE(one(state).takes_jobs) << state;
  for (const char* state : {"DRAIN", "INACTIVE"})
    EXPECT_FALSE(one(std::string("State=") + state).takes_jobs) << state;
}

TEST(Partitions, TellTheirLongestTime) {
  EXPECT_EQ(one("MaxTime=1-12:00:00").max_time_s, 36 * 3600);
  EXPECT_EQ(one("MaxTime=00:30:00").max_time_s, 1800);
  EXPECT_EQ(one("MaxTime=UNLIMITED").max_time_s, std::nullopt);
  EXPECT_EQ(one("").max_time_s, std::nullopt);
}

TEST(Partitions, NeverGiveMoreNodesThanTheyHave) {
  EXPECT_EQ(one("MaxNodes=4 TotalNodes=8").max_nodes, 4);
  EXPECT_EQ(one("MaxNodes=16 TotalNodes=8").max_nodes, 8);
  EXPECT_EQ(one("MaxNodes=UNLIMITED TotalNodes=8").max_nodes, 8);
  EXPECT_EQ(one("").max_nodes, 0);
}

TEST(Partitions, TellWhomTheyAdmit) {
  const Partition some = one("AllowAccounts=hai,zam AllowQos=normal,devel");
  EXPECT_THAT(some.accounts, ElementsAre("hai", "zam"));
  EXPECT_THAT(some.qos, ElementsAre("normal", "devel"));
  const Partition all = one("AllowAccounts=ALL AllowQos=N/A");
  EXPECT_THAT(all.accounts, IsEmpty());
  EXPECT_THAT(all.qos, IsEmpty());
}

struct Gres {
  std::string name;
  std::string sinfo;
  std::optional<int> expected;
};

class PartitionGpuTest : public testing::TestWithParam<Gres> {};

TEST_P(PartitionGpuTest, IsTheMostOfANode) {
  EXPECT_EQ(one("", GetParam().sinfo).most_gpus_per_node, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Lists, PartitionGpuTest,
    testing::Values(Gres{"Count", "gpu|gpu:4\n", 4}, Gres{"Type", "gpu|gpu:a100:4\n", 4},
                    Gres{"Sockets", "gpu|gpu:a100:4(S:0,3)\n", 4},
                    Gres{"SeveralTypes", "gpu|gpu:a100:2(S:0-1),gpu:v100:1\n", 3},
                    Gres{"OtherThings", "gpu|ipu:4,gpu:2,shard:8,mygpu:9\n", 2},
                    Gres{"MostOfSeveralKindsOfNodes", "gpu|gpu:1\ngpu|gpu:8\ngpu|(null)\n", 8},
                    Gres{"None", "gpu|(null)\n", 0},
                    Gres{"OtherPartition", "long|gpu:4\n", std::nullopt},
                    Gres{"NoAnswer", "", std::nullopt}),
    [](const auto& one) { return one.param.name; });

// A job may run on any of them, and whole cores of the one with the most are whole ones of all.
TEST(Partitions, TellTheMostThreadsOfACore) {
  EXPECT_EQ(one("", "gpu|gpu:4|2\ngpu|gpu:4|4\nlong|(null)|8\n").threads_per_core, 4);
  EXPECT_EQ(one("", "gpu|gpu:4|1\n").threads_per_core, 1);
  EXPECT_EQ(one("", "gpu|gpu:4\n").threads_per_core, std::nullopt);
  EXPECT_EQ(one("", "").threads_per_core, std::nullopt);
}

class AskPartitionsTest : public testing::Test {
 protected:
  support::FakePrograms programs_;
};

TEST_F(AskPartitionsTest, AsksEachProgramOnce) {
  programs_.say("scontrol", scontrol_line("State=UP"));
  programs_.say("sinfo", "gpu|gpu:4\n");
  const Partitions partitions = ask_slurm_partitions();
  EXPECT_EQ(partitions.failure, "");
  ASSERT_EQ(partitions.all.size(), 1U);
  EXPECT_EQ(partitions.all[0].most_gpus_per_node, 4);
  EXPECT_THAT(programs_.calls("scontrol"), ElementsAre("-a -o show partition"));
  EXPECT_THAT(programs_.calls("sinfo"), ElementsAre("-a -h -o %R|%G|%Z"));
}

TEST_F(AskPartitionsTest, AsksTheClusterThatJobsGoTo) {
  programs_.say("scontrol", scontrol_line("State=UP"));
  programs_.say("sinfo", "CLUSTER: two\ngpu|gpu:4\n");
  const Partitions partitions = ask_slurm_partitions("two");
  ASSERT_EQ(partitions.all.size(), 1U);
  EXPECT_EQ(partitions.all[0].most_gpus_per_node, 4);
  EXPECT_THAT(programs_.calls("scontrol"), ElementsAre("-M two -a -o show partition"));
  EXPECT_THAT(programs_.calls("sinfo"), ElementsAre("-M two -a -h -o %R|%G|%Z"));
}

TEST_F(AskPartitionsTest, KnowsNothingWithoutScontrol) {
  EXPECT_EQ(ask_slurm_partitions().failure, "scontrol: cannot start 'scontrol': not found on PATH");
  programs_.say("scontrol", "", "Unable to contact slurm controller\n", 1);
  const Partitions partitions = ask_slurm_partitions();
  EXPECT_EQ(partitions.failure, "scontrol: Unable to contact slurm controller");
  EXPECT_THAT(partitions.all, IsEmpty());
}

TEST_F(AskPartitionsTest, KnowsNothingOfGpusWithoutSinfo) {
  programs_.say("scontrol", scontrol_line("State=UP"));
  EXPECT_EQ(ask_slurm_partitions().all.at(0).most_gpus_per_node, std::nullopt);
  programs_.say("sinfo", "gpu|(null)\n", "", 1);
  EXPECT_EQ(ask_slurm_partitions().all.at(0).most_gpus_per_node, std::nullopt);
}

struct SlurmstepdCase {
  std::string name;
  std::string text;
  std::string job;
  std::optional<Outcome> outcome;
};

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
        SlurmstepdCase{"Requeue", slurmstepd_line("JOB 8", " DUE TO JOB REQUEUE"), "8",
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

}  // namespace bench::machine
