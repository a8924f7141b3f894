#include "last_cycle.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/cycle_parameters.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::results {

using workspace::Workpackage;

std::optional<workspace::Parameters> last_parameters(const space::Run& run,
                                                     const Workpackage& workpackage) {
  if (run.benchmark.step(workpackage.step)->cycles == 1)
    return std::nullopt;
  workspace::Parameters last =
      space::kept_cycle_parameters(run.directory.path / workpackage.directory);
  if (last.empty() || last == workpackage.parameters)
    return std::nullopt;
  return last;
}

std::vector<Workpackage> in_last_cycle(const space::Run& run,
                                       std::vector<Workpackage> workpackages) {
  for (Workpackage& workpackage : workpackages)
    if (auto last = last_parameters(run, workpackage))
      workpackage.parameters = std::move(*last);
  return workpackages;
}

}  // namespace bench::results
