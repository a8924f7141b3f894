#include "site.hpp"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::slurm {
namespace {

using testing::HasSubstr;

/// Jobs of a node each and half an hour at most, on the fakes.
class BudgetTest : public testing::Test {
 protected:
  void sweep(int count, const std::string& retry = "") const {
    std::vector<std::string> attributes{"batch: {time_limit: 30min, array: false}"};
    if (!retry.empty())
      attributes.push_back("retry: " + retry);
    site.sweep(count, "exit 0", attributes);
  }
  /// Makes the run; none of its jobs has gone out then.
  void make_ready() const {
    site.programs().mishap("sbatch", {.error = "AssocMaxSubmitJobLimit", .code = 1}, 100);
    site.run();
    site.programs().recover("sbatch");
  }
  Site site{nullptr};
};

TEST_F(BudgetTest, ThatSufficesIsNoHindrance) {
  sweep(4);
  EXPECT_EQ(site.run({"--wait", "--budget", "2nh"}).status.code, 0);
  EXPECT_EQ(site.states(), site.all("done", 4));
  EXPECT_THAT(site.bench({"info", "runs", "-i", "0"}).standard_output,
              HasSubstr("     budget_nh: 2.0\n"));
}

TEST_F(BudgetTest, HoldsBackWhatWouldExceedIt) {
  sweep(3);
  site.programs().fates({"RUNNING"});
  make_ready();
  const auto held = site.go_on({"--budget", "1nh"});
  EXPECT_EQ(held.status.code, 1);
  EXPECT_THAT(held.standard_error,
              HasSubstr("of the budget of 1.00 node hours 1.00 are used or promised to jobs, and "
                        "the next job may take 0.50; `bench continue --budget` gives the run "
                        "another one"));
  EXPECT_EQ(site.states(), (std::map<std::string, int>{{"ready", 1}, {"submitted", 2}}));
  EXPECT_THAT(site.bench({"why", "runs", "2"}).standard_output,
              HasSubstr("of the budget of 1.00 node hours"));
  // It is kept.
  EXPECT_EQ(site.go_on().status.code, 1);
  EXPECT_EQ(site.states(), (std::map<std::string, int>{{"ready", 1}, {"submitted", 2}}));
  EXPECT_EQ(site.go_on({"--budget", "1.5nh"}).status.code, 0);
  EXPECT_EQ(site.states(), site.all("submitted", 3));
}

TEST_F(BudgetTest, IsFreeAgainWhenJobsEndEarly) {
  sweep(3);
  make_ready();
  const auto waited = site.go_on({"--wait", "--budget", "0.6nh"});
  EXPECT_EQ(waited.status.code, 0) << waited.standard_error;
  EXPECT_EQ(site.states(), site.all("done", 3));
}

TEST_F(BudgetTest, CountsACancelledJobAsIfItHadRunToItsLimit) {
  sweep(2);
  site.programs().fates({"RUNNING"});
  make_ready();
  site.go_on({"--budget", "0.5nh"});
  site.bench({"cancel", "runs"});
  EXPECT_EQ(site.go_on().status.code, 1);
  EXPECT_EQ(site.states(), (std::map<std::string, int>{{"failed", 1}, {"ready", 1}}));
}

TEST_F(BudgetTest, EndsTheWaitWhereNothingElseCanHappen) {
  sweep(2);
  make_ready();
  const auto waited = site.go_on({"--wait", "--budget", "0.1nh"});
  EXPECT_EQ(waited.status.code, 1);
  EXPECT_EQ(site.states(), site.all("ready", 2));
}

TEST_F(BudgetTest, CutsAnArrayToWhatFits) {
  site.sweep(4, "exit 0", {"batch: {time_limit: 30min}"});
  site.programs().fates({"RUNNING"});
  make_ready();
  EXPECT_EQ(site.go_on({"--budget", "1nh"}).status.code, 1);
  EXPECT_EQ(site.states(), (std::map<std::string, int>{{"ready", 2}, {"submitted", 2}}));
}

TEST_F(BudgetTest, CountsRetriesThatMayCome) {
  sweep(1, "{on: node_fail, times: 2}");
  const auto refused = site.run({"--budget", "1nh"});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.standard_error, HasSubstr("the run may take 1.50 node hours"));
}

}  // namespace
}  // namespace bench::slurm
