#include "site.hpp"
#include "slurm/cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/platform.hpp>

namespace bench::slurm {
namespace {

namespace fs = std::filesystem;
using machine::GpuRequest;

/// What a task says that it is and sees: of a workpackage of `k`, `tasks` and `gpus`.
struct Task {
  int k = 0;
  int tasks = 0;
  int gpus = 0;
  std::set<std::string> devices;
};

/// All tasks of a run, from the output of its workpackages.
std::vector<Task> tasks_of(const fs::path& run) {
  std::vector<Task> found;
  for (const auto& entry : fs::directory_iterator(run)) {
    const fs::path output = entry.path() / "work" / "stdout";
    if (!fs::exists(output))
      continue;
    for (const std::string& line : split_names(read_file(output), "\n")) {
      const auto words = split_names(line, " ");
      if (words.size() < 4 || words[0] != "task")
        continue;
      Task task{std::stoi(words[1]), std::stoi(words[2]), std::stoi(words[3]), {}};
      if (words.size() > 4)
        for (const std::string& device : split_names(words[4]))
          task.devices.insert(device);
      found.push_back(task);
    }
  }
  return found;
}

/// @param pack 1: each workpackage is a job. In a pack each task waits for the other workpackage,
/// so
///        that they run at the same time.
std::string sweep(const machine::Platform& machine, const std::string& name, int pack,
                  bool starter) {
  const int devices = static_cast<int>(machine.machine.devices_per_node->value);
  const std::string see =
      "sh -c 'echo task $k $tasks $gpus ${ROCR_VISIBLE_DEVICES-${CUDA_VISIBLE_DEVICES-}}; "
      "touch ../../b.$tasks.$gpus.$k; "
      "while [ `ls ../../b.$tasks.$gpus.* | wc -l` -lt " +
      std::to_string(pack) + " ]; do sleep 0.1; done'";
  return fmt::format(
      R"(name: node
outpath: {0}
parameterset:
  name: p
  parameter: [{{name: tasks, type: int, _: "1,2,4"}}, {{name: gpus, type: int, _: "0,1,{1}"}}, {{name: k, type: int, _: "{2}"}}]
step:
  name: work
  use: p
  where: "{3}"
  batch: {{tasks_per_node: $tasks, gpus_per_node: $gpus, pack: {4}, time_limit: "00:05:00"}}
  do: "{5}{6}"
)",
      name, devices / pack, pack == 1 ? "0" : "0,1",
      machine.gpu_request == GpuRequest::gpus_per_task ? "$gpus % $tasks == 0" : "1 == 1", pack,
      starter ? "$jube_starter " : "", see);
}

class GpusTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!Cluster::missing().empty())
      GTEST_SKIP() << Cluster::missing();
  }
};

/// How many devices a task sees of those of its workpackage.
std::size_t share_of(const machine::Platform& machine, const Task& task, bool starter) {
  const bool shared_out = machine.gpu_request == GpuRequest::gpus_per_task ||
                          !machine.launcher.binding.gpu_select.empty();
  const int gpus =
      starter && shared_out && task.gpus > 0 ? std::max(1, task.gpus / task.tasks) : task.gpus;
  return static_cast<std::size_t>(gpus);
}

struct Form {
  std::string name;
  int pack;
  bool starter;
};

/// Each task has the devices of its share, and those of workpackages in a pack are different ones.
void check_tasks(const machine::Platform& machine, const Form& form,
                 const std::vector<Task>& tasks) {
  std::map<std::pair<int, int>, std::map<int, std::set<std::string>>> of_members;
  for (const Task& task : tasks) {
    SCOPED_TRACE(testing::Message() << task.tasks << " tasks, " << task.gpus << " GPUs");
    EXPECT_THAT(task.devices, testing::SizeIs(share_of(machine, task, form.starter)));
    of_members[{task.tasks, task.gpus}][task.k].insert(task.devices.begin(), task.devices.end());
  }
  for (const auto& [kind, members] : of_members) {
    SCOPED_TRACE(testing::Message() << kind.first << " tasks, " << kind.second << " GPUs");
    const auto gpus = static_cast<std::size_t>(kind.second);
    std::set<std::string> all;
    for (const auto& [k, devices] : members) {
      EXPECT_THAT(devices, testing::SizeIs(gpus));
      all.insert(devices.begin(), devices.end());
    }
    EXPECT_THAT(all, testing::SizeIs(gpus * members.size()));
  }
}

TEST_P(GpusTest, OfEachTaskAreItsOwn) {
  const Cluster machines({"machines", "EnforcePartLimits=ALL"});
  const Site site(&machines);
  const std::string& name = GetParam();
  const auto machine = machine::load_platform(name);
  for (const Form& form :
       {Form{"alone", 1, true}, Form{"pack", 2, true}, Form{"plain_pack", 2, false}}) {
    SCOPED_TRACE(form.name);
    write_file_atomically(site.home() / "node.yaml",
                          sweep(machine, form.name, form.pack, form.starter));
    const auto run = site.bench(
        {"run", "node.yaml", "--platform", name, "--account", "a", "--launcher", "srun", "--wait"});
    EXPECT_EQ(run.status.code, 0) << run.standard_error;
    const auto tasks = tasks_of(site.home() / form.name / "000000");
    EXPECT_GE(tasks.size(), 5U);
    check_tasks(machine, form, tasks);
  }
}

INSTANTIATE_TEST_SUITE_P(Platforms, GpusTest,
                         testing::Values("A100", "LUMI-G", "Leonardo", "Cori-GPU"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace bench::slurm
