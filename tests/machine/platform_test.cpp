#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/machine/platform.hpp>

namespace bench::machine {
namespace {

using support::EnvironmentVariable;
using support::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// One platform file in a data directory of its own.
class PlatformTest : public testing::Test {
 protected:
  Platform load(const std::string& yaml, const std::string& name = "box") const {
    data_.write("platforms/box.yaml", yaml);
    return load_platform(name);
  }
  std::string error(const std::string& yaml, const std::string& name = "box") const {
    return error_of([&] { load(yaml, name); });
  }

  support::TempDirectory data_;
  std::string file_ = (data_.path() / "platforms/box.yaml").string();
  EnvironmentVariable variable_{"BENCH_DATA", data_.path().string()};
  EnvironmentVariable config_{"XDG_CONFIG_HOME", (data_.path() / "config").string()};
  EnvironmentVariable of_slurm_{"SBATCH_ACCOUNT", std::nullopt};
  EnvironmentVariable partition_{"BENCH_PARTITION", std::nullopt};
  EnvironmentVariable account_{"BENCH_ACCOUNT", std::nullopt};
  EnvironmentVariable qos_{"BENCH_QOS", std::nullopt};
};

TEST_F(PlatformTest, TakesSettingsFromTheEnvironment) {
  const EnvironmentVariable set("BENCH_TEST_SET", "gpu");
  const EnvironmentVariable unset("BENCH_TEST_UNSET", std::nullopt);
  const Platform platform = load(
      "{name: box, template: t, partition: '${BENCH_TEST_SET}_a', account: $BENCH_TEST_UNSET}");
  EXPECT_EQ(platform.asking.partition, "gpu_a");
  EXPECT_EQ(platform.asking.account, "");
}

TEST_F(PlatformTest, TakesWhatTheUserSetsBeforeWhatTheFileSays) {
  const EnvironmentVariable partition("BENCH_PARTITION", "mine");
  const EnvironmentVariable account("BENCH_ACCOUNT", "");
  const EnvironmentVariable qos("BENCH_QOS", "fast");
  const Platform platform = load(
      "name: box\ntemplate: t\naccount: theirs\nqos: slow\n"
      "partition: {unconfirmed: gpu, source: hearsay}\n");
  EXPECT_EQ(platform.asking.partition, "mine");
  EXPECT_EQ(platform.asking.account, "theirs");
  EXPECT_EQ(platform.asking.qos, "fast");
  EXPECT_THAT(platform.unconfirmed, IsEmpty());
  EXPECT_THAT(platform.sources,
              ElementsAre(Pair("partition", "BENCH_PARTITION"), Pair("qos", "BENCH_QOS")));
}

TEST_F(PlatformTest, RefusesAFileThatDescribesAnother) {
  EXPECT_EQ(error("name: other\ntemplate: t\n"),
            file_ +
                ":1:1: error: this file describes 'other', but is called box.yaml\n"
                "  name: other\n  ^");
}

TEST_F(PlatformTest, NamesTheKnownOnes) {
  data_.write("platforms/LUMI.yaml", "");
  EXPECT_EQ(error("{name: box, template: t}", "bax"),
            "error: unknown platform 'bax'\nhint: did you mean 'box'?");
  EXPECT_THAT(error("{name: box, template: t}", "elsewhere"),
              testing::ContainsRegex("unknown platform 'elsewhere'\nhint: known: .*LUMI, .*box"));
}

TEST_F(PlatformTest, NamesAreSortedAndOfYamlFilesOnly) {
  data_.write("platforms/b.yaml", "");
  data_.write("platforms/a.yaml", "");
  data_.write("platforms/README.md", "");
  const auto names = platform_names();
  EXPECT_THAT(names, testing::IsSupersetOf({"A100", "a", "b"}));
  EXPECT_THAT(names, testing::Not(testing::Contains("README")));
  EXPECT_TRUE(std::ranges::is_sorted(names));
}

TEST_F(PlatformTest, IsFoundByItsNameAndItsTags) {
  data_.write("platforms/box.yaml", "name: box\ntemplate: t\ntags: [crate, chest]  # two\n");
  data_.write("platforms/bag.yaml", "tags: sack\nname: bag\ntemplate: t\n");
  EXPECT_EQ(platform_of_tag("box"), "box");
  EXPECT_EQ(platform_of_tag("crate"), "box");
  EXPECT_EQ(platform_of_tag("chest"), "box");
  EXPECT_EQ(platform_of_tag("sack"), "bag");
  EXPECT_EQ(platform_of_tag("two"), "");
  EXPECT_EQ(platform_of_tag(""), "");
  EXPECT_THAT(load_platform("box").tags, ElementsAre("crate", "chest"));
}

TEST_F(PlatformTest, AnOwnNameWinsOverATag) {
  data_.write("platforms/bag.yaml", "name: bag\ntemplate: t\n");
  data_.write("platforms/another.yaml", "name: another\ntemplate: t\ntags: [bag]\n");
  EXPECT_EQ(platform_of_tag("bag"), "bag");
}

TEST_F(PlatformTest, RefusesTagsThatCouldNotBeFound) {
  EXPECT_EQ(error("name: box\ntemplate: t\ntags:\n  - crate\n"),
            file_ +
                ":3:1: error: the tags of a platform must be on one line of their own\n"
                "  tags:\n  ^\nhint: write it as `tags: [crate]`");
  EXPECT_THAT(error("{name: box, template: t, tags: [crate]}"),
              HasSubstr("the tags of a platform must be on one line of their own"));
}

TEST(DataDirectories, MustExist) {
  const EnvironmentVariable variable("BENCH_DATA", "/no/such");
  EXPECT_EQ(error_of([] { data_directories(); }),
            "error: BENCH_DATA names /no/such, which is not a directory");
}

/// The first of those of the run, the user, the site and bench.
TEST_F(PlatformTest, IsTheFirstOnTheSearchPath) {
  const support::TempDirectory beside;
  const support::TempDirectory second;
  const EnvironmentVariable sites("BENCH_DATA",
                                  data_.path().string() + ":" + second.path().string());
  const auto description = [&](const std::string& name) {
    return load_platform(name, beside.path()).description;
  };
  const auto text = [](const std::string& name, const std::string& where) {
    return "{name: " + name + ", template: t, description: " + where + "}";
  };
  EXPECT_EQ(description("A100"), "JURECA-DC, A100 nodes");
  second.write("platforms/A100.yaml", text("A100", "second site"));
  EXPECT_EQ(description("A100"), "second site");
  data_.write("platforms/A100.yaml", text("A100", "site"));
  EXPECT_EQ(description("A100"), "site");
  data_.write("config/bench/platforms/A100.yaml", text("A100", "user"));
  EXPECT_EQ(description("A100"), "user");
  beside.write("platforms/A100.yaml", text("A100", "folder beside"));
  EXPECT_EQ(description("A100"), "folder beside");
  beside.write("A100.yaml", text("A100", "beside"));
  EXPECT_EQ(description("A100"), "beside");
}

TEST_F(PlatformTest, IsNotABenchmarkOfTheSameName) {
  const support::TempDirectory beside;
  beside.write("local.yaml", "name: sweep\nstep: {name: a, do: echo}\n");
  beside.write("A100.yaml", "name: sweep\nparameterset :\n  - !include others.yaml\n");
  EXPECT_EQ(load_platform("local", beside.path()).name, "local");
  EXPECT_EQ(load_platform("A100", beside.path()).description, "JURECA-DC, A100 nodes");
}

TEST_F(PlatformTest, IsReadFromAFileThatIsNamed) {
  const auto file = data_.write("mine/fox.yaml", "{name: fox, template: t, description: mine}");
  EXPECT_EQ(load_platform(file.string()).description, "mine");
  EXPECT_EQ(error_of([&] { load_platform((data_.path() / "owl.yaml").string()); }).substr(0, 6),
            "error:");
}

TEST_F(PlatformTest, IsLikeTheOneThatItExtends) {
  data_.write("platforms/base.yaml",
              "name: base\ntemplate: slurm.job\nscheduler: slurm\ntags: [b]\ndescription: theirs\n"
              "partition: {unconfirmed: old, source: hearsay}\nnotes: [theirs]\n"
              "environment: {A: 1, B: {value: 2, source: a paper}}\n"
              "launcher: {command: srun, arguments: -v, binding: {mode: cores}}\n"
              "machine: {source: a paper, cores_per_node: 64, nodes: 3}\n");
  const Platform own = load(
      "name: box\nextends: base\npartition: new\nenvironment: {B: 3}\n"
      "launcher: {arguments: -q}\nmachine: {source: me, nodes: 5}\n");
  EXPECT_EQ(own.name, "box");
  EXPECT_EQ(own.description + own.site, "");
  EXPECT_THAT(own.tags, IsEmpty());
  EXPECT_THAT(own.machine.notes, IsEmpty());
  EXPECT_EQ(own.job_template, "slurm.job");
  EXPECT_EQ(own.scheduler, "slurm");
  EXPECT_EQ(own.asking.partition, "new");
  EXPECT_THAT(own.unconfirmed, IsEmpty());
  EXPECT_THAT(own.environment, ElementsAre(Pair("A", "1"), Pair("B", "3")));
  EXPECT_EQ(own.launcher.command + own.launcher.arguments, "srun-q");
  EXPECT_EQ(own.launcher.binding.mode, Binding::Mode::cores);
  EXPECT_EQ(own.machine.cores_per_node->value, 64);
  EXPECT_EQ(own.machine.nodes->value, 5);
  EXPECT_EQ(own.machine.nodes->source, "me");
}

TEST_F(PlatformTest, RefusesToExtendItself) {
  EXPECT_THAT(error("name: box\nextends: box\n"),
              HasSubstr("these platforms extend each other in a circle"));
  EXPECT_THAT(error("name: box\nextends: bix\n"), HasSubstr("unknown platform 'bix'"));
}

/// What users have set for sbatch.
TEST_F(PlatformTest, TakesSlurmsVariablesWhereNothingElseDecides) {
  const EnvironmentVariable account("SBATCH_ACCOUNT", "mine");
  const EnvironmentVariable partition("SBATCH_PARTITION", "debug");
  const Platform platform = load("{name: box, template: t, scheduler: slurm, partition: gpu}");
  EXPECT_EQ(platform.asking.account, "mine");
  EXPECT_EQ(platform.asking.partition, "gpu");
  EXPECT_THAT(idle_variables(platform), ElementsAre(Pair("SBATCH_PARTITION", "partition gpu")));
  EXPECT_EQ(load("{name: box, template: t}").asking.account, "");
}

/// A platform called `box` that a test writes.
class ReadPlatformTest : public PlatformTest {
 protected:
  Platform load(const std::string& more) const {
    return PlatformTest::load("name: box\ntemplate: t\n" + more);
  }
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
