#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/platform/job_template.hpp>
#include <bench/platform/platform.hpp>

namespace bench::platform {
namespace {

using support::EnvironmentVariable;
using support::error_of;
using testing::ElementsAre;
using testing::Pair;

/// The platforms and templates of the source tree, whatever the environment says.
class ShippedPlatformTest : public testing::TestWithParam<std::string> {
 protected:
  EnvironmentVariable data_{"BENCH_DATA", std::nullopt};
};

TEST_P(ShippedPlatformTest, IsWhole) {
  const Platform platform = load_platform(GetParam());
  EXPECT_EQ(platform.name, GetParam());
  EXPECT_NE(platform.description, "");
  std::filesystem::path found;
  EXPECT_NE(read_job_template(platform.job_template, "/nowhere", found), "");
}

std::vector<std::string> shipped_names() {
  const EnvironmentVariable data("BENCH_DATA", std::nullopt);
  return platform_names();
}

INSTANTIATE_TEST_SUITE_P(Files, ShippedPlatformTest, testing::ValuesIn(shipped_names()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

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
};

TEST_F(PlatformTest, HasWhatItsFileSays) {
  const Platform platform = load(
      "name: box\ndescription: a box\nscheduler: slurm\ntemplate: slurm.job\n"
      "gpu_request: gres\npartition: gpu\naccount: acc\nqos: high\n"
      "environment: {UCX_TLS: all, OMP_PROC_BIND: 'true'}\n");
  EXPECT_EQ(platform.description, "a box");
  EXPECT_EQ(platform.scheduler, Scheduler::slurm);
  EXPECT_EQ(platform.job_template, "slurm.job");
  EXPECT_EQ(platform.gpu_request, GpuRequest::gres);
  EXPECT_EQ(platform.partition + platform.account + platform.qos, "gpuacchigh");
  EXPECT_THAT(platform.environment,
              ElementsAre(Pair("UCX_TLS", "all"), Pair("OMP_PROC_BIND", "true")));
  EXPECT_EQ(platform.file, file_);
}

TEST_F(PlatformTest, AsksForNothingUnlessTold) {
  const Platform platform = load("{name: box, template: t.job}");
  EXPECT_EQ(platform.scheduler, Scheduler::none);
  EXPECT_EQ(platform.gpu_request, GpuRequest::none);
}

TEST_F(PlatformTest, TakesSettingsFromTheEnvironment) {
  const EnvironmentVariable set("BENCH_TEST_SET", "gpu");
  const EnvironmentVariable unset("BENCH_TEST_UNSET", std::nullopt);
  const Platform platform = load(
      "{name: box, template: t, partition: '${BENCH_TEST_SET}_a', account: $BENCH_TEST_UNSET}");
  EXPECT_EQ(platform.partition, "gpu_a");
  EXPECT_EQ(platform.account, "");
}

TEST_F(PlatformTest, RefusesUnknownKeysAndWords) {
  const std::string good = "name: box\ntemplate: t\n";
  EXPECT_EQ(error(good + "sheduler: slurm\n"),
            file_ +
                ":3:1: error: a platform has no 'sheduler'\n  sheduler: slurm\n  ^\n"
                "hint: did you mean 'scheduler'?");
  EXPECT_EQ(error(good + "colour: red\n"),
            file_ + ":3:1: error: a platform has no 'colour'\n  colour: red\n  ^");
  EXPECT_EQ(error(good + "scheduler: lsf\n"),
            file_ +
                ":3:12: error: 'lsf' is no scheduler\n  scheduler: lsf\n             ^\n"
                "hint: known: none, slurm");
  EXPECT_EQ(error(good + "gpu_request: some\n"),
            file_ +
                ":3:14: error: 'some' is no gpu_request\n  gpu_request: some\n"
                "               ^\nhint: known: gpus-per-node, gres, none");
}

TEST_F(PlatformTest, RefusesAFileThatDescribesAnother) {
  EXPECT_EQ(error("name: other\ntemplate: t\n"),
            file_ +
                ":1:1: error: this file describes 'other', but is called box.yaml\n"
                "  name: other\n  ^");
}

TEST_F(PlatformTest, RefusesAFileWithoutATemplate) {
  EXPECT_EQ(error("name: box\n"), file_ +
                                      ":1:1: error: platform 'box' names no job template\n"
                                      "  name: box\n  ^\nhint: add `template: ...`");
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

TEST(DataDirectory, MustHoldPlatforms) {
  const EnvironmentVariable variable("BENCH_DATA", "/no/such");
  EXPECT_EQ(error_of([] { data_directory(); }),
            "error: BENCH_DATA names /no/such, which holds no platforms");
}

}  // namespace
}  // namespace bench::platform
