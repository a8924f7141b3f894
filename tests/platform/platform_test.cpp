#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/platform/platform.hpp>

namespace bench::platform {
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
            "error: there is no platform 'bax'\nhint: did you mean 'box'?");
  EXPECT_EQ(error("{name: box, template: t}", "elsewhere"),
            "error: there is no platform 'elsewhere'\nhint: known: LUMI, box");
}

TEST_F(PlatformTest, NamesAreSortedAndOfYamlFilesOnly) {
  data_.write("platforms/b.yaml", "");
  data_.write("platforms/a.yaml", "");
  data_.write("platforms/README.md", "");
  EXPECT_THAT(platform_names(), ElementsAre("a", "b"));
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
                ":3:1: error: the tags of a platform stand in one line of their own\n"
                "  tags:\n  ^\nhint: write it as `tags: [crate]`");
  EXPECT_THAT(error("{name: box, template: t, tags: [crate]}"),
              HasSubstr("the tags of a platform stand in one line of their own"));
}

TEST(DataDirectory, MustHoldPlatforms) {
  const EnvironmentVariable variable("BENCH_DATA", "/no/such");
  EXPECT_EQ(error_of([] { data_directory(); }),
            "error: BENCH_DATA names /no/such, which holds no platforms");
}

}  // namespace
}  // namespace bench::platform
