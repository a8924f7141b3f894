#include "energy/fixtures.hpp"

#include <bench/energy/local_rank.hpp>

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

}  // namespace
}  // namespace bench::energy
