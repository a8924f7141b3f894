#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace bench::machine
