#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <bench/energy/sources/claims.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;

/// @param variables cleared, and then set one by one
void expect_each_tells(std::optional<int> (*number)(),
                       std::initializer_list<const char*> variables) {
  for (const char* name : variables)
    ::unsetenv(name);
  EXPECT_EQ(number(), std::nullopt);
  for (const char* name : variables) {
    const support::EnvironmentVariable variable(name, "17");
    EXPECT_EQ(number(), 17) << name;
  }
}

TEST(LocalRank, ComesFromWhateverLauncherThereIs) {
  expect_each_tells(local_rank,
                    {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                     "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "JSM_NAMESPACE_LOCAL_RANK"});
}

TEST(LocalRank, OfMpirunGoesBeforeThatOfItsBatchStep) {
  const support::EnvironmentVariable batch("SLURM_LOCALID", "0");
  const support::EnvironmentVariable rank("OMPI_COMM_WORLD_LOCAL_RANK", "1");
  EXPECT_EQ(local_rank(), 1);
}

TEST(GlobalRank, ComesFromWhateverLauncherThereIs) {
  expect_each_tells(global_rank, {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PALS_RANKID", "SLURM_PROCID",
                                  "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK"});
}

TEST(TaskCount, ComesFromWhateverLauncherThereIs) {
  expect_each_tells(task_count, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
                                 "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE"});
}

TEST(Claims, AreOfTheFirstThatAsks) {
  const TemporaryDirectory directory;
  Claims first(directory.path() / "claims");
  Claims second(directory.path() / "claims");
  EXPECT_TRUE(first.take("rapl"));
  EXPECT_FALSE(second.take("rapl"));
  EXPECT_TRUE(second.take("nvml:GPU-1"));
  EXPECT_FALSE(first.take("nvml:GPU-1"));
}

/// Two meters that a shell of one rank starts side by side.
TEST(Claims, DoNotCountForAnotherMeterOfTheSameRank) {
  const TemporaryDirectory directory;
  Claims first(directory.path() / "claims", "0/0");
  Claims other_rank(directory.path() / "claims", "1/1");
  Claims same_rank(directory.path() / "claims", "0/0");
  EXPECT_TRUE(first.take("rapl"));
  EXPECT_TRUE(same_rank.take("rapl"));
  EXPECT_EQ(same_rank.failure(), "");
  EXPECT_TRUE(first.close_if_alone());
  EXPECT_TRUE(first.take("nvml"));
  EXPECT_FALSE(other_rank.take("nvml"));
}

TEST(Claims, MayBeMadeAgainByTheirOwner) {
  const TemporaryDirectory directory;
  Claims claims(directory.path() / "claims");
  EXPECT_TRUE(claims.take("rapl"));
  EXPECT_TRUE(claims.take("rapl"));
}

TEST(Claims, EndWithTheirOwnerAndLeaveNothing) {
  const TemporaryDirectory directory;
  const auto place = directory.path() / "claims";
  {
    Claims claims(place);
    EXPECT_TRUE(claims.take("rapl"));
    EXPECT_TRUE(std::filesystem::exists(place));
  }
  EXPECT_FALSE(std::filesystem::exists(place));
  EXPECT_TRUE(Claims(place).take("rapl"));
}

TEST(Claims, AreNoHindranceWhereTheyCannotBeMade) {
  Claims first("/nowhere/claims");
  Claims second("/nowhere/claims");
  EXPECT_TRUE(first.take("rapl"));
  EXPECT_TRUE(second.take("rapl"));
}

TEST(Claims, TellThoseThatAreRefusedWhenTheirOwnerHasStarted) {
  const TemporaryDirectory directory;
  Claims first(directory.path() / "claims", "0/0");
  Claims second(directory.path() / "claims", "1/1");
  EXPECT_TRUE(first.take("node"));
  EXPECT_FALSE(first.owners_prepare());
  EXPECT_FALSE(second.take("node"));
  EXPECT_TRUE(second.owners_prepare());
  EXPECT_TRUE(second.owners_prepare());
  first.tell_start("node");
  EXPECT_FALSE(second.owners_prepare());
}

TEST(Claims, AreNotWaitedForWhenTheirOwnerHasEnded) {
  const TemporaryDirectory directory;
  const auto place = directory.path() / "claims";
  Claims second(place, "1/1");
  {
    Claims first(place, "0/0");
    EXPECT_TRUE(first.take("node"));
    EXPECT_FALSE(second.take("node"));
  }
  EXPECT_FALSE(second.owners_prepare());
}

/// One that was killed leaves its file.
TEST(Claims, AreWaitedForAlsoWhereAnEarlierOwnerHasStarted) {
  const TemporaryDirectory directory;
  const auto place = directory.path() / "claims";
  std::filesystem::create_directory(place);
  std::filesystem::permissions(place, std::filesystem::perms::owner_all);
  directory.write("claims/node", "=0/0\n!\n");
  Claims first(place, "0/0");
  Claims second(place, "1/1");
  EXPECT_TRUE(first.take("node"));
  EXPECT_FALSE(second.take("node"));
  EXPECT_TRUE(second.owners_prepare());
}

/// Each measures for the other: neither may wait for the other's meter.
TEST(Claims, OfTwoMetersThatNeedEachOtherBothEnd) {
  const TemporaryDirectory directory;
  Claims first(directory.path() / "claims");
  Claims second(directory.path() / "claims");
  EXPECT_TRUE(first.take("rapl"));
  EXPECT_TRUE(second.take("nvml"));
  EXPECT_FALSE(second.take("rapl"));
  EXPECT_FALSE(first.take("nvml"));
  EXPECT_FALSE(first.close_if_alone());
  EXPECT_FALSE(second.close_if_alone());
  first.leave();
  EXPECT_TRUE(second.close_if_alone());
  second.leave();
  EXPECT_TRUE(first.close_if_alone());
}

TEST(Claims, ThatWereClosedAreFreeForTheNext) {
  const TemporaryDirectory directory;
  Claims first(directory.path() / "claims");
  EXPECT_TRUE(first.take("rapl"));
  EXPECT_TRUE(first.close_if_alone());
  EXPECT_TRUE(Claims(directory.path() / "claims").take("rapl"));
}

/// A directory that somebody else may have prepared, and why it is not used.
struct ForeignCase {
  std::string name;
  void (*prepare)(const std::filesystem::path& root);
  std::string reason;
};
class ForeignClaimsTest : public testing::TestWithParam<ForeignCase> {};

TEST_P(ForeignClaimsTest, AreNotUsedAndNothingIsRemoved) {
  const TemporaryDirectory directory;
  const std::filesystem::path place = directory.path() / "claims";
  directory.write("elsewhere/rapl", "a file of ours");
  GetParam().prepare(directory.path());
  {
    Claims claims(place);
    EXPECT_TRUE(claims.take("rapl"));
    EXPECT_NE(claims.failure().find(GetParam().reason), std::string::npos) << claims.failure();
    EXPECT_TRUE(Claims(place).take("rapl"));
  }
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "elsewhere/rapl"));
}

INSTANTIATE_TEST_SUITE_P(
    Energy, ForeignClaimsTest,
    testing::Values(
        ForeignCase{"OpenToOthers",
                    [](const std::filesystem::path& root) {
                      std::filesystem::create_directory(root / "claims");
                      std::filesystem::permissions(root / "claims", std::filesystem::perms::all);
                    },
                    "with mode 0777"},
        ForeignCase{"ALink",
                    [](const std::filesystem::path& root) {
                      std::filesystem::create_symlink(root / "elsewhere", root / "claims");
                    },
                    "cannot use"},
        ForeignCase{"AFile",
                    [](const std::filesystem::path& root) { std::ofstream(root / "claims") << ""; },
                    "cannot use"}),
    [](const auto& test) { return test.param.name; });

TEST(Claims, OfAnotherUserAreNotUsed) {
  if (::getuid() != 0)
    GTEST_SKIP() << "only root can make a directory of another user";
  const TemporaryDirectory directory;
  const auto place = directory.path() / "claims";
  std::filesystem::create_directory(place);
  std::filesystem::permissions(place, std::filesystem::perms::owner_all);
  ASSERT_EQ(::chown(place.c_str(), 12345, 12345), 0);
  Claims claims(place);
  EXPECT_TRUE(claims.take("rapl"));
  EXPECT_NE(claims.failure().find("it belongs to user 12345"), std::string::npos);
}

TEST(Claims, AreMadeByPartsOfAParallelProgramOnly) {
  const EnvironmentVariable rank("SLURM_LOCALID", "1");
  const EnvironmentVariable job("SLURM_JOB_ID", "7");
  const EnvironmentVariable step("SLURM_STEP_ID", "2");
  EXPECT_EQ(claims_directory().filename(), "bench-energy-" + std::to_string(::getuid()) + "-7_2");
}

}  // namespace
}  // namespace bench::energy
