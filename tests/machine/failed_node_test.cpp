#include "support/fake_programs.hpp"
#include "support/temp_directory.hpp"

#include <string>

#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/failed_node.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

TEST(FailedNode, StandsInTheReasonOfItsAttempt) {
  const std::string reason = reason_with_node("n1", "Slurm job 7: NODE_FAIL");
  EXPECT_EQ(reason, "node n1 failed: Slurm job 7: NODE_FAIL");
  EXPECT_EQ(node_in_reason(reason), "n1");
  for (const char* other : {"", "node n1", "node n1 is down", "exit code 1: node n1 failed: x"})
    EXPECT_EQ(node_in_reason(other), "") << other;
}

TEST(FailedNode, IsNotLookedForAfterOtherEnds) {
  EXPECT_TRUE(may_be_fault_of_node(Outcome::node_fail));
  EXPECT_TRUE(may_be_fault_of_node(Outcome::boot_fail));
  EXPECT_FALSE(may_be_fault_of_node(Outcome::failed));
  EXPECT_FALSE(may_be_fault_of_node(Outcome::preempted));
}

class SlurmsFailedNodeTest : public testing::Test {
 protected:
  std::string node(const std::string& errors, const std::string& host = "") {
    JobReport report;
    report.id = "7_1";
    report.host = host;
    return find_system("slurm")->make({})->failed_node(report, directory_.write("stderr", errors));
  }

  support::TempDirectory directory_;
  support::FakePrograms programs_;
};

TEST_F(SlurmsFailedNodeTest, IsTheOneThatSrunNames) {
  programs_.say("squeue", "n[1-2]\n");
  EXPECT_EQ(node("x\nsrun: error: Node failure on n2\nsrun: Job step aborted\n"), "n2");
  EXPECT_TRUE(programs_.calls("squeue").empty());
}

TEST_F(SlurmsFailedNodeTest, IsTheOnlyOneOfAJob) {
  programs_.say("squeue", "n3\n");
  EXPECT_EQ(node("", "n3"), "n3");
  EXPECT_EQ(programs_.calls("squeue").front(), "-a -h -t all -o %N -j 7_1");
}

TEST_F(SlurmsFailedNodeTest, IsUnknownWhereAJobHasSeveral) {
  programs_.say("squeue", "n[1-2]\n");
  EXPECT_EQ(node("", "n1"), "");
  EXPECT_EQ(node("srun: error: Node failure on n[1-2]\n", "n1"), "");
}

}  // namespace
}  // namespace bench::machine
