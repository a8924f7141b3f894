#include "support/error_of.hpp"
#include "support/patience.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/process.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>

namespace bench::machine {
namespace {

const Resources eight_tasks{
    .nodes = 2, .tasks_per_node = 4, .threads_per_task = 12, .gpus_per_node = 4};

Platform asking(GpuRequest request, const std::string& type = "") {
  Platform platform;
  platform.name = "box";
  platform.gpu_request = request;
  platform.gpu_type = type;
  return platform;
}

Platform launching(const std::string& command, const std::string& arguments = "") {
  Platform platform = asking(GpuRequest::gres);
  platform.launcher = {.command = command, .arguments = arguments, .binding = {}};
  return platform;
}

Platform binding(const Binding& binding) {
  Platform platform = launching("srun");
  platform.launcher.binding = binding;
  return platform;
}

TEST(Resources, GrowWithWhatRunsSideBySide) {
  const Resources three = eight_tasks.times(3);
  EXPECT_EQ(three.nodes, 2);
  EXPECT_EQ(three.tasks_per_node, 12);
  EXPECT_EQ(three.threads_per_task, 12);
  EXPECT_EQ(three.gpus_per_node, 12);
  EXPECT_EQ(three.tasks(), 24);
}

struct Request {
  std::string name;
  GpuRequest mode;
  std::string type;
  int gpus;
  std::string expected;
};

class GpuOptionTest : public testing::TestWithParam<Request> {};

TEST_P(GpuOptionTest, AsksAsThePlatformWantsIt) {
  const Request& r = GetParam();
  Resources resources = eight_tasks;
  resources.gpus_per_node = r.gpus;
  EXPECT_EQ(gpu_option(asking(r.mode, r.type), resources), r.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, GpuOptionTest,
    testing::Values(
        Request{"None", GpuRequest::none, "", 4, ""},
        Request{"Constraint", GpuRequest::constraint, "", 4, ""},
        Request{"Gres", GpuRequest::gres, "", 4, "--gres=gpu:4"},
        Request{"GresOfAType", GpuRequest::gres, "v100", 4, "--gres=gpu:v100:4"},
        Request{"PerNode", GpuRequest::gpus_per_node, "", 8, "--gpus-per-node=8"},
        Request{"PerNodeOfAType", GpuRequest::gpus_per_node, "a100", 8, "--gpus-per-node=a100:8"},
        Request{"PerTask", GpuRequest::gpus_per_task, "", 4, "--gpus-per-task=1"},
        Request{"PerTaskOfAType", GpuRequest::gpus_per_task, "a100", 8, "--gpus-per-task=a100:2"},
        Request{"NoGpus", GpuRequest::gres, "", 0, ""},
        Request{"NoGpusPerTask", GpuRequest::gpus_per_task, "", 0, ""}),
    [](const auto& one) { return one.param.name; });

TEST(GpuOption, RefusesGpusThatTasksCannotShare) {
  Resources resources = eight_tasks;
  resources.gpus_per_node = 6;
  EXPECT_EQ(support::error_of([&] { gpu_option(asking(GpuRequest::gpus_per_task), resources); }),
            "error: cannot divide the 6 GPUs of a node evenly among 4 tasks\n"
            "hint: platform box gives GPUs to tasks");
}

TEST(Constraint, IsForGpusWhereItIsHowTheyAreAskedFor) {
  Platform platform = asking(GpuRequest::constraint);
  platform.constraint = "gpu";
  EXPECT_EQ(constraint(platform, {.gpus_per_node = 1}, "gpu"), "gpu");
  EXPECT_EQ(constraint(platform, {.gpus_per_node = 0}, "gpu"), "");
  EXPECT_EQ(constraint(platform, {.gpus_per_node = 1}, "ssd"), "gpu&ssd");
  EXPECT_EQ(constraint(platform, {.gpus_per_node = 0}, "ssd"), "ssd");
  platform.gpu_request = GpuRequest::gres;
  EXPECT_EQ(constraint(platform, {.gpus_per_node = 0}, "gpu"), "gpu");
  EXPECT_EQ(constraint(asking(GpuRequest::gres), eight_tasks, ""), "");
}

const std::string srun =
    "srun --nodes=2 --ntasks=8 --ntasks-per-node=4 --cpus-per-task=12 --kill-on-bad-exit=1";

TEST(LaunchLine, IsNoneWithoutALauncher) {
  EXPECT_EQ(launch_line(launching(""), eight_tasks, false), "");
  EXPECT_EQ(launch_line(launching("", "-v"), eight_tasks, true), "");
}

TEST(LaunchLine, TellsSrunWhatTheJobHas) {
  EXPECT_EQ(launch_line(launching("srun", "--mpi=pmix -v"), eight_tasks, false),
            srun + " --mpi=pmix -v");
  EXPECT_EQ(launch_line(launching("/opt/slurm/bin/srun"), eight_tasks, false),
            "/opt/slurm/bin/" + srun);
  EXPECT_EQ(launch_line(launching("srun"), {}, false),
            "srun --nodes=1 --ntasks=1 --ntasks-per-node=1");
}

TEST(LaunchLine, TakesNoMoreThanItsShareSideBySide) {
  EXPECT_EQ(launch_line(launching("srun"), eight_tasks, true),
            srun + " --exact --mem=0 --gres=gpu:4");
  EXPECT_EQ(launch_line(launching("srun"), {}, true),
            "srun --nodes=1 --ntasks=1 --ntasks-per-node=1 --exact --mem=0");
}

TEST(LaunchLine, EndsAllTasksWithOneThatFailsUnlessTheStepSaysOtherwise) {
  Resources resources{.tasks_per_node = 2};
  EXPECT_EQ(launch_line(launching("srun"), resources, false),
            "srun --nodes=1 --ntasks=2 --ntasks-per-node=2 --kill-on-bad-exit=1");
  EXPECT_EQ(launch_line(launching("jsrun", "-r1"), resources, false),
            "jsrun --exit_on_error 1 -r1");
  resources.kill_on_bad_exit = false;
  EXPECT_EQ(launch_line(launching("srun"), resources, false),
            "srun --nodes=1 --ntasks=2 --ntasks-per-node=2");
  EXPECT_EQ(launch_line(launching("jsrun", "-r1"), resources, false), "jsrun -r1");
}

TEST(LaunchLine, FillsTheArgumentsOfOtherLaunchers) {
  EXPECT_EQ(launch_line(launching("mpirun",
                                  "-np {{tasks}} --map-by ppr:{{tasks_per_node}}:node "
                                  "-n{{nodes}} -c{{threads_per_task}} "
                                  "-g{{gpus_per_node}}"),
                        eight_tasks, true),
            "mpirun -np 8 --map-by ppr:4:node -n2 -c12 -g4");
  EXPECT_EQ(launch_line(launching("mysrun"), eight_tasks, true), "mysrun");
}

TEST(LaunchLine, RefusesAHoleWithoutAValue) {
  const auto error = [](const std::string& arguments) {
    return support::error_of([&] { launch_line(launching("jsrun", arguments), {}, false); });
  };
  EXPECT_EQ(error("-v -c{{cores}}"),
            "launcher.arguments of box:1:6: error: unknown template variable 'cores'\n"
            "hint: did you mean 'nodes'?");
  EXPECT_EQ(
      error("-g{{gpus_per_node}}"),
      "launcher.arguments of box:1:3: error: template variable 'gpus_per_node' has no value here\n"
      "hint: write {{gpus_per_node?}} to drop the line if there is no value");
}

struct Bound {
  std::string name;
  Binding binding;
  int tasks_per_node;
  std::string expected;
};

class BindingTest : public testing::TestWithParam<Bound> {};

TEST_P(BindingTest, IsToldToSrun) {
  const Bound& b = GetParam();
  const Resources resources{.tasks_per_node = b.tasks_per_node, .kill_on_bad_exit = false};
  const std::string tasks = std::to_string(b.tasks_per_node);
  EXPECT_EQ(launch_line(binding(b.binding), resources, false),
            "srun --nodes=1 --ntasks=" + tasks + " --ntasks-per-node=" + tasks + b.expected);
}

Binding of(Binding::Mode mode, bool needs_whole_node = false) {
  return {.mode = mode,
          .per_device = {"0xf0", "0x0f"},
          .needs_whole_node = needs_whole_node,
          .gpu_select = ""};
}

INSTANTIATE_TEST_SUITE_P(
    Modes, BindingTest,
    testing::Values(
        Bound{"None", of(Binding::Mode::none), 2, ""},
        Bound{"Cores", of(Binding::Mode::cores), 2, " --cpu-bind=cores"},
        Bound{"Sockets", of(Binding::Mode::sockets), 2, " --cpu-bind=sockets"},
        Bound{"Masks", of(Binding::Mode::mask_cpu), 2, " --cpu-bind=mask_cpu:0xf0,0x0f"},
        Bound{"Map", of(Binding::Mode::map_cpu), 2, " --cpu-bind=map_cpu:0xf0,0x0f"},
        Bound{"FewerTasksThanMasks", of(Binding::Mode::mask_cpu), 1, " --cpu-bind=mask_cpu:0xf0"},
        Bound{"MoreTasksThanMasks", of(Binding::Mode::mask_cpu), 3, ""},
        Bound{"MasksOfTheWholeNode", of(Binding::Mode::mask_cpu, true), 2,
              " --cpu-bind=mask_cpu:0xf0,0x0f"},
        Bound{"MasksOfTheWholeNodeForFewerTasks", of(Binding::Mode::mask_cpu, true), 1, ""}),
    [](const auto& one) { return one.param.name; });

TEST(LaunchLine, BindsNothingByOtherLaunchers) {
  Platform platform = binding(of(Binding::Mode::cores));
  platform.launcher.command = "mpirun";
  EXPECT_EQ(launch_line(platform, eight_tasks, false), "mpirun");
}

TEST(LaunchLine, BindsByMasksOnlyWhereNobodyElseRuns) {
  EXPECT_EQ(launch_line(binding(of(Binding::Mode::mask_cpu)),
                        {.tasks_per_node = 2, .threads_per_task = 3}, true),
            "srun --nodes=1 --ntasks=2 --ntasks-per-node=2 --cpus-per-task=3 "
            "--kill-on-bad-exit=1 --exact --mem=0");
}

/// Which devices a task sees, of those that the batch system says the job or the step has.
struct Share {
  std::string name;
  int tasks;
  int gpus;
  std::string given;
  std::vector<std::string> seen;  ///< By each task of the node.
};

class GpuShareTest : public testing::TestWithParam<Share> {};

TEST_P(GpuShareTest, IsGivenToEachTask) {
  const Share& s = GetParam();
  Binding select;
  select.gpu_select = "ROCR_VISIBLE_DEVICES";
  const std::string line =
      launch_line(binding(select), {.tasks_per_node = s.tasks, .gpus_per_node = s.gpus}, false);
  const auto wrapper = line.find(" bash -c ");
  for (int task = 0; task < s.tasks; ++task) {
    const std::string command = (wrapper == std::string::npos ? "" : line.substr(wrapper)) +
                                " bash -c 'echo ${ROCR_VISIBLE_DEVICES-unset}'";
    Environment environment = current_environment();
    std::erase_if(environment, [](const auto& one) { return one.first == "ROCR_VISIBLE_DEVICES"; });
    set_variable(environment, "SLURM_LOCALID", std::to_string(task));
    if (!s.given.empty())
      set_variable(environment, "ROCR_VISIBLE_DEVICES", s.given);
    EXPECT_EQ(run_command({.arguments = {"sh", "-c", command}, .environment = environment},
                          support::far_too_long_s)
                  .standard_output,
              s.seen.at(static_cast<std::size_t>(task)) + "\n");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tasks, GpuShareTest,
    testing::Values(Share{"One", 1, 4, "0,1,2,3", {"0,1,2,3"}},
                    Share{"OneWithoutGpus", 1, 0, "", {"unset"}},
                    Share{"TwoWithoutGpus", 2, 0, "", {"unset", "unset"}},
                    Share{"OneOfAPack", 1, 1, "5", {"5"}},
                    Share{"TwoOfAPack", 2, 2, "4,6", {"4", "6"}},
                    Share{"Two", 2, 4, "0,1,2,3", {"0,1", "2,3"}},
                    Share{"Four", 4, 4, "0,1,2,3", {"0", "1", "2", "3"}},
                    Share{"FourOfOne", 4, 1, "2", {"2", "2", "2", "2"}},
                    Share{"ThreeOfEight", 3, 8, "0,1,2,3,4,5,6,7", {"0,1", "2,3", "5,6"}},
                    Share{"FourThatNobodyNamed", 4, 4, "", {"0", "1", "2", "3"}}),
    [](const auto& one) { return one.param.name; });

TEST(GpuExport, NamesTheGpusOfAJobWhereTheBatchSystemDoesNot) {
  Platform platform;
  EXPECT_EQ(gpu_export(platform, eight_tasks), "");
  platform.gpu_variable = "CUDA_VISIBLE_DEVICES";
  EXPECT_EQ(gpu_export(platform, {}), "");
  EXPECT_EQ(gpu_export(platform, eight_tasks),
            "export CUDA_VISIBLE_DEVICES=\"${CUDA_VISIBLE_DEVICES:-0,1,2,3}\"\n");
}

struct Cores {
  std::string name;
  MaybeFact cores;
  MaybeFact devices;
  int gpus;
  int tasks;
  int expected;
};

class CoresOfGpusTest : public testing::TestWithParam<Cores> {};

TEST_P(CoresOfGpusTest, AreTheirShareOfTheNode) {
  const Cores& c = GetParam();
  Platform platform;
  platform.machine.cores_per_node = c.cores;
  platform.machine.devices_per_node = c.devices;
  EXPECT_EQ(cores_of_gpus(platform, c.gpus, c.tasks), c.expected);
}

MaybeFact known(double value) {
  return Fact{.value = value, .source = "a paper"};
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, CoresOfGpusTest,
    testing::Values(Cores{"ATaskForEach", known(80), known(4), 4, 4, 20},
                    Cores{"OneTask", known(80), known(4), 4, 1, 80},
                    Cores{"OneGpu", known(80), known(4), 1, 1, 20},
                    Cores{"MoreTasksThanCores", known(8), known(8), 1, 4, 1},
                    Cores{"MoreGpusThanThereAre", known(80), known(4), 8, 1, 80},
                    Cores{"UnknownCores", {}, known(4), 4, 4, 0},
                    Cores{"UnknownDevices", known(80), {}, 4, 4, 0},
                    Cores{"UnconfirmedCores",
                          Fact{.value = 80, .source = "hearsay", .unconfirmed = true}, known(4), 4,
                          4, 0}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bench::machine
