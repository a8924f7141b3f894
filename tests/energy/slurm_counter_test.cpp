#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"
#include "support/fake_programs.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/slurm_counter.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;
using testing::HasSubstr;

/// An `sstat` that says `joules` and a `scontrol` with an energy plugin, the only programs on PATH.
class FakeSlurm : public support::FakePrograms {
 public:
  explicit FakeSlurm(const std::string& joules, const std::string& plugin = "ipmi") {
    write("sstat", R"([ "$*" = "-j 12.3 -P -n -o ConsumedEnergyRaw" ] || exit 9
)" + (joules.empty() ? "" : "echo " + joules));
    write("scontrol", R"([ "$*" = "show config" ] || exit 9
echo 'AcctGatherEnergyType    = )" +
                          plugin + "'\necho 'AcctGatherNodeFreq      = 0 sec'");
  }
};

const SlurmStep step{.name = "12.3", .nodes = 1};

std::string slurm_counter_error(const SlurmStep& of) {
  return message_of([&] { open_slurm_counter(of); });
}

TEST(SlurmCounter, ReadsTheEnergyOfTheStep) {
  const FakeSlurm slurm("123456");
  const auto source = open_slurm_counter(step);
  EXPECT_EQ(first_reading(*source).energy_j, 123456);
  EXPECT_EQ(source->channels()[0].name, "slurm:step");
  EXPECT_EQ(source->channels()[0].scope, Scope::node_meter);
}

TEST(SlurmCounter, OfSeveralNodesIsNotAdded) {
  const FakeSlurm slurm("123456");
  std::vector<Channel> channels = open_slurm_counter({.name = "12.3", .nodes = 4})->channels();
  mark_additive(channels);
  EXPECT_FALSE(channels[0].additive);
  EXPECT_EQ(channels[0].description, "step 12.3 on 4 nodes, as Slurm counts it");
}

TEST(SlurmCounter, ZeroAtTheStartOfAStepIsAbsentForNow) {
  const FakeSlurm slurm("0");
  const auto source = open_slurm_counter(step);
  const Reading reading = first_reading(*source);
  EXPECT_FALSE(reading.energy_j);
  EXPECT_EQ(reading.failure, "Slurm has not counted any energy of this step yet");
}

TEST(SlurmCounter, ZeroWithoutAPluginIsAReason) {
  const FakeSlurm none("0", "acct_gather_energy/none");
  EXPECT_EQ(slurm_counter_error(step),
            "this cluster's Slurm counts no energy (AcctGatherEnergyType is "
            "acct_gather_energy/none)");
  const FakeSlurm null("0", "(null)");
  EXPECT_THAT(slurm_counter_error(step), HasSubstr("AcctGatherEnergyType is (null)"));
}

TEST(SlurmCounter, NoValueIsAReason) {
  const FakeSlurm no_value("18446744073709551614");
  EXPECT_EQ(slurm_counter_error(step), "it printed '18446744073709551614', not joules");
  const FakeSlurm empty("");
  EXPECT_EQ(slurm_counter_error(step), "it printed nothing, not joules");
}

TEST(SlurmCounter, NeedsItsProgram) {
  const support::FakePrograms none;
  EXPECT_EQ(slurm_counter_error(step), "cannot start 'sstat': not found on PATH");
}

TEST(SlurmCounter, NeedsAJob) {
  const EnvironmentVariable job("SLURM_JOB_ID", std::nullopt);
  const EnvironmentVariable older_job("SLURM_JOBID", std::nullopt);
  EXPECT_EQ(slurm_counter_error(slurm_step_of_environment()),
            "not in a Slurm job (SLURM_JOB_ID is not set)");
}

TEST(SlurmCounter, FindsItsStep) {
  const EnvironmentVariable job("SLURM_JOB_ID", "12");
  const EnvironmentVariable id("SLURM_STEP_ID", "3");
  const EnvironmentVariable nodes("SLURM_STEP_NUM_NODES", "4");
  EXPECT_EQ(slurm_step_of_environment().name, "12.3");
  EXPECT_EQ(slurm_step_of_environment().nodes, 4);
}

TEST(SlurmCounter, TheJobScriptIsAStepOnOneNode) {
  const EnvironmentVariable job("SLURM_JOB_ID", "12");
  const EnvironmentVariable id("SLURM_STEP_ID", std::nullopt);
  const EnvironmentVariable older_id("SLURM_STEPID", std::nullopt);
  const EnvironmentVariable nodes("SLURM_NNODES", "4");
  EXPECT_EQ(slurm_step_of_environment().name, "12.batch");
  EXPECT_EQ(slurm_step_of_environment().nodes, 1);
}

}  // namespace
}  // namespace bench::energy
