// The ranks of a step program (tests/steps/distributed_program.cpp), as srun starts them.

#include "cluster.hpp"
#include "support/environment_variable.hpp"
#include "support/free_port.hpp"
#include "support/patience.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>

namespace bench::slurm {
namespace {

using testing::HasSubstr;

class RanksTest : public SlurmTest {
 protected:
  void SetUp() override {
    SlurmTest::SetUp();
    if (std::string(DISTRIBUTED_PROGRAM).empty())
      GTEST_SKIP() << "built without step programs of several ranks";
  }

  static CommandOutput srun(std::vector<std::string> options, const Environment& settings) {
    Environment environment = support::environment_with(cluster().environment());
    for (const auto& [name, value] : settings)
      set_variable(environment, name, value);
    options.insert(options.begin(), {"srun", "--kill-on-bad-exit=1", "--mem=0"});
    options.insert(options.end(), {DISTRIBUTED_PROGRAM, "operate"});
    return run_command({.arguments = std::move(options), .environment = environment},
                       support::far_too_long_s);
  }

  static void expect_four_ranks(const CommandOutput& output) {
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    for (const int rank : {0, 1, 2, 3})
      EXPECT_THAT(output.standard_output, HasSubstr("rank=" + std::to_string(rank) + "\n"));
    EXPECT_THAT(output.standard_output, HasSubstr("size=4\n"));
  }
};

// The nodes' names mean nothing to the network here, so that the master is given.
TEST_F(RanksTest, OnFourNodesWorkTogether) {
  const support::FreePort port;
  expect_four_ranks(srun({"-N4", "-n4"}, {{"MASTER_ADDR", "127.0.0.1"},
                                          {"MASTER_PORT", std::to_string(port.number())}}));
}

TEST_F(RanksTest, OnOneNodeNeedNoAddress) {
  const support::FreePort port;
  expect_four_ranks(srun({"-N1", "-n4"}, {{"MASTER_PORT", std::to_string(port.number())}}));
}

}  // namespace
}  // namespace bench::slurm
