#include <cstdlib>
#include <initializer_list>
#include <optional>

#include <bench/base/text.hpp>
#include <bench/energy/sources/local_rank.hpp>

namespace bench::energy {

namespace {

/// The first of these variables that holds an integer.
std::optional<int> first_integer(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* const value = std::getenv(name))
      if (const auto number = parse_integer(value))
        return static_cast<int>(*number);
  return std::nullopt;
}

}  // namespace

std::optional<int> local_rank() {
  return first_integer({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID",
                        "FLUX_TASK_LOCAL_ID", "JSM_NAMESPACE_LOCAL_RANK", "SLURM_LOCALID"});
}

std::optional<int> task_count() {
  return first_integer({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE",
                        "SLURM_STEP_NUM_TASKS"});
}

std::optional<int> global_rank() {
  return first_integer({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PALS_RANKID", "FLUX_TASK_RANK",
                        "JSM_NAMESPACE_RANK", "SLURM_PROCID"});
}

bool is_in_job() {
  return task_count().value_or(1) > 1 || std::getenv("SLURM_JOB_ID") != nullptr;
}

}  // namespace bench::energy
