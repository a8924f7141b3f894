#include "support/environment_variable.hpp"
#include "support/patience.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/space/metadata.hpp>

namespace bench::space {
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

TEST_F(ProvenanceTest, ARevisionIsNotCalledUnchangedWhereGitDoesNotSay) {
  const auto git =
      directory_.write("bin/git", "#!/bin/sh\n[ \"$3\" = rev-parse ] && echo 5d41402a\n");
  std::filesystem::permissions(git, std::filesystem::perms::owner_all);
  const support::EnvironmentVariable path("PATH", (directory_.path() / "bin").string());
  EXPECT_EQ(collect_provenance(file_).at("git_revision"), "5d41402a+unknown");
}

/// A git that takes too long ends in the same error of the call.
TEST_F(ProvenanceTest, AGitThatCannotBeAskedIsNoReasonNotToRun) {
  for (const auto& [text, expected] :
       {std::pair("#!/no/such/shell\n", "unknown"),
        std::pair("#!/bin/sh\nrm \"$0\"; echo 5d41402a\n", "5d41402a+unknown")}) {
    const auto git = directory_.write("bin/git", text);
    std::filesystem::permissions(git, std::filesystem::perms::owner_all);
    const support::EnvironmentVariable path("PATH",
                                            (directory_.path() / "bin").string() + ":/usr/bin");
    EXPECT_EQ(collect_provenance(file_).at("git_revision"), expected);
  }
}

TEST_F(ProvenanceTest, KeepsHowFilesDifferFromTheirRevision) {
  if (find_program("git").empty())
    GTEST_SKIP() << "git is not installed";
  const auto git = [&](std::vector<std::string> arguments) {
    std::vector<std::string> all{
        "git", "-C", directory_.path().string(), "-c", "user.name=a", "-c", "user.email=a@b"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_command({.arguments = all, .directory = {}, .environment = std::nullopt},
                       support::far_too_long_s)
        .status.success();
  };
  ASSERT_TRUE(git({"init", "-q"}) && git({"add", "in.yaml"}) && git({"commit", "-qm", "x"}));
  EXPECT_FALSE(collect_provenance(file_).contains("git_difference"));
  directory_.write("in.yaml", "step: {name: a, do: y}\n");
  const auto facts = collect_provenance(file_);
  EXPECT_THAT(facts.at("git_revision"), testing::EndsWith("+changes"));
  EXPECT_THAT(facts.at("git_difference"), HasSubstr("\n+step: {name: a, do: y}\n"));
}

}  // namespace
}  // namespace bench::space
