#include "setup/provenance.hpp"

#include "support/environment_variable.hpp"
#include "support/temp_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::setup {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProvenanceTest : public testing::Test {
 protected:
  std::string environment() const { return collect_provenance(file_).at("environment"); }

  support::TempDirectory directory_;
  std::filesystem::path file_ = directory_.write("in.yaml", "step: {name: a, do: x}\n");
};

TEST_F(ProvenanceTest, VariablesThatChangeWhatIsMeasuredAreKept) {
  const support::EnvironmentVariable threads("OMP_NUM_THREADS", "3");
  const support::EnvironmentVariable other("EDITOR", "vi");
  EXPECT_THAT(environment(), HasSubstr("OMP_NUM_THREADS=3"));
  EXPECT_THAT(environment(), Not(HasSubstr("EDITOR")));
}

TEST_F(ProvenanceTest, TheJobThatBenchRunsInIsKeptOfEveryBatchSystem) {
  const support::EnvironmentVariable slurm("SLURM_JOB_PARTITION", "gpu");
  const support::EnvironmentVariable pbs("PBS_QUEUE", "large");
  const support::EnvironmentVariable flux("FLUX_JOB_NNODES", "2");
  EXPECT_THAT(environment(), HasSubstr("FLUX_JOB_NNODES=2\n"));
  EXPECT_THAT(environment(), HasSubstr("PBS_QUEUE=large\n"));
  EXPECT_THAT(environment(), HasSubstr("SLURM_JOB_PARTITION=gpu"));
}

TEST_F(ProvenanceTest, TheInputIsKnownByItsDigest) {
  const auto before = collect_provenance(file_).at("input_sha256");
  directory_.write("in.yaml", "step: {name: a, do: y}\n");
  EXPECT_NE(collect_provenance(file_).at("input_sha256"), before);
}

}  // namespace
}  // namespace bench::setup
