#include "machine/slurm_partitions.hpp"

#include "support/fake_programs.hpp"

#include <optional>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/machine/partition.hpp>

namespace bench::batch {
namespace {

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
void PrintTo(const Gres& g, std::ostream* out) {
  *out << g.name;
}

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

}  // namespace
}  // namespace bench::batch
