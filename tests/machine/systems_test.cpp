#include "machine/slurm.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Systems, AreKnownByTheNamesOfPlatformFiles) {
  for (const std::string& name : system_names()) {
    ASSERT_NE(find_system(name), nullptr) << name;
    EXPECT_EQ(find_system(name)->name, name);
  }
  EXPECT_EQ(find_system("SLURM"), nullptr);
}

TEST(Systems, DifferInWhatTheyCanDo) {
  EXPECT_FALSE(find_system("none")->capabilities.queues_jobs);
  EXPECT_TRUE(find_system("pbs")->capabilities.queues_jobs);
  EXPECT_FALSE(find_system("pbs")->capabilities.has_job_steps);
  EXPECT_TRUE(find_system("slurm")->capabilities.has_job_steps);
}

TEST(Systems, MakeJobsWaitForTheEndsOrTheSuccessOfOthers) {
  const auto after = [](const char* system, const Dependency& dependency) {
    return find_system(system)->arrays.after(dependency);
  };
  const Dependency both{.ended = {"12", "13"}, .succeeded = {"14_2"}};
  EXPECT_EQ(after("slurm", both), "afterok:14_2,afterany:12:13");
  EXPECT_EQ(after("slurm", {.ended = {"12"}, .succeeded = {}}), "afterany:12");
  EXPECT_EQ(after("pbs", {.ended = {}, .succeeded = {"14"}}), "afterok:14");
  EXPECT_EQ(after("lsf", {.ended = {"12[]"}, .succeeded = {"14[2]"}}), "done(14[2]) && ended(12)");
  EXPECT_EQ(find_system("uge")->arrays.after, nullptr);
}

TEST(Systems, ThatAreNoneHaveNoJobs) {
  const auto none = find_system("none")->make({});
  EXPECT_EQ(none->submit({.name = "bench-1"}).kind, SubmitResult::Kind::refused);
  EXPECT_THAT(none->ask_for_all().jobs, IsEmpty());
  EXPECT_EQ(none->cancel({}), "");
  EXPECT_EQ(none->cancel({"1"}), "there is no batch system that could be asked")
      << "nothing was cancelled";
  EXPECT_EQ(none->ask({"1"}).failure, none->cancel({"1"})) << "it does not know that 1 has ended";
}

TEST(Systems, OfCommandsHaveTheirTable) {
  const auto system = find_system("lsf")->make(
      {.name = "lsf", .commands = {.id_pattern = "(1)", .line_pattern = "(?<id>1)(?<state>2)"}});
  EXPECT_EQ(system->name(), "lsf");
}

TEST(Clusters, AreThoseOfTheDirectives) {
  EXPECT_THAT(clusters_in("#SBATCH --mem=0\n#SBATCH --clusters=a,b # here\n"),
              ElementsAre("a", "b"));
  EXPECT_THAT(clusters_in("#SBATCH --mem=0 # -M a\n"), IsEmpty());
}

struct JobIdCase {
  std::string name;
  std::string id;
  std::string array;
  std::string cluster;
  std::string local;
};

class JobIdTest : public testing::TestWithParam<JobIdCase> {};

TEST_P(JobIdTest, HasItsParts) {
  const JobIdCase& c = GetParam();
  EXPECT_EQ(array_of(c.id), c.array);
  EXPECT_EQ(cluster_of(c.id), c.cluster);
  EXPECT_EQ(without_cluster(c.id), c.local);
  EXPECT_EQ(with_cluster(c.local, c.cluster), c.id);
}

INSTANTIATE_TEST_SUITE_P(
    Ids, JobIdTest,
    testing::Values(JobIdCase{"Job", "12", "12", "", "12"},
                    JobIdCase{"Task", "12_3", "12", "", "12_3"},
                    JobIdCase{"JobOfACluster", "12;my_c", "12;my_c", "my_c", "12"},
                    JobIdCase{"TaskOfACluster", "12_3;my_c", "12;my_c", "my_c", "12_3"},
                    JobIdCase{"Array", "12[]", "12[]", "", "12[]"},
                    JobIdCase{"TaskInBrackets", "12[3]", "12[]", "", "12[3]"}),
    [](const auto& one) { return one.param.name; });

TEST(JobId, OfATaskIsMadeOfItsArrays) {
  EXPECT_EQ(task_of("12", 3), "12_3");
  EXPECT_EQ(task_of("12;my_c", 3), "12_3;my_c");
  EXPECT_EQ(task_of("12[]", 3), "12[3]");
}

}  // namespace
}  // namespace bench::machine
