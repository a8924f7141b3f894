#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::slurm {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Not;
using testing::SizeIs;

/// What sbatch and squeue say of a controller that is away.
constexpr const char* no_controller =
    "error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n";

class SubmissionTest : public SlurmTest {};

TEST_F(SubmissionTest, HundredsOfWorkpackagesGoOutInAFewCallsAndRunOnce) {
  Site site(&cluster());
  site.sweep(250);
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(site.programs().calls("sbatch"), SizeIs(AllOf(Ge(1U), Le(3U))));
  EXPECT_EQ(site.witness(), Site::each_once(250));
  EXPECT_EQ(site.states(), site.all("done", 250));
}

TEST_F(SubmissionTest, TasksOfAnArrayShareTheirSubmissionAndKnowTheirIndex) {
  Site site(&cluster());
  site.sweep(3);
  site.run({"--wait"});
  std::set<std::string> submissions;
  std::set<std::string> arrays;
  std::set<int> tasks;
  for (const Attempt& attempt : site.attempts()) {
    ASSERT_TRUE(attempt.task);
    submissions.insert(attempt.submission);
    tasks.insert(*attempt.task);
    arrays.insert(attempt.job_id.substr(0, attempt.job_id.find('_')));
    EXPECT_TRUE(attempt.job_id.ends_with("_" + std::to_string(*attempt.task))) << attempt.job_id;
  }
  EXPECT_THAT(submissions, SizeIs(1));
  EXPECT_THAT(arrays, SizeIs(1));
  EXPECT_EQ(tasks, (std::set{0, 1, 2}));
}

TEST_F(SubmissionTest, OneWorkpackageGoesOutAlone) {
  Site site(&cluster());
  site.sweep(1);
  EXPECT_EQ(site.run({"--wait"}).status.code, 0);
  ASSERT_THAT(site.attempts(), SizeIs(1));
  EXPECT_EQ(site.attempts()[0].task, std::nullopt);
  EXPECT_THAT(site.attempts()[0].job_id, Not(HasSubstr("_")));
}

TEST_F(SubmissionTest, WorkpackagesThatAskForOtherThingsAreOtherSubmissions) {
  Site site(&cluster());
  site.sweep(4, "exit 0", {R"(batch: {threads_per_task: $threads, time_limit: "00:05:00"})"});
  EXPECT_EQ(site.run({"--wait"}).status.code, 0);
  EXPECT_THAT(site.programs().calls("sbatch"), SizeIs(2));
  EXPECT_EQ(site.witness(), Site::each_once(4));
}

TEST_F(SubmissionTest, RunReturnsAfterSubmissionAndContinueTakesIn) {
  Site site(&cluster());
  site.sweep(2, "while [ ! -e $jube_benchmark_home/go ]; do sleep 0.1; done");
  const auto run = site.run();
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.states(), site.all("submitted", 2));
  EXPECT_EQ(site.go_on().status.code, 0);
  EXPECT_EQ(site.states(), site.all("submitted", 2));
  write_file_atomically(site.home() / "go", "");
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_EQ(site.states(), site.all("done", 2));
  EXPECT_EQ(site.witness(), Site::each_once(2));
}

/// Two at a time: 0 and 1 wait for each other, as do 2 and 3, and 4 and 5.
TEST_F(SubmissionTest, MaxAsyncBoundsWhatRunsAtOnce) {
  Site site(&cluster());
  site.sweep(6,
             "'cd $jube_benchmark_home && echo + >> events && touch seen.$n && "
             "even=$(($n / 2 * 2)) && until test -e seen.$$even && test -e seen.$((even + 1)); "
             "do sleep 0.1; done; echo - >> events'",
             {"max_async: 2"});
  EXPECT_EQ(site.run({"--wait"}).status.code, 0);
  int now = 0;
  int most = 0;
  for (const std::string& event : split_names(read_file(site.home() / "events"), "\n"))
    most = std::max(most, now += event == "+" ? 1 : -1);
  EXPECT_EQ(now, 0);
  EXPECT_EQ(most, 2);
  EXPECT_EQ(site.witness(), Site::each_once(6));
}

struct Place {
  std::string name;
  std::string directory;
};
class PathTest : public SlurmTest, public testing::WithParamInterface<Place> {};

TEST_P(PathTest, OutputLandsInTheWorkDirectory) {
  Site site(&cluster(), GetParam().directory);
  site.sweep(2, "echo to stdout; echo to stderr >&2");
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_output << run.standard_error;
  for (const int id : {0, 1}) {
    EXPECT_EQ(read_file(site.workpackage(id) / "work" / "stdout"), "to stdout\n");
    EXPECT_EQ(read_file(site.workpackage(id) / "work" / "stderr"), "to stderr\n");
  }
}

// Slurm expands % and takes \ away in a path that it joins from the directory and --output.
INSTANTIATE_TEST_SUITE_P(Slurm, PathTest,
                         testing::Values(Place{"Blank", "a b"}, Place{"Percent", "50% of %j"},
                                         Place{"PercentTwice", "a%%b"}, Place{"Quotes", "a'b\"c"},
                                         Place{"Backslash", "a\\b"}),
                         [](const auto& one) { return one.param.name; });

TEST_F(SubmissionTest, IsTriedAgainWhileTheControllerIsAway) {
  Site site(&cluster());
  site.sweep(3);
  site.programs().mishap("sbatch", {.error = no_controller, .code = 1}, 3);
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(3));
  EXPECT_EQ(site.states(), site.all("done", 3));
}

TEST_F(SubmissionTest, IsTriedAgainAfterAnAnswerThatTookNineSeconds) {
  Site site(&cluster());
  site.sweep(1);
  site.programs().mishap("sbatch", {.error = no_controller, .code = 1, .delay_s = 9});
  EXPECT_EQ(site.run({"--wait"}).status.code, 0);
  EXPECT_EQ(site.witness(), Site::each_once(1));
}

// Who has not answered is not asked at once for something else that can be done without.
TEST_F(SubmissionTest, AnArrayThatIsTooLargeGoesOutInPartsWhereSlurmDidNotTellItsSize) {
  const Cluster small({"plain", "MaxArraySize=3"});
  Site site(&small);
  site.sweep(8);
  site.programs().mishap("scontrol", {.error = no_controller, .code = 1});
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(8));
  EXPECT_THAT(site.programs().calls("scontrol"), SizeIs(1));
}

/// Slurm has room for three jobs (one less than it says), and others have them. sbatch tries for
/// two minutes by itself, and then bench does.
TEST_F(SubmissionTest, IsTriedUntilAFullQueueHasRoom) {
  const Cluster full({"plain", "MaxJobCount=4", "MinJobAge=2"});
  std::string others;
  for (int k = 0; k < 3; ++k)
    others += " " + full.ask({"sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 1000"});
  const Site site(&full);
  site.sweep(1);
  Process run = site.start({"run", "sweep.yaml", "--platform", "fx", "--wait"});
  ASSERT_TRUE(support::eventually([&] { return !site.programs().calls("sbatch").empty(); }));
  for (const std::string& job : split_names(others, " "))
    full.ask({"scancel", job});
  EXPECT_EQ(run.wait(), ExitStatus{});
  EXPECT_EQ(site.witness(), Site::each_once(1));
  EXPECT_EQ(site.states(), site.all("done", 1));
}

TEST_F(SubmissionTest, WithoutWaitAFailedOneStaysReadyForContinue) {
  Site site(&cluster());
  site.sweep(2);
  site.programs().mishap("sbatch", {.error = no_controller, .code = 1}, 100);
  site.run();
  EXPECT_EQ(site.states().count("failed"), 0U);
  site.programs().recover("sbatch");
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_EQ(site.witness(), Site::each_once(2));
}

TEST_F(SubmissionTest, ALostAnswerIsNoSecondSubmission) {
  Site site(&cluster());
  site.sweep(4, "sleep 0.2");
  site.programs().mishap("sbatch", {.error = no_controller, .code = 1, .also = true});
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(4));
  std::set<std::string> submissions;
  for (const std::string& job :
       split_names(cluster().ask({"squeue", "-h", "-r", "-t", "all", "-o", "%F %Z"}), "\n"))
    if (job.find(site.home().lexically_normal().string()) != std::string::npos)
      submissions.insert(job.substr(0, job.find(' ')));
  EXPECT_THAT(submissions, SizeIs(1));
}

TEST_F(SubmissionTest, ARefusalLeavesTheWorkpackagesReadyAndIsToldOnce) {
  Site site(&cluster());
  site.sweep(4, "exit 0", {"batch: {array: false}"});
  site.programs().mishap("sbatch", {.error = "sbatch: error: Batch job submission failed: "
                                             "Job violates accounting/QOS policy\n",
                                    .code = 1});
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("Job violates accounting/QOS policy"));
  EXPECT_THAT(site.programs().calls("sbatch"), SizeIs(1));
  EXPECT_EQ(site.states(), site.all("ready", 4));
  EXPECT_EQ(split(run.standard_error, "Job violates").size(), 2U) << run.standard_error;
  const auto again = site.go_on({"--wait", "--account", "other"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(4));
  EXPECT_EQ(
      cluster().ask({"squeue", "-h", "-t", "all", "-j", site.attempts().at(3).job_id, "-o", "%a"}),
      "other");
}

/// Jobs that ask for different things are asked about until the same is said of two.
TEST_F(SubmissionTest, ARefusalOfTwoKindsOfJobsIsOneOfAll) {
  Site site(&cluster());
  site.sweep(6, "exit 0", {"batch: {threads_per_task: 1$n}"});
  site.programs().mishap("sbatch", {.error = "sbatch: error: Invalid account\n", .code = 1}, 9);
  const auto run = site.run();
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("6 workpackages: sbatch: error: Invalid account"));
  EXPECT_THAT(site.programs().calls("sbatch"), SizeIs(2));
  EXPECT_EQ(site.states(), site.all("ready", 6));
}

TEST_F(SubmissionTest, APartitionThatIsNotThereIsToldBeforeAnythingIsMade) {
  Site site(&cluster());
  site.sweep(2);
  const auto run = site.run({"--wait"}, "nosuch");
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("no partition 'nosuch'"));
  EXPECT_FALSE(site.has_run());
}

TEST_F(SubmissionTest, APartitionThatIsDownIsSubmittedTo) {
  Site site(&cluster());
  site.sweep(1);
  cluster().ask({"scontrol", "update", "partitionname=fx", "state=down"});
  EXPECT_EQ(site.run().status.code, 0);
  cluster().ask({"scontrol", "update", "partitionname=fx", "state=up"});
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_EQ(site.witness(), Site::each_once(1));
}

TEST_F(SubmissionTest, NonsenseOfTheQueueIsNoNews) {
  Site site(&cluster());
  site.sweep(3, "sleep 1");
  for (const char* nonsense : {"", "\n\n", "%A|%F|%K\n|||||||||\n", "slurm_load_jobs: \x01\xff\n"})
    site.programs().mishap("squeue", {.output = nonsense});
  site.programs().mishap("squeue", {.error = "slurm_load_jobs error: Zero Bytes\n", .code = 1});
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(3));
  EXPECT_THAT(site.outcomes(), Each("done"));
}

}  // namespace
}  // namespace bench::slurm
