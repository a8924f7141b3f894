#include "support/environment_variable.hpp"

#include <optional>

#include <stdlib.h>

#include <bench/energy/sources/local_rank.hpp>

namespace bench::energy {
namespace {

TEST(LocalRank, ComesFromWhateverLauncherThereIs) {
  for (const char* name :
       {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID"})
    ::unsetenv(name);
  EXPECT_EQ(local_rank(), std::nullopt);
  for (const char* name :
       {"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID"}) {
    const support::EnvironmentVariable rank(name, "3");
    EXPECT_EQ(local_rank(), 3) << name;
  }
}

TEST(LocalRank, OfMpirunGoesBeforeThatOfItsBatchStep) {
  const support::EnvironmentVariable batch("SLURM_LOCALID", "0");
  const support::EnvironmentVariable rank("OMPI_COMM_WORLD_LOCAL_RANK", "1");
  EXPECT_EQ(local_rank(), 1);
}

TEST(GlobalRank, ComesFromWhateverLauncherThereIs) {
  const auto names = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PALS_RANKID", "SLURM_PROCID"};
  for (const char* name : names)
    ::unsetenv(name);
  EXPECT_EQ(global_rank(), std::nullopt);
  for (const char* name : names) {
    const support::EnvironmentVariable rank(name, "17");
    EXPECT_EQ(global_rank(), 17) << name;
  }
}

}  // namespace
}  // namespace bench::energy
