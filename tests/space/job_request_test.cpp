#include "space/run_fixture.hpp"
#include "support/error_of.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/machine/batch_system.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/nodes.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What a step asks for on a platform that a test changes.
class JobRequestTest : public RunFixture {
 protected:
  void begin(const std::string& batch, const std::string& platform = "slurm",
             const std::string& command = "a") {
    plan("step: {name: go, do: " + command + ", batch: " + batch + "}\n", platform);
  }
  JobRequest request() { return job_request_of(context()); }
  std::string error() {
    return support::error_of([&] { request(); });
  }
};

struct Threads {
  std::string name;
  std::string platform;
  std::string batch;
  int expected;
};

class ThreadsTest : public JobRequestTest, public testing::WithParamInterface<Threads> {};

TEST_P(ThreadsTest, AreTheCoresOfTheGpusUnlessTheStepSaysOtherwise) {
  begin(GetParam().batch, GetParam().platform);
  EXPECT_EQ(request().resources.threads_per_task, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Platforms, ThreadsTest,
    testing::Values(
        Threads{"ATaskForEachGpu", "MareNostrum5", "{tasks_per_node: 4, gpus_per_node: 4}", 20},
        Threads{"OneTask", "MareNostrum5", "{gpus_per_node: 4}", 80},
        Threads{"OneGpu", "LUMI-G", "{gpus_per_node: 1}", 7},
        Threads{"Said", "MareNostrum5", "{gpus_per_node: 4, threads_per_task: 3}", 3},
        Threads{"WithoutGpus", "MareNostrum5", "{tasks_per_node: 4}", 0},
        Threads{"UnknownPlatform", "slurm", "{gpus_per_node: 4}", 0},
        Threads{"WholeCoresInAPack", "A100", "{pack: 2, threads_per_task: 1}", 2},
        Threads{"AsManyAlone", "A100", "{threads_per_task: 1}", 1},
        Threads{"AsManyInAPackOfUnknownCores", "slurm", "{pack: 2, threads_per_task: 1}", 1}),
    [](const auto& one) { return one.param.name; });

TEST_F(JobRequestTest, HasWholeCoresInAPackWhereOnlySlurmKnowsThem) {
  for (const std::string platform : {"slurm", "LUMI-G"}) {
    begin("{pack: 2, threads_per_task: 5}", platform);
    machine::Partition partition;
    partition.name = run_.platform.asking.partition;
    partition.is_default = true;
    partition.threads_per_core = 4;
    run_.partitions = machine::Partitions{.known = true, .all = {partition}, .failure = ""};
    EXPECT_EQ(request().resources.threads_per_task, 8) << platform;
  }
}

struct Pack {
  std::string name;
  std::string platform;
  std::string batch;
  std::string command;
  std::string why;  ///< Empty: it is taken.
};

class PackTest : public JobRequestTest, public testing::WithParamInterface<Pack> {};

TEST_P(PackTest, IsRefusedWhereItsWorkpackagesCannotBeKeptApart) {
  const Pack& p = GetParam();
  begin(p.batch, p.platform, p.command);
  if (p.why.empty())
    EXPECT_EQ(request().pack, 2);
  else
    EXPECT_THAT(error(), HasSubstr("a pack of step 'go' would share cores and GPUs: " + p.why));
}

INSTANTIATE_TEST_SUITE_P(
    Platforms, PackTest,
    testing::Values(Pack{"Slurm", "slurm", "{pack: 2, gpus_per_node: 1}", "a", ""},
                    Pack{"SlurmByStarters", "slurm", "{pack: 2, nodes: 2}", "$jube_starter a", ""},
                    Pack{"Here", "local", "{pack: 2}", "a", ""},
                    Pack{"Pbs", "pbs", "{pack: 2}", "a", "pbs has no job steps"},
                    Pack{"AnotherLauncher", "HAL", "{pack: 2}", "$jube_starter a",
                         "mpirun does not start job steps"},
                    Pack{"AnotherLauncherThatIsNotUsed", "HAL", "{pack: 2}", "a", ""},
                    Pack{"SeveralNodesWithoutStarters", "slurm", "{pack: 2, nodes: 2}", "a",
                         "without $jube_starter a job step has one node only"},
                    Pack{"GpusOfWholeNodes", "Frontera-RTX", "{pack: 2, gpus_per_node: 1}", "a",
                         "platform Frontera-RTX allocates GPUs only with whole nodes"}),
    [](const auto& one) { return one.param.name; });

TEST_F(JobRequestTest, IsNoMoreThanThePlatformHas) {
  begin("{gpus_per_node: 4}", "GH200");
  EXPECT_THAT(error(), HasSubstr("step 'go' requests 4 GPUs on a node; platform GH200 has 1"));
  begin("{gpus_per_node: 3, pack: 2}", "A100");
  EXPECT_THAT(error(), HasSubstr("step 'go' requests 6 GPUs on a node; platform A100 has 4"));
  begin("{nodes: 2}", "GH200");
  EXPECT_THAT(error(), HasSubstr("step 'go' requests 2 nodes; platform GH200 has 1"));
  begin("{gpus_per_node: 4, nodes: 2}", "A100");
  EXPECT_EQ(error(), "(no error)");
}

workspace::Attempt attempt(long long workpackage, const std::string& reason) {
  workspace::Attempt made;
  made.workpackage = workpackage;
  made.reason = reason;
  return made;
}

TEST(FailedNodes, AreThoseOfTheAttemptsOfAWorkpackage) {
  const auto nodes = failed_nodes({attempt(1, "node a failed: x"), attempt(1, "exit code 1"),
                                   attempt(1, "node b failed: x"), attempt(1, "node a failed: y"),
                                   attempt(2, "node c failed: x"), attempt(3, "")});
  EXPECT_EQ(nodes.size(), 2U);
  EXPECT_THAT(nodes.at(1), ElementsAre("b", "a"));
  EXPECT_THAT(nodes.at(2), ElementsAre("c"));
}

TEST(FailedNodes, AreAvoidedAsLongAsOthersRemain) {
  const std::vector<std::string> failed{"a", "b", "c"};
  EXPECT_THAT(avoidable_nodes(failed, 1, 4), ElementsAre("a", "b", "c"));
  EXPECT_THAT(avoidable_nodes(failed, 2, 4), ElementsAre("b", "c"));
  EXPECT_THAT(avoidable_nodes(failed, 4, 4), IsEmpty());
  EXPECT_THAT(avoidable_nodes(failed, 9, 4), IsEmpty());
  EXPECT_THAT(avoidable_nodes(failed, 9, 0), ElementsAre("a", "b", "c")) << "nobody knows";
}

}  // namespace
}  // namespace bench::space
