#include "space/run_fixture.hpp"
#include "support/error_of.hpp"
#include "support/fake_programs.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/machine/platform.hpp>
#include <bench/run/make_run.hpp>
#include <bench/run/preflight.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string partitions =
    "PartitionName=gpu AllowAccounts=hai,zam AllowQos=normal,devel Default=YES MaxNodes=UNLIMITED "
    "MaxTime=1-00:00:00 State=UP TotalNodes=8\n"
    "PartitionName=dev AllowAccounts=ALL AllowQos=ALL Default=NO MaxNodes=2 MaxTime=02:00:00 "
    "State=UP TotalNodes=8\n"
    "PartitionName=old AllowAccounts=ALL AllowQos=ALL Default=NO MaxNodes=2 MaxTime=UNLIMITED "
    "State=INACTIVE TotalNodes=8\n";

/// A run on a Slurm whose programs the test has written.
class PreflightTest : public space::RunFixture {
 protected:
  PreflightTest() {
    programs_.say("scontrol", partitions);
    programs_.say("sinfo", "gpu|gpu:a100:4\ndev|(null)\n");
    begin("true");
  }

  void begin(const std::string& batch, const std::string& platform = "slurm") {
    plan(
        "parameterset: {name: p, parameter: {n: [1, 100]}}\n"
        "step: {name: go, use: p, do: $jube_starter a, batch: " +
            batch + "}\n",
        platform);
  }

  std::string said() {
    notices_.clear();
    return support::error_of([&] { preflight(run_, notices_); });
  }

  support::FakePrograms programs_;
  std::vector<std::string> notices_;
};

TEST_F(PreflightTest, PassesWhatThePartitionCanTake) {
  begin("{nodes: 8, gpus_per_node: 4, time_limit: 24h}");
  EXPECT_EQ(said(), "(no error)");
  EXPECT_THAT(notices_, IsEmpty());
  EXPECT_THAT(programs_.calls("scontrol"), ElementsAre("-a -o show partition"));
}

TEST_F(PreflightTest, AsksNobodyWhereNothingIsSubmitted) {
  begin("{nodes: 100}", "local");
  EXPECT_EQ(said(), "(no error)");
  plan("step: {name: go, do: a}\n", "slurm");
  EXPECT_EQ(said(), "(no error)");
  EXPECT_THAT(programs_.calls("scontrol"), IsEmpty());
}

TEST_F(PreflightTest, KnowsNothingOfOtherBatchSystems) {
  begin("{nodes: 100}");
  run_.platform.scheduler = "pbs";
  run_.platform.commands.id_pattern = "(.*)";
  run_.platform.commands.line_pattern = "(?<id>.*) (?<state>.*)";
  run_.platform.asking.partition = "nowhere";
  EXPECT_EQ(said(), "(no error)");
  EXPECT_THAT(programs_.calls("scontrol"), IsEmpty());
}

TEST_F(PreflightTest, PassesEverythingWhereSlurmDoesNotAnswer) {
  begin("{nodes: 100}");
  run_.platform.asking = {.partition = "dve", .account = "x", .qos = "y", .reservation = ""};
  programs_.say("scontrol", "", "Unable to contact slurm controller\n", 1);
  EXPECT_EQ(said(), "(no error)");
}

// A directive cannot hold one, so that each workpackage would fail by itself.
TEST_F(PreflightTest, RefusesARunDirectoryWithALineBreak) {
  run_.directory.path = "/scratch/a\nb/000000";
  EXPECT_EQ(said(),
            "error: job scripts cannot use the run directory: its path contains a line break: "
            "/scratch/a\nb/000000\nhint: select another one with --outpath");
  begin("true", "local");
  run_.directory.path = "/scratch/a\nb/000000";
  EXPECT_EQ(said(), "(no error)");
}

struct AskedCase {
  std::string name;
  machine::SubmissionDefaults asking;
  std::string expected;
};

class PreflightAskingTest : public PreflightTest, public testing::WithParamInterface<AskedCase> {};

TEST_P(PreflightAskingTest, IsCompared) {
  run_.platform.asking = GetParam().asking;
  EXPECT_EQ(said(), GetParam().expected);
}

machine::SubmissionDefaults asking(const std::string& partition, const std::string& account = "",
                                   const std::string& qos = "") {
  return {.partition = partition, .account = account, .qos = qos, .reservation = ""};
}

INSTANTIATE_TEST_SUITE_P(
    Settings, PreflightAskingTest,
    testing::Values(
        AskedCase{"AllKnown", asking("gpu", "zam", "devel"), "(no error)"},
        AskedCase{"DefaultPartition", asking("", "zam", "devel"), "(no error)"},
        AskedCase{"AllAdmitted", asking("dev", "anybody", "anything"), "(no error)"},
        AskedCase{"SeveralPartitions", asking("gpu,dev"), "(no error)"},
        AskedCase{
            "MisspeltPartition", asking("gpy"),
            "error: Slurm has no partition 'gpy' here\nhint: did you mean 'gpu'? (--partition)"},
        AskedCase{
            "MisspeltAmongSeveral", asking("dev,gpy"),
            "error: Slurm has no partition 'gpy' here\nhint: did you mean 'gpu'? (--partition)"},
        AskedCase{"UnknownPartition", asking("elsewhere"),
                  "error: Slurm has no partition 'elsewhere' here\n"
                  "hint: select one with --partition; known: gpu, dev, old"},
        AskedCase{"PartitionThatIsDown", asking("old"),
                  "error: partition old does not accept jobs now\n"
                  "hint: wait, or select another one with --partition"},
        AskedCase{
            "MisspeltAccount", asking("gpu", "zan"),
            "error: partition gpu does not admit the account 'zan'\nhint: did you mean 'zam'?"},
        AskedCase{"OtherAccount", asking("gpu", "project"),
                  "error: partition gpu does not admit the account 'project'\n"
                  "hint: it admits: hai, zam"},
        AskedCase{"AccountOfTheDefaultPartition", asking("", "project"),
                  "error: partition gpu does not admit the account 'project'\n"
                  "hint: it admits: hai, zam"},
        AskedCase{"OtherQos", asking("gpu", "", "large"),
                  "error: partition gpu does not admit the QOS 'large'\n"
                  "hint: it admits: normal, devel"}),
    [](const auto& one) { return one.param.name; });

TEST_F(PreflightTest, NeedsAPartitionWhereThereIsNoDefault) {
  programs_.say("scontrol", "PartitionName=gpu Default=NO State=UP\n");
  EXPECT_EQ(said(),
            "error: Slurm has no default partition here\nhint: select one with --partition");
}

class ClustersTest : public PreflightTest {
 protected:
  ClustersTest() {
    programs_.say("sacctmgr", "one|zam|normal\ntwo|hai|normal\n");
    run_.platform.asking.account = "zam";
  }
};

TEST_F(ClustersTest, IsAskedThatJobsGoTo) {
  run_.platform.directives = "#SBATCH --mail-type=END -M two  # the other machine\n";
  EXPECT_EQ(said(),
            "error: Slurm does not let you use the account 'zam'\nhint: yours: hai (--account)");
  EXPECT_THAT(programs_.calls("scontrol"), ElementsAre("-M two -a -o show partition"));
}

// The job goes to the one that can start it first, so that no partition's limits hold for sure.
TEST_F(ClustersTest, HaveNoPartitionsToCompareWithWhereThereAreSeveral) {
  run_.platform.directives = "#SBATCH --clusters=one,two\n";
  run_.platform.asking.partition = "nowhere";
  EXPECT_EQ(said(), "(no error)");
  EXPECT_THAT(programs_.calls("scontrol"), IsEmpty());
  run_.platform.asking.account = "nobody";
  EXPECT_EQ(said(),
            "error: Slurm does not let you use the account 'nobody'\n"
            "hint: yours: hai, zam (--account)");
}

/// A partition that admits every account, on a site whose accounting tells which ones the user has.
class AssociationTest : public PreflightTest {
 protected:
  AssociationTest() { programs_.say("sacctmgr", "here|zam|normal,long\nhere|hai|normal\n"); }

  std::string said_of(const machine::SubmissionDefaults& asked) {
    run_.platform.asking = asked;
    return said();
  }
};

TEST_F(AssociationTest, RefusesAnAccountOfOthers) {
  EXPECT_EQ(said_of(asking("dev", "zan")),
            "error: Slurm does not let you use the account 'zan'\n"
            "hint: did you mean 'zam'? (--account)");
}

TEST_F(AssociationTest, AQosBelongsToAnAccount) {
  EXPECT_EQ(said_of(asking("dev", "zam", "long")), "(no error)");
  EXPECT_EQ(said_of(asking("dev", "hai", "long")),
            "error: Slurm does not let you use the QOS 'long'\nhint: yours: normal (--qos)");
}

TEST_F(AssociationTest, IsNotAskedForWithoutNeed) {
  said_of(asking("dev"));
  EXPECT_THAT(programs_.calls("sacctmgr"), IsEmpty());
}

struct RoomCase {
  std::string name;
  std::string partition;
  std::string batch;
  std::string expected;  ///< Behind the place; empty: no error.
};

class RoomTest : public PreflightTest, public testing::WithParamInterface<RoomCase> {};

TEST_P(RoomTest, IsComparedWithWhatAStepAsksFor) {
  const RoomCase& room = GetParam();
  begin(room.batch);
  run_.platform.asking.partition = room.partition;
  EXPECT_EQ(said(), room.expected.empty() ? "(no error)" : "in.yaml:2:54: error: " + room.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Steps, RoomTest,
    testing::Values(RoomCase{"Nodes", "dev", "{nodes: 2}", ""},
                    RoomCase{"TooManyNodes", "dev", "{nodes: 3}",
                             "requested 3 nodes; partition dev allows 2"},
                    RoomCase{"MoreNodesThanThereAre", "gpu", "{nodes: 9}",
                             "requested 9 nodes; partition gpu allows 8"},
                    RoomCase{"Time", "dev", "{time_limit: 2h}", ""},
                    RoomCase{"TooMuchTime", "dev", "{time_limit: 3h}",
                             "requested 3 h 00 min; partition dev allows 2 h 00 min"},
                    RoomCase{"NoLimit", "dev", "true", ""},
                    RoomCase{"Gpus", "gpu", "{gpus_per_node: 4}", ""},
                    RoomCase{"TooManyGpus", "gpu", "{gpus_per_node: 8}",
                             "requested 8 GPUs per node; the nodes of partition gpu have 4"},
                    RoomCase{"NoGpus", "dev", "{gpus_per_node: 1}",
                             "requested 1 GPUs per node; the nodes of partition dev have 0"},
                    RoomCase{"TooManyGpusOfAPack", "gpu", "{gpus_per_node: 4, pack: 2}",
                             "requested 8 GPUs per node; the nodes of partition gpu have 4"},
                    RoomCase{"AsManyNodesInAPack", "dev", "{nodes: 2, pack: 4}", ""},
                    RoomCase{"Parameters", "dev", "{nodes: $n}", ""}),
    [](const auto& one) { return one.param.name; });

TEST_F(PreflightTest, CountsNoGpusWhereTheyAreNotAskedForByNumber) {
  begin("{gpus_per_node: 8}");
  for (const auto mode : {machine::GpuRequest::none, machine::GpuRequest::constraint}) {
    run_.platform.gpu_request = mode;
    EXPECT_EQ(said(), "(no error)");
  }
  run_.platform.gpu_request = machine::GpuRequest::gres;
  programs_.say("sinfo", "", "sinfo: error: down\n", 1);
  run_.partitions.reset();
  EXPECT_EQ(said(), "(no error)");
}

TEST_F(PreflightTest, NeedsTheAccountAndTheQosThatThePlatformRequires) {
  run_.platform.account_required = true;
  EXPECT_EQ(said(),
            "error: jobs on slurm need an account\n"
            "hint: add --account NAME, or set BENCH_ACCOUNT");
  run_.platform.asking.account = "zam";
  run_.platform.qos_required = true;
  EXPECT_EQ(said(), "error: jobs on slurm need a QOS\nhint: add --qos NAME, or set BENCH_QOS");
  run_.platform.asking.qos = "normal";
  EXPECT_EQ(said(), "(no error)");
}

TEST_F(PreflightTest, WarnsOfPacksWhoseCoresNobodyKnows) {
  begin("{pack: 2}");
  said();
  EXPECT_THAT(notices_, ElementsAre(testing::HasSubstr("warning: neither platform slurm nor Slurm "
                                                       "says how many hardware threads")));
  programs_.say("sinfo", "gpu|gpu:a100:4|2\ndev|(null)|2\n");
  run_.partitions.reset();
  said();
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(PreflightTest, TellsWhatNobodyHasConfirmed) {
  run_.platform.unconfirmed = {{"partition", "hearsay"}, {"memory", "a guess"}};
  run_.platform.status = machine::Status::historic;
  said();
  EXPECT_THAT(notices_,
              ElementsAre("platform slurm is historic: the machine no longer accepts jobs",
                          "unconfirmed settings of platform slurm: memory, partition "
                          "(`bench platforms show slurm`)"));
}

TEST_F(PreflightTest, WhatItTellsIsStillThereWhenTheRunIsMade) {
  run_.platform.unconfirmed = {{"memory", "a guess"}};
  said();
  Diagnostics diagnostics;
  make_run(run_, {}, diagnostics, notices_);
  EXPECT_THAT(notices_, ElementsAre(testing::HasSubstr("unconfirmed settings")));
}

}  // namespace
}  // namespace bench::run
