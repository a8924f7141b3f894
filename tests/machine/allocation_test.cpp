#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/fake_programs.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/time.hpp>
#include <bench/machine/allocation.hpp>

namespace bench::machine {
namespace {

using testing::Each;
using testing::ElementsAre;

// As Slurm 22.05 writes it, without what is not read.
constexpr const char* two_nodes =
    "JobId=17 JobName=interactive JobState=RUNNING EndTime=2026-11-25T17:58:26 Deadline=N/A "
    "NodeList=v[1-2] NumNodes=2 NumCPUs=64 NumTasks=2 CPUs/Task=1 "
    "TRES=cpu=64,mem=200M,node=2,billing=64,gres/gpu=8,gres/gpu:a100=8 Features=(null)\n";

TEST(Allocation, IsReadFromSlurmsDescription) {
  const Allocation allocation = read_allocation(two_nodes);
  EXPECT_EQ(allocation.job, "17");
  EXPECT_THAT(allocation.nodes, ElementsAre(AllocatedNode{32, 4}, AllocatedNode{32, 4}));
  ASSERT_TRUE(allocation.ends_unix_s);
  EXPECT_EQ(allocation.ends_unix_s, parse_local_time("2026-11-25 17:58:26"));
}

TEST(Allocation, HasNodesThatDiffer) {
  const auto nodes = [](const std::string& details) {
    return read_allocation("JobId=17 NumNodes=4 NumCPUs=64 TRES=cpu=64,node=4,gres/gpu=8 " +
                           details + " MinCPUsNode=1\n")
        .nodes;
  };
  EXPECT_THAT(
      nodes("JOB_GRES=gpu:8   Nodes=v[1-2] CPU_IDs=0-3,8-9 Mem=100 GRES=gpu:2(IDX:0-1) "
            "  Nodes=v3,w[07]n0 CPU_IDs=0-25 Mem=200 GRES=gpu:a100:1(IDX:0),gpu:h100:1(IDX:1)"),
      ElementsAre(AllocatedNode{6, 2}, AllocatedNode{6, 2}, AllocatedNode{26, 2},
                  AllocatedNode{26, 2}));
  EXPECT_THAT(nodes("  Nodes=r[0-1]n[2,4] CPU_IDs=5 Mem=0 GRES="), Each(AllocatedNode{1, 0}));
  EXPECT_THAT(nodes("  Nodes=v[1-3] CPU_IDs=0-3 Mem=100 GRES="), Each(AllocatedNode{16, 2}))
      << "not told of all: their mean";
}

TEST(Allocation, NeedNotHaveGpusOrAnEnd) {
  const Allocation allocation =
      read_allocation("JobId=3 EndTime=Unknown NumNodes=1 NumCPUs=4 TRES=cpu=4,node=1\n");
  EXPECT_THAT(allocation.nodes, ElementsAre(AllocatedNode{4, 0}));
  EXPECT_EQ(allocation.ends_unix_s, std::nullopt);
}

TEST(Allocation, IsAnErrorWhereThereIsNone) {
  const support::EnvironmentVariable none("SLURM_JOB_ID", std::nullopt);
  EXPECT_EQ(support::error_of([] { ask_allocation(); }),
            "error: bench does not run in an allocation of Slurm: SLURM_JOB_ID is not set\n"
            "hint: call it in one, such as `salloc --nodes=2 bench run FILE --platform "
            "allocation`");
  EXPECT_EQ(support::error_of([] { read_allocation("JobId=4 JobState=PENDING\n"); }),
            "error: Slurm does not report the nodes and CPUs of job 4");
}

TEST(JobLife, IsTheStateThatSlurmListsItIn) {
  support::FakePrograms programs;
  programs.say("squeue", "RUNNING\n");
  EXPECT_EQ(life_of("17"), JobLife::lasts);
  programs.say("squeue", "COMPLETING\n");
  EXPECT_EQ(life_of("17"), JobLife::ends);
  programs.say("squeue", "");
  EXPECT_EQ(life_of("17"), JobLife::gone);
  programs.say("squeue", "", "no controller", 1);
  EXPECT_EQ(life_of("17"), JobLife::lasts);
}

}  // namespace
}  // namespace bench::machine
