#include "batch/slurm.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/batch/systems.hpp>

namespace bench::batch {
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

TEST(Systems, ThatAreNoneHaveNoJobs) {
  const auto none = find_system("none")->make({});
  EXPECT_EQ(none->submit({.name = "bench-1"}).kind, SubmitResult::Kind::refused);
  EXPECT_THAT(none->ask_for_all().jobs, IsEmpty());
  EXPECT_EQ(none->cancel({"1"}), "");
}

TEST(Systems, OfCommandsHaveTheirTable) {
  const auto system = find_system("lsf")->make(
      {.commands = {.system = "lsf", .id_pattern = "(1)", .line_pattern = "(?<id>1)(?<state>2)"}});
  EXPECT_EQ(system->name(), "lsf");
}

TEST(Clusters, AreThoseOfTheDirectives) {
  EXPECT_THAT(clusters_in("#SBATCH --mem=0\n#SBATCH --clusters=a,b # here\n"),
              ElementsAre("a", "b"));
  EXPECT_THAT(clusters_in("#SBATCH --mem=0 # -M a\n"), IsEmpty());
}

}  // namespace
}  // namespace bench::batch
