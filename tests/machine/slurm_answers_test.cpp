#include "machine/slurm_answers.hpp"

#include "machine/slurm.hpp"
#include "support/fake_programs.hpp"

#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>

namespace bench::batch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using State = JobReport::State;

/// What squeue and sacct answer, as a test writes them.
class SlurmAnswersTest : public testing::Test {
 protected:
  support::FakePrograms programs_;
  Slurm slurm_;
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
    return slurm_.ask({"1"});
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
  const QueryResult queue = slurm_.ask({"1", "2"});
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
  slurm_.ask({"14_0", "14_1", "15"});
  EXPECT_THAT(programs_.calls("squeue"), ElementsAre(testing::EndsWith(" -j 14,15")));
}

TEST_F(SqueueTest, IsAskedForEachClusterByItsName) {
  programs_.say("squeue", "CLUSTER: blue\n" + heading +
                              record({"15", "14", "0", "RUNNING", "None", "n1", "a", "sub"}));
  const QueryResult queue = slurm_.ask({"12", "14_0;blue"});
  EXPECT_THAT(programs_.calls("squeue"),
              ElementsAre(testing::EndsWith(" -j 12,12"),
                          testing::AllOf(StartsWith("-M blue "), testing::EndsWith(" -j 14,14"))));
  ASSERT_EQ(queue.jobs.size(), 2U);
  EXPECT_EQ(queue.jobs[0].id, "14_0");
  EXPECT_EQ(queue.jobs[1].id, "14_0;blue");
}

TEST_F(SqueueTest, IsAskedForAllOfThisUser) {
  programs_.say("squeue", heading + job_line("1", "PENDING"));
  EXPECT_EQ(slurm_.ask_for_all().jobs.size(), 1U);
  EXPECT_THAT(programs_.calls("squeue"), ElementsAre(StartsWith("-a --me -r -t all -o ")));
}

TEST_F(SqueueTest, IsAskedForAllOfTheClustersThatJobsGoTo) {
  programs_.say("squeue", heading + job_line("1", "PENDING"));
  const QueryResult queue = Slurm({"blue", "red"}).ask_for_all();
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
void PrintTo(const Trouble& t, std::ostream* out) {
  *out << t.name;
}

class SqueueTroubleTest : public SlurmAnswersTest, public testing::WithParamInterface<Trouble> {};

TEST_P(SqueueTroubleTest, LeavesNothingKnown) {
  const Trouble& t = GetParam();
  programs_.say("squeue", t.output, t.error, t.exit_code);
  const QueryResult queue = slurm_.ask({"1", "2"});
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
  EXPECT_EQ(slurm_.ask({"1"}).failure, "squeue: cannot start 'squeue': not found on PATH");
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
  const QueryResult accounting = slurm_.query_accounting({"14_3", "15", "16", "17"});
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
  const QueryResult accounting = slurm_.query_accounting({"14_1", "15_1"});
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
  const QueryResult accounting = slurm_.query_accounting({"14;blue"});
  EXPECT_THAT(programs_.calls("sacct"), ElementsAre(StartsWith("-M blue ")));
  ASSERT_EQ(accounting.jobs.size(), 1U);
  EXPECT_EQ(accounting.jobs[0].id, "14;blue");
}

TEST_F(SacctTest, IsInTroubleWhereTheBooksDoNotAnswer) {
  programs_.say("sacct", "", "sacct: error: slurmdbd: Connection refused\n", 1);
  EXPECT_EQ(slurm_.query_accounting({"1"}).failure, "sacct: error: slurmdbd: Connection refused");
}

TEST_F(SacctTest, IsAskedOnceWhereThereAreNoBooks) {
  programs_.say("sacct", "", "Slurm accounting storage is disabled\n", 1);
  for (int k = 0; k < 2; ++k) {
    const QueryResult accounting = slurm_.query_accounting({"1"});
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

}  // namespace
}  // namespace bench::batch
