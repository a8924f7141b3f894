#include "harness/ranks.hpp"

#include "harness/communicator.hpp"
#include "harness/data_parallel.hpp"
#include "harness/errors.hpp"
#include "harness/flat_parameters.hpp"

#include <cstdint>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

using Variables = std::map<std::string, std::string>;

EnvironmentLookup lookup_in(const Variables& variables) {
  return [variables](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

/// Both, those of `more` first.
Variables with(Variables more, const Variables& base) {
  more.insert(base.begin(), base.end());
  return more;
}

// What srun -N2 -n3 tells its third task, and what the script of that job has (Slurm 22.05).
const Variables script{{"SLURM_JOB_ID", "4711"},        {"SLURM_NTASKS", "3"},
                       {"SLURM_PROCID", "0"},           {"SLURM_LOCALID", "0"},
                       {"SLURM_TASKS_PER_NODE", "2,1"}, {"SLURM_JOB_NODELIST", "jwb[0007-0008]"}};
const Variables task = with({{"SLURM_PROCID", "2"},
                             {"SLURM_LOCALID", "0"},
                             {"SLURM_NODEID", "1"},
                             {"SLURM_STEP_ID", "3"},
                             {"SLURM_STEP_NUM_TASKS", "3"},
                             {"SLURM_STEP_TASKS_PER_NODE", "2,1"},
                             {"SLURM_STEP_NODELIST", "jwb[0008,0007]"}},
                            script);
const Variables torchrun{{"RANK", "5"},
                         {"WORLD_SIZE", "8"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "4"},
                         {"MASTER_ADDR", "jwb0001i.juwels"},
                         {"MASTER_PORT", "29500"},
                         {"TORCHELASTIC_RUN_ID", "r7"},
                         {"TORCHELASTIC_RESTART_COUNT", "1"},
                         {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Variables openmpi{{"OMPI_COMM_WORLD_RANK", "1"},
                        {"OMPI_COMM_WORLD_SIZE", "2"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                        {"PMIX_RANK", "1"},
                        {"PMIX_NAMESPACE", "prterun-n1-77@1"}};

std::string describe(const Ranks& ranks) {
  const auto text = [](const std::optional<int>& number) {
    return number ? std::to_string(*number) : "?";
  };
  std::string result = ranks.launcher + " " + std::to_string(ranks.rank) + "/" +
                       std::to_string(ranks.size) + " " + text(ranks.local_rank) + "/" +
                       text(ranks.local_size);
  if (ranks.size > 1)
    result += " " + ranks.master_address + ":" + std::to_string(ranks.master_port) + " " +
              ranks.program + (ranks.store_is_served ? " served" : "");
  return result;
}

TEST(Ranks, AreFoundInTheEnvironment) {
  struct Case {
    const char* name;
    Variables variables;
    /// launcher rank/size local_rank/local_size address:port program
    const char* expected;
  };
  // Ports: 20000 + (4711 + 101 * 3) mod 10000, and 20000 + 4711; Open MPI's from the hash by hand.
  const Case cases[] = {
      {"Nothing", {}, "none 0/1 ?/?"},
      {"ScriptOfAJob", script, "none 0/1 ?/?"},
      {"ShellOfSalloc", {{"SLURM_NTASKS", "4"}}, "none 0/1 ?/?"},
      {"ShellOfSallocOnANode",
       with({{"SLURM_STEP_ID", "4294967290"}, {"SLURM_STEP_NUM_TASKS", "1"}}, script),
       "none 0/1 ?/?"},
      {"Srun", task, "slurm 2/3 0/1 jwb0008:25014 slurm-4711.3"},
      {"SrunOfOneTask",
       with({{"SLURM_PROCID", "0"},
             {"SLURM_STEP_NUM_TASKS", "1"},
             {"SLURM_STEP_TASKS_PER_NODE", "1"},
             {"SLURM_NODEID", "0"}},
            task),
       "slurm 0/1 0/1"},
      {"SrunOnOneNode", with({{"SLURM_STEP_TASKS_PER_NODE", "3"}, {"SLURM_NODEID", "0"}}, task),
       "slurm 2/3 0/3 127.0.0.1:25014 slurm-4711.3"},
      {"SrunWithoutNumberOfTheStep",
       {{"SLURM_JOB_ID", "9"},
        {"SLURM_STEP_ID", "0"},
        {"SLURM_PROCID", "1"},
        {"SLURM_NTASKS", "2"},
        {"SLURM_JOB_NODELIST", "a1,b[2-3]"}},
       "slurm 1/2 ?/? a1:20009 slurm-9.0"},
      {"MasterGiven", with({{"MASTER_ADDR", "jwb0007i"}, {"MASTER_PORT", "123"}}, task),
       "slurm 2/3 0/1 jwb0007i:123 slurm-4711.3"},
      {"Torchrun", torchrun, "torchrun 5/8 1/4 jwb0001i.juwels:29500 torchrun-r7-1 served"},
      {"TorchrunBeforeSlurm", with(torchrun, task),
       "torchrun 5/8 1/4 jwb0001i.juwels:29500 torchrun-r7-1-4711 served"},
      {"WrapperThatSetsRanksFromSlurm", with({{"RANK", "2"}, {"WORLD_SIZE", "3"}}, task),
       "torchrun 2/3 0/1 jwb0008:25014 torchrun---4711.3"},
      {"SizeAloneThatSlurmConfirms", with({{"WORLD_SIZE", "3"}}, task),
       "slurm 2/3 0/1 jwb0008:25014 slurm-4711.3"},
      {"OpenMpi", openmpi, "openmpi 1/2 1/2 127.0.0.1:28969 openmpi-prterun-n1-77@1"},
      {"OpenMpiBeforeSlurm", with(openmpi, task),
       "openmpi 1/2 1/2 127.0.0.1:28969 openmpi-prterun-n1-77@1"},
      {"PmiOfSrun", with({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}}, task),
       "pmi 2/3 0/1 jwb0008:25014 pmi-4711.3"},
      {"PmiOfMpiexecInAJob",
       with({{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}, {"MPI_LOCALRANKID", "1"}}, task),
       "pmi 5/8 1/? jwb0007:24711 pmi-4711"},
      {"JsrunWhereTheJobScriptSaysWhereToMeet",
       {{"JSM_NAMESPACE_RANK", "5"},
        {"JSM_NAMESPACE_SIZE", "12"},
        {"JSM_NAMESPACE_LOCAL_RANK", "5"},
        {"MASTER_ADDR", "a01n01"},
        {"MASTER_PORT", "20123"}},
       "jsrun 5/12 5/? a01n01:20123 jsrun"},
      {"EmptyVariables", {{"RANK", ""}, {"WORLD_SIZE", ""}}, "none 0/1 ?/?"}};
  for (const Case& c : cases)
    EXPECT_EQ(describe(find_ranks(lookup_in(c.variables))), c.expected) << c.name;
}

TEST(Ranks, RefuseWhatIsNoNumberIncompleteOrContradictory) {
  const struct {
    Variables variables;
    const char* message;
  } cases[] = {
      {{{"RANK", "one"}, {"WORLD_SIZE", "2"}}, "RANK=one is not a number of ranks"},
      {{{"RANK", "-1"}, {"WORLD_SIZE", "2"}}, "RANK=-1 is not a number of ranks"},
      {{{"RANK", "99999999999"}, {"WORLD_SIZE", "2"}}, "RANK=99999999999 is not a number of ranks"},
      {{{"RANK", "2"}, {"WORLD_SIZE", "2"}}, "RANK=2 and WORLD_SIZE=2 contradict each other"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "RANK=0 and WORLD_SIZE=0 contradict each other"},
      {{{"RANK", "0"}}, "RANK is set, but WORLD_SIZE is not"},
      {{{"PMI_SIZE", "2"}}, "PMI_SIZE is set, but PMI_RANK is not"},
      {{{"PMIX_RANK", "0"}}, "PMIX_RANK is set, but nothing says how many ranks there are"},
      {with({{"WORLD_SIZE", "4"}}, task),
       "WORLD_SIZE=4 and SLURM_STEP_NUM_TASKS=3 contradict each other"},
      {with({{"LOCAL_RANK", "4"}}, torchrun),
       "LOCAL_RANK=4 is not below the number of ranks of this node, 4"},
      {with({{"LOCAL_WORLD_SIZE", "9"}}, torchrun), "9 ranks on this node, but WORLD_SIZE=8"},
      {with({{"MASTER_PORT", "0"}}, torchrun), "MASTER_PORT=0 is not a port"},
      {with({{"MASTER_PORT", "65536"}}, torchrun), "MASTER_PORT=65536 is not a port"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}},
       "several ranks, but neither MASTER_PORT nor a job id says where they meet"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "5000"}},
       "2 ranks, but neither MASTER_ADDR nor SLURM_JOB_NODELIST says where rank 0 is"},
  };
  for (const auto& c : cases) {
    try {
      find_ranks(lookup_in(c.variables));
      ADD_FAILURE() << "no error: " << c.message;
    } catch (const UsageError& error) {
      EXPECT_STREQ(error.what(), c.message);
      EXPECT_FALSE(error.hint().empty());
    }
  }
}

TEST(Ranks, KnowTheFirstHostOfSlurmsLists) {
  const std::pair<const char*, const char*> cases[] = {
      {"jwb[0001-0004,0010]", "jwb0001"},
      {"a1,b[2-3]", "a1"},
      {"n7", "n7"},
      {"n[12]", "n12"},
      {"r[1-2]n[3,5],x", "r1n3"},
      {"nid[000010,000020-000030]-hsn0", "nid000010-hsn0"},
      {"", ""},
      {"n[1-", ""},
  };
  for (const auto& [list, host] : cases)
    EXPECT_EQ(first_host(list), host) << list;
}

TEST(Ranks, KnowTheTasksOfEachNode) {
  const struct {
    const char* list;
    int node;
    std::optional<int> tasks;
  } cases[] = {
      {"4", 0, 4},         {"4", 1, std::nullopt}, {"2(x3),1", 2, 2},      {"2(x3),1", 3, 1},
      {"1,2(x2),3", 2, 2}, {"", 0, std::nullopt},  {"x", 0, std::nullopt}, {"2(x", 0, std::nullopt},
  };
  for (const auto& c : cases)
    EXPECT_EQ(tasks_on_node(c.list, c.node), c.tasks) << c.list << " " << c.node;
}

TEST(Ranks, EachHasAGpuOfItsOwn) {
  Ranks ranks;
  EXPECT_EQ(device_of_rank("auto", ranks, 4), "auto");
  ranks.size = 4;
  EXPECT_EQ(device_of_rank("auto", ranks, 0), "auto");
  EXPECT_EQ(device_of_rank("auto", ranks, 1), "cuda:0");
  EXPECT_THROW(device_of_rank("cuda", ranks, 4), UsageError);
  ranks.local_rank = 3;
  EXPECT_EQ(device_of_rank("auto", ranks, 4), "cuda:3");
  EXPECT_EQ(device_of_rank("cuda", ranks, 4), "cuda:3");
  EXPECT_EQ(device_of_rank("cuda:1", ranks, 4), "cuda:1");
  EXPECT_EQ(device_of_rank("cpu", ranks, 4), "cpu");
  EXPECT_THROW(device_of_rank("auto", ranks, 2), UsageError);
}

#ifndef BENCH_STEPS_GLOO

TEST(Communicator, RefusesSeveralRanksWithoutWhatConnectsThem) {
  EXPECT_THROW(Communicator(Ranks{.size = 2, .local_size = 2}, torch::kCPU), UsageError);
}

#endif

TEST(Communicator, OneRankAloneNeedsNobody) {
  Communicator alone;
  const torch::Tensor three = torch::full({2, 2}, 3.0);
  alone.all_reduce(three).wait();
  EXPECT_TRUE(three.equal(torch::full({2, 2}, 3.0)));
  EXPECT_EQ(alone.all_gather(three).sizes(), (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_TRUE(alone.reduce_scatter(three).equal(three));
  alone.broadcast(three);
  alone.barrier();
  EXPECT_EQ(alone.split(0, 0).size(), 1);
  EXPECT_EQ(Communicator(Ranks{}, torch::kCPU).size(), 1);
  FlatParameters parameters({torch::ones({3}, torch::requires_grad())});
  GradientReducer reducer(parameters, alone, {});
  reducer.wait();
  EXPECT_EQ(reducer.bucket_count(), 0U);
}

}  // namespace
}  // namespace bench::steps
