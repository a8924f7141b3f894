#include "support/environment_variable.hpp"
#include "support/patience.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/process.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/platform.hpp>

namespace bench::machine {
namespace {

using support::EnvironmentVariable;
using testing::IsEmpty;
using testing::Not;

/// The platforms and templates of the source tree, whatever the environment says.
class Shipped {
  EnvironmentVariable data_{"BENCH_DATA", std::nullopt};
  EnvironmentVariable config_{"XDG_CONFIG_HOME", "/nonexistent"};
  EnvironmentVariable partition_{"BENCH_PARTITION", std::nullopt};
  EnvironmentVariable account_{"BENCH_ACCOUNT", std::nullopt};
  EnvironmentVariable qos_{"BENCH_QOS", std::nullopt};
};

std::vector<std::string> shipped_names() {
  const Shipped shipped;
  return platform_names();
}

/// Those that stand for no machine in particular.
bool is_general(const std::string& name) {
  return name == "local" || name == "slurm" || name == "pbs" || name == "flux" ||
         name == "allocation";
}

std::string identifier(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

class ShippedPlatformTest : public testing::TestWithParam<std::string> {
 protected:
  Shipped shipped_;
  Platform platform_ = load_platform(GetParam());
};

TEST_P(ShippedPlatformTest, IsWhole) {
  EXPECT_EQ(platform_.name, GetParam());
  EXPECT_NE(platform_.description, "");
  EXPECT_NE(platform_.scheduler, "");
  EXPECT_NE(read_job_template(platform_.job_template, {"/nowhere"}).text, "");
}

TEST_P(ShippedPlatformTest, IsDescribedAsAMachine) {
  const Machine& machine = platform_.machine;
  if (is_general(GetParam()))
    return;
  EXPECT_NE(platform_.site, "");
  EXPECT_NE(platform_.launcher.command, "");
  EXPECT_NE(machine.processor, "");
  EXPECT_TRUE(machine.nodes && machine.sockets && machine.cores_per_node && machine.memory_gb);
  EXPECT_EQ(machine.devices_per_node.has_value(), machine.accelerator.name != "");
  EXPECT_EQ(machine.devices_per_node.has_value(), machine.modules_per_node.has_value());
  EXPECT_THAT(machine.notes, Not(IsEmpty()));
}

/// A device of each module, and a mask per device: otherwise tasks run where they should not.
TEST_P(ShippedPlatformTest, HasFittingNumbers) {
  const Machine& machine = platform_.machine;
  if (machine.devices_per_node) {
    EXPECT_EQ(std::fmod(machine.devices_per_node->value, machine.modules_per_node->value), 0);
  }
  const Binding& binding = platform_.launcher.binding;
  if (!binding.per_device.empty()) {
    EXPECT_EQ(binding.per_device.size(), machine.devices_per_node->value);
    EXPECT_FALSE(platform_.unconfirmed.contains("launcher.binding.per_device"))
        << "a wrong mask spoils measurements in silence";
  }
  if (machine.cores_per_node && machine.sockets) {
    EXPECT_EQ(std::fmod(machine.cores_per_node->value, machine.sockets->value), 0);
  }
}

TEST_P(ShippedPlatformTest, NamesPowerSourcesThatTheMeterHas) {
  const std::set<std::string> known{"nvml", "rapl", "hwmon", "pm_counters", "gcipu", "auto"};
  for (const std::string& source : split_names(platform_.energy))
    EXPECT_TRUE(known.contains(source)) << source;
}

TEST_P(ShippedPlatformTest, HasAPrologueThatTheShellUnderstands) {
  if (platform_.prologue.empty())
    return;
  const CommandOutput read =
      run_command({.arguments = {"bash", "-n", "-c", platform_.prologue}, .environment = {}},
                  support::far_too_long_s);
  EXPECT_TRUE(read.status.success()) << read.standard_error;
}

INSTANTIATE_TEST_SUITE_P(Files, ShippedPlatformTest, testing::ValuesIn(shipped_names()),
                         [](const auto& one) { return identifier(one.param); });

TEST(ShippedPlatforms, CoverTheMachines) {
  std::set<std::string> machines;
  for (const std::string& name : shipped_names())
    if (!is_general(name))
      machines.insert(name);
  EXPECT_EQ(machines,
            (std::set<std::string>{
                "A100",       "ABCI",         "Cori-GPU", "Cori-KNL",     "Deucalion-A100-40",
                "Discoverer", "Frontera-RTX", "Fugaku",   "GC200",        "Deucalion-A100-80",
                "GH200",      "H100",         "HAL",      "JEDI",         "JUPITER",
                "Karolina",   "LUMI-G",       "Leonardo", "MareNostrum5", "MI250",
                "MI300A",     "MI300X",       "MeluXina", "PizDaint",     "Summit",
                "ThetaGPU",   "Vega",         "WAIH100",  "e4-a2",        "e4-gh",
                "jwb",        "jwc"}));
}

TEST(ShippedPlatforms, ShareNoTag) {
  const Shipped shipped;
  std::map<std::string, std::string> owners;
  for (const std::string& name : platform_names()) {
    std::vector<std::string> tags = load_platform(name).tags;
    tags.push_back(name);
    for (const std::string& tag : tags) {
      EXPECT_TRUE(owners.emplace(tag, name).second)
          << tag << " of " << name << " and " << owners[tag];
      EXPECT_EQ(tag.find_first_of("|+!^() ,"), std::string::npos) << tag;
      EXPECT_EQ(platform_of_tag(tag), name);
    }
  }
}

TemplateVariables all_settings() {
  return {{"benchmark", "demo"},
          {"step", "train"},
          {"workpackage", "3"},
          {"job_name", "demo_train_3"},
          {"uuid", "UUID"},
          {"nodes", "2"},
          {"tasks", "8"},
          {"tasks_per_node", "4"},
          {"threads_per_task", "12"},
          {"gpus_per_node", "4"},
          {"gpu_request", "--gres=gpu:4"},
          {"partition", "gpu"},
          {"account", "project"},
          {"qos", "normal"},
          {"reservation", "monday"},
          {"constraint", "knl"},
          {"memory", "480G"},
          {"hint", "nomultithread"},
          {"exclusive", "yes"},
          {"nodelist", "n1"},
          {"exclude", "n2"},
          {"mail", "me@site"},
          {"licenses", "x=2"},
          {"signal", "USR1@60"},
          {"array", ""},
          {"single", "yes"},
          {"dependency", ""},
          {"time_limit", "01:30:00"},
          {"time_limit_s", "5400"},
          {"time_limit_minutes", "90"},
          {"stdout", "/w/stdout"},
          {"stderr", "/w/stderr"},
          {"work_directory", "/w"},
          {"directives", "# further"},
          {"body", "echo body\n"}};
}

TemplateVariables few_settings() {
  TemplateVariables variables = all_settings();
  for (const char* optional :
       {"threads_per_task", "gpus_per_node", "gpu_request", "account", "qos", "reservation",
        "constraint", "memory", "hint", "exclusive", "nodelist", "exclude", "mail", "licenses",
        "signal", "time_limit", "time_limit_s", "time_limit_minutes", "directives"})
    variables[optional].clear();
  return variables;
}

struct Head {
  std::string job_template;
  std::string all;
  std::string few;
};
void PrintTo(const Head& head, std::ostream* out) {
  *out << head.job_template;
}

class ShippedTemplateTest : public testing::TestWithParam<Head> {
 protected:
  /// The directives of the job script.
  static std::string head(const std::string& name, const TemplateVariables& variables) {
    const Shipped shipped;
    const std::string text = read_job_template(name + ".job", {"/nowhere"}).text;
    const std::string script = fill(text, name, variables);
    EXPECT_TRUE(script.starts_with("#!/bin/bash\n"));
    EXPECT_TRUE(script.ends_with("\necho body\n")) << script;
    std::string directives;
    for (const std::string& line : split(script, "\n"))
      if (line.starts_with('#') && !line.starts_with("#!") && !line.starts_with("# "))
        directives += line + "\n";
    return directives;
  }
};

TEST_P(ShippedTemplateTest, FillsWithAllSettings) {
  EXPECT_EQ(head(GetParam().job_template, all_settings()), GetParam().all);
}

TEST_P(ShippedTemplateTest, FillsWithoutTheOptionalOnes) {
  EXPECT_EQ(head(GetParam().job_template, few_settings()), GetParam().few);
}

INSTANTIATE_TEST_SUITE_P(
    Templates, ShippedTemplateTest,
    testing::Values(
        Head{"pbs",
             "#PBS -N demo_train_3\n"
             "#PBS -l select=2:ncpus=48:mpiprocs=4:ompthreads=12:ngpus=4:mem=480G:knl\n"
             "#PBS -l place=scatter:excl\n#PBS -l walltime=01:30:00\n#PBS -q gpu\n"
             "#PBS -A project\n#PBS -l x=2\n#PBS -m ae -M me@site\n#PBS -o "
             "/w/stdout.scheduler\n#PBS -j oe\n#PBS -r n\n",
             "#PBS -N demo_train_3\n#PBS -l select=2:ncpus=4:mpiprocs=4\n#PBS -l place=scatter\n"
             "#PBS -q gpu\n#PBS -o /w/stdout.scheduler\n#PBS -j oe\n#PBS -r n\n"},
        Head{"flux",
             "#flux: --job-name=demo_train_3\n#flux: --nodes=2 --exclusive\n"
             "#flux: --nslots=2\n#flux: --cores-per-slot=48\n#flux: --gpus-per-slot=4\n"
             "#flux: --time-limit=5400s\n#flux: --queue=gpu\n#flux: --bank=project\n"
             "#flux: --requires=knl\n#flux: --requires=hosts:n1\n"
             "#flux: --requires=-hosts:n2\n#flux: --signal=USR1@60\n"
             "#flux: --output=/w/stdout.scheduler\n#flux: --error=/w/stdout.scheduler\n",
             "#flux: --job-name=demo_train_3\n#flux: --nodes=2\n#flux: --nslots=2\n"
             "#flux: --cores-per-slot=4\n#flux: --queue=gpu\n"
             "#flux: --output=/w/stdout.scheduler\n#flux: --error=/w/stdout.scheduler\n"},
        Head{"lsf",
             "#BSUB -J \"demo_train_3\"\n#BSUB -Jd UUID\n#BSUB -nnodes 2\n#BSUB -W 90\n#BSUB -q "
             "gpu\n"
             "#BSUB -P project\n#BSUB -U monday\n#BSUB -N -u me@site\n#BSUB -o "
             "/w/stdout.scheduler\n#BSUB -rn\n",
             "#BSUB -J \"demo_train_3\"\n#BSUB -Jd UUID\n#BSUB -nnodes 2\n#BSUB -q gpu\n"
             "#BSUB -o /w/stdout.scheduler\n#BSUB -rn\n"},
        Head{"pjm",
             "#PJM -N demo_train_3\n#PJM -L node=2\n#PJM --mpi proc=8\n"
             "#PJM --mpi max-proc-per-node=4\n#PJM -L elapse=01:30:00\n#PJM -L rscgrp=gpu\n"
             "#PJM -g project\n#PJM -m e --mail-list me@site\n#PJM -o /w/stdout.scheduler\n#PJM "
             "-j\n#PJM --norestart\n",
             "#PJM -N demo_train_3\n#PJM -L node=2\n#PJM --mpi proc=8\n"
             "#PJM --mpi max-proc-per-node=4\n#PJM -L rscgrp=gpu\n"
             "#PJM -o /w/stdout.scheduler\n#PJM -j\n#PJM --norestart\n"},
        Head{"uge",
             "#$ -N demo_train_3\n#$ -S /bin/bash\n#$ -l gpu=2\n#$ -l h_rt=01:30:00\n"
             "#$ -ar monday\n#$ -m ae -M me@site\n#$ -o /w/stdout.scheduler\n#$ -j y\n#$ -r n\n",
             "#$ -N demo_train_3\n#$ -S /bin/bash\n#$ -l gpu=2\n"
             "#$ -o /w/stdout.scheduler\n#$ -j y\n#$ -r n\n"},
        Head{"cobalt",
             "#COBALT --jobname demo_train_3\n#COBALT -n 2\n#COBALT -t 90\n#COBALT -q gpu\n"
             "#COBALT -A project\n#COBALT --attrs knl\n#COBALT -M me@site\n#COBALT -o "
             "/w/stdout.scheduler\n#COBALT -e /w/stdout.scheduler\n",
             "#COBALT --jobname demo_train_3\n#COBALT -n 2\n#COBALT -q gpu\n"
             "#COBALT -o /w/stdout.scheduler\n#COBALT -e /w/stdout.scheduler\n"}),
    [](const auto& one) { return one.param.job_template; });

/// What a batch system prints, as its manual shows it.
struct Answers {
  std::string platform;
  std::string submitted;
  std::string id;
  std::string line;
  std::string state;
  std::string job_name;
};
void PrintTo(const Answers& answers, std::ostream* out) {
  *out << answers.platform;
}

class ShippedCommandsTest : public testing::TestWithParam<Answers> {
 protected:
  /// The groups of an expression by name, or by number where they have none.
  static std::map<std::string, std::string> groups(const std::string& pattern,
                                                   const std::string& text) {
    const std::vector<std::string> names = Regex(R"(\(\?<(\w+)>)").find_all(pattern);
    const Regex regex(pattern);
    std::map<std::string, std::string> found;
    if (const auto match = regex.search(text))
      for (std::size_t k = 1; k <= regex.groups(); ++k)
        found[names.empty() ? "1" : names.at(k - 1)] = (*match)[k];
    return found;
  }

  Shipped shipped_;
  Commands commands_ = load_platform(GetParam().platform).commands;
};

TEST_P(ShippedCommandsTest, FindTheIdOfASubmission) {
  EXPECT_EQ(groups(commands_.id_pattern, GetParam().submitted)["1"], GetParam().id);
}

TEST_P(ShippedCommandsTest, FindTheJobInAList) {
  auto found = groups(commands_.line_pattern, GetParam().line);
  EXPECT_EQ(found["id"], GetParam().id);
  EXPECT_EQ(found["name"], GetParam().job_name);
  EXPECT_EQ(commands_.states[found["state"]], GetParam().state);
}

TEST_P(ShippedCommandsTest, NameTheScriptAndTheJob) {
  EXPECT_NE(commands_.submit.find("{{script}}"), std::string::npos);
  EXPECT_NE(commands_.cancel.find("{{id}}"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Systems, ShippedCommandsTest,
    testing::Values(
        Answers{"pbs", "1234.server\n", "1234",
                "Job Id: 1234.server|Job_Name=demo|Job_Owner=me@host|resources_used.ncpus=1|"
                "job_state=R|queue=gpu",
                "running", "demo"},
        Answers{"Summit", "Job <1234> is submitted to queue <batch>.\n", "1234", "1234 0 PEND demo",
                "pending", "demo"},
        Answers{"Fugaku", "[INFO] PJM 0000 pjsub Job 1234 submitted.\n", "1234",
                "1234      EXT demo      ", "done", "demo"},
        Answers{"ABCI", "1234\n", "1234", "1234 qw demo", "pending", "demo"},
        Answers{"ThetaGPU", "Job routed to queue \"full-node\".\n1234\n", "1234",
                "1234   running  demo     ", "running", "demo"}),
    [](const auto& one) { return one.param.platform; });

TEST(ShippedPlatforms, GiveGridEnginesFullNames) {
  // The poll pipes what qstat prints through awk: check the awk part on what the manual shows.
  const Shipped shipped;
  const std::string poll = load_platform("ABCI").commands.poll;
  const auto pipe = poll.find("| ");
  ASSERT_NE(pipe, std::string::npos);
  const std::string list =
      "job-ID  prior   name       user  state submit/start at     queue      slots\n"
      "---------------------------------------------------------------------------\n"
      "     12 0.25000 a_long_nam me    r     07/17/2018 17:54:49 gpu@host   72\n"
      "       Full jobname:     a_long_name_of_a_job\n"
      "       Hard Resources:   rt_F=1\n"
      "     13 0.00000 short      me    hqw   07/17/2018 17:55:49            72\n"
      "       Full jobname:     short\n";
  const CommandOutput listed =
      run_command({.arguments = {"sh", "-c", "printf '%s' '" + list + "' " + poll.substr(pipe)},
                   .environment = current_environment()},
                  support::far_too_long_s);
  EXPECT_EQ(listed.standard_output, "12 r a_long_name_of_a_job\n13 hqw short\n");
}

}  // namespace
}  // namespace bench::machine
