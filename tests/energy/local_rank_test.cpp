#include "support/environment_variable.hpp"

#include <initializer_list>
#include <optional>

#include <stdlib.h>

#include <bench/energy/sources/claims.hpp>

namespace bench::energy {
namespace {

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

}  // namespace
}  // namespace bench::energy
