#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/host.hpp>
#include <bench/space/parallel.hpp>
#include <bench/space/run.hpp>

namespace bench::setup {

void set_parallel(int number, Run& run) {
  if (number < 0)
    throw Error(Id::invalid_value,
                fmt::format("invalid number of workpackages at a time: '{}'", number),
                "use a number from 1 up, or 0 for one per core");
  run.metadata.parallel = number;
}

std::optional<int> parallel_of(const Run& run) {
  if (!run.metadata.parallel)
    return std::nullopt;
  constexpr long long most = 1'000'000;
  const long long number = *run.metadata.parallel;
  return number == 0 ? usable_cpus() : static_cast<int>(std::clamp(number, 1LL, most));
}

}  // namespace bench::setup
