#include "machine/slurm_associations.hpp"

#include "support/fake_programs.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/machine/partition.hpp>

namespace bench::batch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Associations, AreWhatSacctmgrTells) {
  const support::FakePrograms programs;
  programs.say("sacctmgr", "one|zam|normal,debug\none|other|\nno line\n");
  const auto found = ask_slurm_associations();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].account, "zam");
  EXPECT_THAT(found[0].qos, ElementsAre("normal", "debug"));
  EXPECT_EQ(found[1].account, "other");
  EXPECT_THAT(found[1].qos, IsEmpty());
}

std::vector<std::string> accounts_of(const std::vector<Association>& associations) {
  std::vector<std::string> accounts;
  for (const Association& one : associations)
    accounts.push_back(one.account);
  return accounts;
}

// One accounting serves all clusters of a site, and an account of one is of no use on another.
TEST(Associations, AreThoseOfTheClusterThatJobsGoTo) {
  const support::FakePrograms programs;
  programs.say("sacctmgr", "one|zam|normal\ntwo|other|normal\nthree|third|normal\n");
  programs.say("scontrol", "AuthType = auth/none\nClusterName             = one\n");
  EXPECT_THAT(accounts_of(ask_slurm_associations()), ElementsAre("zam"));
  EXPECT_THAT(accounts_of(ask_slurm_associations({"two"})), ElementsAre("other"));
  EXPECT_THAT(accounts_of(ask_slurm_associations({"two", "three"})), ElementsAre("other", "third"));
}

TEST(Associations, AreThoseOfAllClustersWhereTheOwnIsNotKnown) {
  const support::FakePrograms programs;
  programs.say("sacctmgr", "one|zam|normal\ntwo|other|normal\n");
  EXPECT_THAT(accounts_of(ask_slurm_associations()), ElementsAre("zam", "other"));
}

TEST(Associations, AreNoneWithoutAccounting) {
  const support::FakePrograms programs;
  EXPECT_THAT(ask_slurm_associations(), IsEmpty());
  programs.say("sacctmgr", "one|zam|normal\n",
               "You are not running a supported accounting plugin\n", 1);
  EXPECT_THAT(ask_slurm_associations(), IsEmpty());
}

}  // namespace
}  // namespace bench::batch
