#include "energy/fixtures.hpp"

#include <gtest/gtest.h>

#include <bench/energy/claims.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;

TEST(Claims, AreOfTheFirstThatAsks) {
  const TemporaryDirectory directory;
  Claims first(directory.path() / "claims");
  Claims second(directory.path() / "claims");
  EXPECT_TRUE(first.take("rapl"));
  EXPECT_FALSE(second.take("rapl"));
  EXPECT_TRUE(second.take("nvml:GPU-1"));
  EXPECT_FALSE(first.take("nvml:GPU-1"));
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

TEST(Claims, AreMadeByPartsOfAParallelProgramOnly) {
  const EnvironmentVariable rank("SLURM_LOCALID", "1");
  const EnvironmentVariable job("SLURM_JOB_ID", "7");
  const EnvironmentVariable step("SLURM_STEP_ID", "2");
  EXPECT_EQ(claims_directory().filename(), "bench-energy-" + std::to_string(::getuid()) + "-7_2");
}

}  // namespace
}  // namespace bench::energy
