#include <array>
#include <string>

#include <sched.h>
#include <unistd.h>

#include <bench/base/host.hpp>

namespace bench {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

int usable_cpus() {
  cpu_set_t mask;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0)
    return 1;
  return CPU_COUNT(&mask) > 0 ? CPU_COUNT(&mask) : 1;
}

}  // namespace bench
