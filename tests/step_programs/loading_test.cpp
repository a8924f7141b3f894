// What a real program does before its `main`.
#include "step_programs/linked_programs.hpp"
#include "support/sanitizer.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;

// OpenBLAS looks for memory without end as soon as it is loaded. How much is taken by then depends
// on the libraries; the limits are closer to each other than its buffer is large.
TEST(Loading, EndsWhereMemoryRunsOut) {
  if (support::sanitized)
    GTEST_SKIP() << "sanitizers map more memory than that";
  constexpr int cannot_load = 127;  // the dynamic linker
  int ran_out = 0;
  int kib = 100000;
  for (int exit_code = cannot_load; exit_code != 0; kib += 100000) {
    const Outcome outcome =
        run_step(GPT_PROGRAM, "--version",
                 fmt::format("export OMP_NUM_THREADS=1; ulimit -v {}; timeout 60", kib));
    exit_code = outcome.exit_code;
    ASSERT_THAT(exit_code, testing::AnyOf(0, 3, cannot_load)) << kib << outcome.err;
    if (exit_code != 3)
      continue;
    ++ran_out;
    EXPECT_EQ(outcome.value("result"), "oom") << kib;
    EXPECT_THAT(outcome.err, HasSubstr("not enough memory to load the libraries"));
  }
  EXPECT_GT(ran_out, 0);
}

}  // namespace
}  // namespace bench::steps
