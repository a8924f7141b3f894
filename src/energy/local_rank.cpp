#include <cstdlib>

#include <bench/base/text.hpp>
#include <bench/energy/local_rank.hpp>

namespace bench::energy {

std::optional<int> local_rank() {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "SLURM_LOCALID"})
    if (const char* const value = std::getenv(name))
      if (const auto number = parse_integer(value))
        return static_cast<int>(*number);
  return std::nullopt;
}

}  // namespace bench::energy
