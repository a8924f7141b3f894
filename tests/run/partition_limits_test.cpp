#include "run/partition_limits.hpp"

#include "space/run_fixture.hpp"
#include "support/error_of.hpp"
#include "support/fake_programs.hpp"

#include <optional>
#include <ostream>

#include <gtest/gtest.h>

#include <bench/machine/batch_system.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>

namespace bench::run {
namespace {

/// A run on a Slurm with two partitions.
class PartitionLimitsTest : public space::RunFixture {
 protected:
  PartitionLimitsTest() {
    plan("step: {name: a, do: x, batch: true}\n", "slurm");
    run_.partitions = machine::Partitions{.known = true,
                                          .all = {{.name = "batch",
                                                   .is_default = true,
                                                   .max_time_s = 3600,
                                                   .max_nodes = 4,
                                                   .accounts = {"physics", "biology"},
                                                   .qos = {"normal"},
                                                   .most_gpus_per_node = 2,
                                                   .threads_per_core = 1},
                                                  {.name = "closed",
                                                   .is_default = false,
                                                   .takes_jobs = false,
                                                   .max_time_s = std::nullopt,
                                                   .max_nodes = 0,
                                                   .accounts = {},
                                                   .qos = {},
                                                   .most_gpus_per_node = std::nullopt,
                                                   .threads_per_core = std::nullopt}},
                                          .failure = ""};
  }
  std::string asking(const machine::SubmissionDefaults& asked) {
    const auto system = machine::batch_system_of(run_.platform);
    space::ask_partitions(*system, run_);
    return support::error_of([&] { check_asking(run_, asked, *system); });
  }
  std::string needing(const space::JobRequest& request) {
    return support::error_of([&] { check_partition(run_, request, {"in.yaml", 7}); });
  }

  support::FakePrograms programs_;
};

struct Asked {
  const char* name;
  machine::SubmissionDefaults asking;
  std::string error;
};
void PrintTo(const Asked& one, std::ostream* out) {
  *out << one.name;
}
class AskingTest : public PartitionLimitsTest, public testing::WithParamInterface<Asked> {};

TEST_P(AskingTest, IsHeldAgainstThePartition) {
  EXPECT_EQ(asking(GetParam().asking), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Partitions, AskingTest,
    testing::Values(
        Asked{"TheDefaultOne", {}, "(no error)"},
        Asked{"WhatItAdmits",
              {.partition = "batch", .account = "physics", .qos = "normal", .reservation = ""},
              "(no error)"},
        Asked{"AnUnknownOne",
              {.partition = "bath", .account = "", .qos = "", .reservation = ""},
              "error: Slurm has no partition 'bath' here\n"
              "hint: did you mean 'batch'? (--partition)"},
        Asked{"OneOfSeveralUnknown",
              {.partition = "batch,gpu", .account = "", .qos = "", .reservation = ""},
              "error: Slurm has no partition 'gpu' here\n"
              "hint: select one with --partition; known: batch, closed"},
        Asked{"OneThatIsClosed",
              {.partition = "closed", .account = "", .qos = "", .reservation = ""},
              "error: partition closed does not accept jobs now\n"
              "hint: wait, or select another one with --partition"},
        Asked{"AnotherAccount",
              {.partition = "", .account = "chemistry", .qos = "", .reservation = ""},
              "error: partition batch does not admit the account 'chemistry'\n"
              "hint: it admits: physics, biology"},
        Asked{"AnotherQos",
              {.partition = "", .account = "", .qos = "norma", .reservation = ""},
              "error: partition batch does not admit the QOS 'norma'\n"
              "hint: did you mean 'normal'?"}),
    [](const auto& one) { return one.param.name; });

TEST_F(PartitionLimitsTest, OneHasToBeNamedWhereNoneIsTheDefault) {
  run_.partitions->all[0].is_default = false;
  EXPECT_EQ(asking({}),
            "error: Slurm has no default partition here\nhint: select one with --partition");
}

TEST_F(PartitionLimitsTest, NothingIsCheckedWhereSlurmDoesNotAnswer) {
  run_.partitions = machine::Partitions{.all = {}, .failure = "no controller"};
  EXPECT_EQ(asking({.partition = "bath", .account = "", .qos = "", .reservation = ""}),
            "(no error)");
  EXPECT_EQ(needing({.resources = {.nodes = 1000}}), "(no error)");
}

TEST_F(PartitionLimitsTest, OtherSystemsTellNothing) {
  run_.platform = machine::load_platform("local");
  run_.partitions.reset();
  EXPECT_EQ(asking({.partition = "bath", .account = "", .qos = "", .reservation = ""}),
            "(no error)");
}

/// A site whose accounting tells what the user may ask for.
class AssociationTest : public PartitionLimitsTest {
 protected:
  AssociationTest() {
    programs_.say("sacctmgr", "here|physics|normal,long\nhere|biology|normal\n");
    run_.partitions->all[0].accounts = {};
    run_.partitions->all[0].qos = {};
  }
};

TEST_F(AssociationTest, AnAccountOfOthersIsRefused) {
  EXPECT_EQ(asking({.partition = "", .account = "physic", .qos = "", .reservation = ""}),
            "error: Slurm does not let you use the account 'physic'\n"
            "hint: did you mean 'physics'? (--account)");
}

TEST_F(AssociationTest, AQosBelongsToAnAccount) {
  EXPECT_EQ(asking({.partition = "", .account = "physics", .qos = "long", .reservation = ""}),
            "(no error)");
  EXPECT_EQ(asking({.partition = "", .account = "biology", .qos = "long", .reservation = ""}),
            "error: Slurm does not let you use the QOS 'long'\nhint: yours: normal (--qos)");
}

TEST_F(AssociationTest, IsNotAskedForWithoutNeed) {
  asking({});
  EXPECT_TRUE(programs_.calls("sacctmgr").empty());
}

struct Needed {
  const char* name;
  space::JobRequest request;
  std::string error;
};
void PrintTo(const Needed& one, std::ostream* out) {
  *out << one.name;
}
class NeedingTest : public PartitionLimitsTest, public testing::WithParamInterface<Needed> {};

TEST_P(NeedingTest, IsHeldAgainstThePartition) {
  EXPECT_EQ(needing(GetParam().request), GetParam().error);
}

const machine::Resources two_gpus{.nodes = 1, .gpus_per_node = 2};

INSTANTIATE_TEST_SUITE_P(
    Partitions, NeedingTest,
    testing::Values(
        Needed{"AllOfIt",
               {.resources = {.nodes = 4, .gpus_per_node = 2}, .time_limit_s = 3600},
               "(no error)"},
        Needed{"TooManyNodes",
               {.resources = {.nodes = 5}},
               "in.yaml:7: error: requested 5 nodes; partition batch allows 4"},
        Needed{"TooLong",
               {.resources = {}, .time_limit_s = 7200},
               "in.yaml:7: error: requested 2 h 00 min; partition batch allows 1 h 00 min"},
        Needed{"TooManyGpus",
               {.resources = {.nodes = 1, .gpus_per_node = 3}},
               "in.yaml:7: error: requested 3 GPUs per node; the nodes of partition batch "
               "have 2"},
        Needed{"ThatOfAWholePack",
               {.resources = two_gpus, .time_limit_s = 0, .pack = 2},
               "in.yaml:7: error: requested 4 GPUs per node; the nodes of partition batch "
               "have 2"}),
    [](const auto& one) { return one.param.name; });

TEST_F(PartitionLimitsTest, GpusThatNobodyAsksSlurmForAreNotCounted) {
  run_.platform.gpu_request = machine::GpuRequest::none;
  EXPECT_EQ(needing({.resources = {.nodes = 1, .gpus_per_node = 3}}), "(no error)");
}

}  // namespace
}  // namespace bench::run
