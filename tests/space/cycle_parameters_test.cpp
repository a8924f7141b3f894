#include "support/temp_directory.hpp"

#include <gtest/gtest.h>

#include <bench/space/cycle_parameters.hpp>

namespace bench::space {
namespace {

TEST(CycleParameters, AreReadAsTheyWereKeptLast) {
  const support::TempDirectory directory;
  EXPECT_TRUE(kept_cycle_parameters(directory.path()).empty());
  keep_cycle_parameters(directory.path(), {{"a", "1"}});
  const workspace::Parameters last{{"a", "x=y\nz\n"}, {"b", ""}};
  keep_cycle_parameters(directory.path(), last);
  EXPECT_EQ(kept_cycle_parameters(directory.path()), last);
}

}  // namespace
}  // namespace bench::space
