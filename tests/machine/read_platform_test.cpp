#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>

namespace bench::machine {
namespace {

using support::EnvironmentVariable;
using support::error_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// A platform called `box` that a test writes.
class ReadPlatformTest : public testing::Test {
 protected:
  Platform load(const std::string& more) const {
    data_.write("platforms/box.yaml", "name: box\ntemplate: t\n" + more);
    return load_platform("box");
  }

  support::TempDirectory data_;
  EnvironmentVariable variable_{"BENCH_DATA", data_.path().string()};
  EnvironmentVariable config_{"XDG_CONFIG_HOME", (data_.path() / "config").string()};
  EnvironmentVariable partition_{"BENCH_PARTITION", std::nullopt};
  EnvironmentVariable account_{"BENCH_ACCOUNT", std::nullopt};
  EnvironmentVariable qos_{"BENCH_QOS", std::nullopt};
};

TEST_F(ReadPlatformTest, ReadsHowJobsAreAskedFor) {
  const Platform platform = load(
      "description: a box\nsite: here\nstatus: historic\nscheduler: slurm\n"
      "partition: gpu\naccount: acc\nqos: high\nreservation: monday\n"
      "account_required: true\nqos_required: yes\n"
      "gpu_request: gpus-per-task\ngpu_type: v100\nconstraint: knl\nmemory: 480G\n"
      "exclusive: true\nhint: nomultithread\n"
      "polling: {interval: 2min, jobs_per_question: 10, sentinel_grace: 500ms, "
      "max_array_size: 100}\n");
  EXPECT_EQ(platform.name, "box");
  EXPECT_EQ(platform.description, "a box");
  EXPECT_EQ(platform.site, "here");
  EXPECT_EQ(platform.status, Status::historic);
  EXPECT_EQ(platform.scheduler, "slurm");
  EXPECT_EQ(platform.job_template, "t");
  const SubmissionDefaults& asking = platform.asking;
  EXPECT_EQ(asking.partition + asking.account + asking.qos + asking.reservation,
            "gpuacchighmonday");
  EXPECT_TRUE(platform.account_required && platform.qos_required && platform.exclusive);
  EXPECT_EQ(platform.gpu_request, GpuRequest::gpus_per_task);
  EXPECT_EQ(platform.gpu_type, "v100");
  EXPECT_EQ(platform.constraint, "knl");
  EXPECT_EQ(platform.memory, "480G");
  EXPECT_EQ(platform.hint, "nomultithread");
  EXPECT_EQ(platform.polling.interval_s, 120);
  EXPECT_EQ(platform.polling.jobs_per_question, 10);
  EXPECT_EQ(platform.polling.sentinel_grace_s, 0.5);
  EXPECT_EQ(platform.polling.max_array_size, 100);
}

TEST_F(ReadPlatformTest, ReadsHowProgramsAreStarted) {
  const Platform platform = load(
      "directives: |\n  #SBATCH -a\n  #SBATCH -b\n\nprologue: |\n  module load x\n"
      "environment: {UCX_TLS: all, OMP_PROC_BIND: 'true', B: {value: 1, source: s}}\n"
      "launcher:\n  command: srun\n  arguments: --mpi=pmix -v\n"
      "  binding: {mode: mask_cpu, per_device: [f0, '0x0f'], needs_whole_node: true, "
      "gpu_select: CUDA_VISIBLE_DEVICES}\n"
      "container: apptainer exec\nenergy: nvml,hwmon\n");
  EXPECT_EQ(platform.directives, "#SBATCH -a\n#SBATCH -b");
  EXPECT_EQ(platform.prologue, "module load x");
  EXPECT_THAT(platform.environment,
              ElementsAre(Pair("UCX_TLS", "all"), Pair("OMP_PROC_BIND", "true"), Pair("B", "1")));
  EXPECT_EQ(platform.launcher.command, "srun");
  EXPECT_EQ(platform.launcher.arguments, "--mpi=pmix -v");
  const Binding& binding = platform.launcher.binding;
  EXPECT_EQ(binding.mode, Binding::Mode::mask_cpu);
  EXPECT_THAT(binding.per_device, ElementsAre("f0", "0x0f"));
  EXPECT_TRUE(binding.needs_whole_node);
  EXPECT_EQ(binding.gpu_select, "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(platform.container, "apptainer exec");
  EXPECT_EQ(platform.energy, "nvml,hwmon");
}

/// Relative to the file; one that needs a variable that is not set is left out.
TEST_F(ReadPlatformTest, ReadsWhereItsProgramsAre) {
  const EnvironmentVariable set("OUR_TOOLS", "/our/tools");
  const EnvironmentVariable unset("THEIR_TOOLS", std::nullopt);
  EXPECT_EQ(load("path: [arm/bin, $OUR_TOOLS/arm, $THEIR_TOOLS/arm, /opt/bin]\n").path,
            (std::vector<std::string>{(data_.path() / "platforms/arm/bin").string(),
                                      "/our/tools/arm", "/opt/bin"}));
  EXPECT_THAT(support::error_of([&] { load("path: /a:/b\n"); }),
              testing::HasSubstr("'/a:/b' is not a directory of PATH"));
}

TEST_F(ReadPlatformTest, ReadsTheCommandsOfABatchSystem) {
  const Platform platform = load(
      "scheduler: other\ncommands:\n  submit: sub {{script}}\n  id_pattern: '(\\d+)'\n  poll: "
      "list\n"
      "  line_pattern: '(?<id>\\d+) (?<state>\\w)'\n  cancel: kill {{id}}\n"
      "  states: {Q: pending, E: failed}\n");
  EXPECT_EQ(platform.scheduler, "other");
  EXPECT_EQ(platform.commands.submit, "sub {{script}}");
  EXPECT_EQ(platform.commands.id_pattern, "(\\d+)");
  EXPECT_EQ(platform.commands.poll, "list");
  EXPECT_EQ(platform.commands.line_pattern, "(?<id>\\d+) (?<state>\\w)");
  EXPECT_EQ(platform.commands.cancel, "kill {{id}}");
  EXPECT_THAT(platform.commands.states, ElementsAre(Pair("E", "failed"), Pair("Q", "pending")));
}

TEST_F(ReadPlatformTest, AsksForNothingUnlessTold) {
  const Platform platform = load("");
  EXPECT_EQ(platform.scheduler, "none");
  EXPECT_EQ(platform.gpu_request, GpuRequest::none);
  EXPECT_EQ(platform.status, Status::unknown);
  EXPECT_EQ(platform.launcher.binding.mode, Binding::Mode::none);
  EXPECT_FALSE(platform.account_required || platform.qos_required || platform.exclusive);
  EXPECT_THAT(platform.sources, IsEmpty());
  EXPECT_THAT(platform.unconfirmed, IsEmpty());
}

TEST_F(ReadPlatformTest, KeepsWhereSettingsAreFrom) {
  const Platform platform = load(
      "partition: {value: gpu, source: the manual}\nmemory: {unconfirmed: 1G, source: a guess}\n"
      "launcher: {binding: {mode: map_cpu, per_device: {unconfirmed: [3, 1], source: a dump}}}\n"
      "environment: {A: {unconfirmed: x, source: a script}}\n");
  EXPECT_EQ(platform.asking.partition, "gpu");
  EXPECT_EQ(platform.memory, "1G");
  EXPECT_THAT(platform.launcher.binding.per_device, ElementsAre("3", "1"));
  EXPECT_THAT(platform.sources, ElementsAre(Pair("partition", "the manual")));
  EXPECT_THAT(platform.unconfirmed, ElementsAre(Pair("environment.A", "a script"),
                                                Pair("launcher.binding.per_device", "a dump"),
                                                Pair("memory", "a guess")));
}

TEST_F(ReadPlatformTest, ReadsWhatTheMachineIs) {
  const Platform platform = load(
      "machine:\n  source: the paper\n  nodes: 44\n  sockets: {value: 2, source: the manual}\n"
      "  numa_domains: {unconfirmed: 8, source: a guess}\n  processor: Fast One\n"
      "  network: {unconfirmed: wires, source: hearsay}\n"
      "accelerator:\n  name: {value: GPU, source: the box}\n"
      "  peak_fp16_tflops: {value: 362.1, source: the vendor}\n  power_scope: module\n"
      "notes: [one, two]\n");
  const Machine& machine = platform.machine;
  ASSERT_TRUE(machine.nodes && machine.sockets && machine.numa_domains);
  EXPECT_EQ(machine.nodes->value, 44);
  EXPECT_EQ(machine.nodes->source, "the paper");
  EXPECT_EQ(machine.sockets->source, "the manual");
  EXPECT_FALSE(machine.sockets->unconfirmed);
  EXPECT_TRUE(machine.numa_domains->unconfirmed);
  EXPECT_FALSE(machine.cores_per_node);
  EXPECT_EQ(machine.processor, "Fast One");
  EXPECT_EQ(machine.network, "wires");
  EXPECT_EQ(machine.accelerator.name, "GPU");
  EXPECT_EQ(machine.accelerator.peak_fp16_tflops->value, 362.1);
  EXPECT_EQ(machine.accelerator.power_scope, "module");
  EXPECT_THAT(machine.notes, ElementsAre("one", "two"));
  EXPECT_THAT(machine.sources, ElementsAre(Pair("accelerator.name", "the box"),
                                           Pair("machine.processor", "the paper")));
  EXPECT_THAT(machine.unconfirmed, ElementsAre(Pair("machine.network", "hearsay")));
  EXPECT_THAT(platform.unconfirmed, IsEmpty()) << "what a job does not use";
}

struct PlatformCase {
  std::string name;
  std::string yaml;  ///< From line 3 of the file.
  std::string expected;
};
void PrintTo(const PlatformCase& c, std::ostream* out) {
  *out << c.name;
}

class ReadPlatformErrorTest : public ReadPlatformTest,
                              public testing::WithParamInterface<PlatformCase> {};

/// `3:8: message` or `3:8: message (hint)`.
TEST_P(ReadPlatformErrorTest, SaysWhereAndWhat) {
  std::string said = "(no error)";
  try {
    load(GetParam().yaml + "\n");
  } catch (const Error& error) {
    EXPECT_EQ(error.place().file, (data_.path() / "platforms/box.yaml").string());
    said = std::to_string(error.place().line) + ":" + std::to_string(error.place().column) + ": " +
           error.message() + (error.hint().empty() ? "" : " (" + error.hint() + ")");
  }
  EXPECT_EQ(said, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, ReadPlatformErrorTest,
    testing::Values(PlatformCase{"Unknown", "sheduler: slurm",
                                 "3:1: a platform has no 'sheduler' (did you mean 'scheduler'?)"},
                    PlatformCase{"UnknownInAGroup", "launcher: {comand: srun}",
                                 "3:12: 'launcher' has no 'comand' (did you mean 'command'?)"},
                    PlatformCase{"UnknownInAGroupOfAGroup", "launcher: {binding: {colour: red}}",
                                 "3:22: 'launcher.binding' has no 'colour' "
                                 "(known: gpu_select, mode, needs_whole_node, per_device)"},
                    PlatformCase{"UnknownInAFact", "partition: {value: a, sauce: b}",
                                 "3:23: 'partition' has no 'sauce' (did you mean 'source'?)"},
                    PlatformCase{"ValueForAGroup", "launcher: srun",
                                 "3:11: 'launcher' must be a value, not keys"},
                    PlatformCase{"ListForAGroup", "launcher: [{command: a}, {command: b}]",
                                 "3:12: 'launcher' must be a value, not keys"},
                    PlatformCase{"ListForAValue", "partition: [a, b]",
                                 "3:16: 'partition' must be a single value, not a list"},
                    PlatformCase{"KeysForAValueInAList", "notes: [a, {b: c}]",
                                 "3:1: 'notes' has no keys"},
                    PlatformCase{"UnknownEnergyMethod", "energy: nvml,hwmn",
                                 "3:9: unknown method 'hwmn' (did you mean 'hwmon'?)"}),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Facts, ReadPlatformErrorTest,
    testing::Values(
        PlatformCase{"NumberWithoutSource", "machine: {nodes: 4}",
                     "3:18: 'machine.nodes' needs a source "
                     "(write {value: ..., source: ...}, or `source: ...` for the group)"},
        PlatformCase{"ValueWithoutSource", "partition: {value: a}",
                     "3:1: 'partition' needs a source (add `source: ...`)"},
        PlatformCase{"UnconfirmedWithoutSource", "machine: {nodes: {unconfirmed: 4}}",
                     "3:11: 'machine.nodes' needs a source (add `source: ...`)"},
        PlatformCase{"ValueAndUnconfirmed", "partition: {value: a, unconfirmed: b, source: c}",
                     "3:1: 'partition' needs either `value` or `unconfirmed`"},
        PlatformCase{"SourceAlone", "partition: {source: c}",
                     "3:1: 'partition' needs either `value` or `unconfirmed`"},
        PlatformCase{"NoNumber", "machine: {nodes: {value: many, source: s}}",
                     "3:26: 'many' is not a number"}),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Values, ReadPlatformErrorTest,
    testing::Values(
        PlatformCase{"Scheduler", "scheduler: lfs",
                     "3:12: invalid value 'lfs' for 'scheduler' "
                     "(did you mean 'lsf'?)"},
        PlatformCase{"GpuRequest", "gpu_request: some",
                     "3:14: invalid value 'some' for 'gpu_request' "
                     "(known: constraint, gpus-per-node, gpus-per-task, gres, none)"},
        PlatformCase{"Status", "status: dead",
                     "3:9: invalid value 'dead' for 'status' (known: historic, live, unknown)"},
        PlatformCase{"Truth", "exclusive: always",
                     "3:12: invalid value 'always' for 'exclusive' (known: true, false)"},
        PlatformCase{"BindingMode", "launcher: {binding: {mode: rank}}",
                     "3:28: invalid value 'rank' for 'launcher.binding.mode' "
                     "(known: cores, map_cpu, mask_cpu, none, sockets)"},
        PlatformCase{
            "PowerScope", "accelerator: {power_scope: rack}",
            "3:28: invalid value 'rack' for 'accelerator.power_scope' (known: device, module, "
            "package)"},
        PlatformCase{"Length", "polling: {interval: soon}",
                     "3:21: invalid duration 'soon' (write seconds (90), a unit (5min, 2h) or "
                     "HH:MM:SS)"},
        PlatformCase{"Count", "polling: {jobs_per_question: 1.5}", "3:30: '1.5' is not an integer"},
        PlatformCase{"NegativeCount", "polling: {max_array_size: -1}",
                     "3:27: '-1' is not an integer"},
        PlatformCase{"Variable", "environment: {A B: 1}",
                     "3:15: 'A B' is not a valid variable name"},
        PlatformCase{"VariableWithADigitFirst", "environment: {1A: 1}",
                     "3:15: '1A' is not a valid variable name"},
        PlatformCase{"State", "scheduler: lsf\ncommands: {states: {Q: waiting}}",
                     "4:24: invalid value 'waiting' for 'commands.states.Q' "
                     "(known: pending, running, done, failed, cancelled, timeout)"}),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Wholeness, ReadPlatformErrorTest,
    testing::Values(
        PlatformCase{"MasksWithoutCores", "launcher: {binding: {mode: mask_cpu}}",
                     "3:12: 'launcher.binding' does not name any cores (add `per_device: "
                     "[...]`, one per device)"},
        PlatformCase{"CoresWithoutMasks", "launcher: {binding: {mode: cores, per_device: [f]}}",
                     "3:12: 'launcher.binding.per_device' has no effect here "
                     "(use it with the modes mask_cpu and map_cpu)"},
        PlatformCase{"ConstraintWithoutItsWord", "gpu_request: constraint",
                     "1:1: platform 'box' requests GPUs by a constraint but has no `constraint` "
                     "(add `constraint: ...`)"},
        PlatformCase{"BatchSystemWithoutCommands", "scheduler: lsf",
                     "1:1: platform 'box' needs 'commands.submit' for its scheduler"},
        PlatformCase{"BatchSystemWithoutACommand",
                     "scheduler: lsf\ncommands: {submit: a, id_pattern: b, poll: c, cancel: d, "
                     "line_pattern: '(?<id>.)(?<state>.)'}",
                     "1:1: platform 'box' needs 'commands.states' for its scheduler"},
        PlatformCase{"CommandsWithoutBatchSystem", "scheduler: slurm\ncommands: {submit: a}",
                     "1:1: platform 'box' has commands that its scheduler does not need"},
        PlatformCase{"LineWithoutState", "scheduler: lsf\ncommands: {line_pattern: '(?<id>.)'}",
                     "4:1: 'commands.line_pattern' has no group (?<state>...)"}),
    [](const auto& one) { return one.param.name; });

TEST_F(ReadPlatformTest, RefusesAFileWithoutATemplate) {
  data_.write("platforms/box.yaml", "name: box\n");
  EXPECT_EQ(error_of([] { load_platform("box"); }),
            (data_.path() / "platforms/box.yaml").string() +
                ":1:1: error: platform 'box' has no job template\n"
                "  name: box\n  ^\nhint: add `template: ...`");
}

}  // namespace
}  // namespace bench::machine
