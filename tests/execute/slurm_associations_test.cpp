#include "support/fake_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/execute/slurm_associations.hpp>

namespace bench::execute {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Associations, AreWhatSacctmgrTells) {
  const support::FakePrograms programs;
  programs.say("sacctmgr", "zam|normal,debug\nother|\nno line\n");
  const auto found = ask_associations();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].account, "zam");
  EXPECT_THAT(found[0].qos, ElementsAre("normal", "debug"));
  EXPECT_EQ(found[1].account, "other");
  EXPECT_THAT(found[1].qos, IsEmpty());
}

TEST(Associations, AreNoneWithoutAccounting) {
  const support::FakePrograms programs;
  EXPECT_THAT(ask_associations(), IsEmpty());
  programs.say("sacctmgr", "zam|normal\n", "You are not running a supported accounting plugin\n",
               1);
  EXPECT_THAT(ask_associations(), IsEmpty());
}

}  // namespace
}  // namespace bench::execute
