#include "site.hpp"
#include "slurm/cluster.hpp"

#include <map>
#include <string>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>

namespace bench::slurm {
namespace {

using testing::HasSubstr;

/// Settings of jobs that a step names.
class OptionsTest : public SlurmTest {
 protected:
  /// Every workpackage leaves where it ran, as Slurm says.
  static void write(const Site& site, const std::string& batch) {
    write_file_atomically(
        site.home() / "sweep.yaml",
        "name: sweep\noutpath: runs\n"
        "parameterset: {name: p, parameter: {place: [fx, low], node: [v2, v3]}}\n"
        "step:\n  name: work\n  use: p\n  batch: " +
            batch +
            "\n  do: echo $$SLURM_JOB_PARTITION $$SLURMD_NODENAME >> ../../../../witness\n");
  }
};

TEST_F(OptionsTest, EachCombinationRunsWhereItsParametersSay) {
  Site site(&cluster());
  write(site, "{partition: $place, nodelist: $node, memory: 100, options: [--nice=7]}");
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(),
            (std::map<std::string, int>{{"fx v2", 1}, {"fx v3", 1}, {"low v2", 1}, {"low v3", 1}}));
  EXPECT_THAT(cluster().ask({"scontrol", "-o", "show", "job", site.attempts().at(0).job_id}),
              HasSubstr(" Nice=7 "));
}

TEST_F(OptionsTest, APartitionThatDoesNotExistIsFoundBeforeTheRun) {
  Site site(&cluster());
  write(site, "{partition: lo}");
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("Slurm has no partition 'lo' here"));
  EXPECT_FALSE(site.has_run());
}

TEST_F(OptionsTest, AnOptionOfTheCommandLineThatHasNoEffectIsTold) {
  Site site(&cluster());
  write(site, "{partition: low}");
  const auto run = site.run({"--wait", "--partition", "fx"});
  EXPECT_THAT(run.standard_error,
              HasSubstr("--partition has no effect on step 'work', which names its own"));
}

}  // namespace
}  // namespace bench::slurm
