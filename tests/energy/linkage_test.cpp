// What the meter needs on a compute node.
#include "support/environment_variable.hpp"
#include "support/own_process.hpp"
#include "support/patience.hpp"
#include "support/sanitizer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::energy {
namespace {

/// What glibc consists of, now or before its version 2.34, and what the kernel gives.
bool is_of_the_system(const std::string& library) {
  constexpr std::array names{"libc.so.",  "libm.so.", "libdl.so.", "libpthread.so.",
                             "librt.so.", "ld-linux", "linux-vdso"};
  return std::ranges::any_of(names, [&](const char* name) { return library.starts_with(name); });
}

TEST(Linkage, TheMeterNeedsNoLibraryButGlibc) {
  if (support::sanitized)
    GTEST_SKIP() << "a sanitizer brings libraries of its own";
  if (!support::is_seen_as_it_is())
    GTEST_SKIP() << "the loader here tells the libraries of an emulator";
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM};
  spec.environment = support::environment_with({{"LD_TRACE_LOADED_OBJECTS", "1"}});
  const CommandOutput traced = run_command(spec, support::far_too_long_s, "");
  std::vector<std::string> foreign;
  std::size_t count = 0;
  for (const std::string& line : split(traced.standard_output, "\n")) {
    std::string library(strip(line.substr(0, line.find(" ("))));
    library = library.substr(0, library.find(" =>"));
    library = library.substr(library.rfind('/') + 1);
    if (library.empty())
      continue;
    ++count;
    if (!is_of_the_system(library))
      foreign.push_back(library);
  }
  EXPECT_GE(count, 2U) << traced.standard_output;
  EXPECT_THAT(foreign, testing::IsEmpty());
}

}  // namespace
}  // namespace bench::energy
