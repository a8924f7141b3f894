#include "harness/usable_cpus.hpp"

#include <cstddef>
#include <memory>

#include <sched.h>

namespace bench::steps {

int usable_cpus() {
  constexpr std::size_t most = 65536;
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(most), [](cpu_set_t* allocated) { CPU_FREE(allocated); });
  CPU_ZERO_S(bytes, set.get());
  if (::sched_getaffinity(0, bytes, set.get()) != 0)
    return 1;
  return CPU_COUNT_S(bytes, set.get());
}

}  // namespace bench::steps
