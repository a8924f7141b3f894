#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/eventually.hpp"

#include <string>

#include <gmock/gmock.h>

namespace bench::slurm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What `bench why` tells of a workpackage that a batch system has, by the fakes.
class WhyTest : public testing::Test {
 protected:
  void submit(const std::string& fate) const {
    site.programs().fates({fate, "COMPLETED"});
    site.sweep(1);
    site.run();
  }
  std::string why() const {
    const auto output = site.bench({"why", "runs", "0"});
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    return output.standard_output;
  }
  Site site{nullptr};
};

TEST_F(WhyTest, AsksTheBatchSystem) {
  submit("PENDING");
  const auto before = site.programs().calls("squeue").size();
  EXPECT_THAT(why(),
              AllOf(HasSubstr("workpackage 0 (work): submitted\n"), HasSubstr(", as job "),
                    HasSubstr("  job:         Slurm says PENDING"), Not(HasSubstr("next:"))));
  EXPECT_EQ(site.programs().calls("squeue").size(), before + 1);
}

TEST_F(WhyTest, ShowsAJobThatNobodyKnows) {
  submit("RUNNING");
  site.programs().forget_jobs();
  EXPECT_THAT(why(), AllOf(HasSubstr("Slurm no longer knows the job"),
                           HasSubstr("next:        bench continue runs --id 0\n")));
}

TEST_F(WhyTest, ShowsThatSlurmDoesNotAnswer) {
  submit("RUNNING");
  site.programs().mishap("squeue", {.error = "slurm_load_jobs error: no contact", .code = 1});
  EXPECT_THAT(why(), HasSubstr("no contact"));
}

TEST_F(WhyTest, ShowsAnEndThatNobodyHasTakenIn) {
  submit("TIMEOUT");
  EXPECT_THAT(why(),
              AllOf(HasSubstr("Slurm says TIMEOUT"), HasSubstr("next:        bench continue")));
  site.go_on();
  EXPECT_THAT(why(), AllOf(HasSubstr("workpackage 0 (work): failed\n"),
                           HasSubstr("  outcome:     timeout\n"), HasSubstr("timelimit_factor")));
}

/// The same with a real Slurm.
class WhyOfAJobTest : public SlurmTest {};

TEST_F(WhyOfAJobTest, ShowsWhereItRuns) {
  const Site site(&cluster());
  site.sweep(1, "echo here; sleep 100");
  site.run();
  std::string said;
  EXPECT_TRUE(support::eventually([&] {
    said = site.bench({"why", "runs", "0"}).standard_output;
    return said.find("==>") != std::string::npos;
  }));
  EXPECT_THAT(said, AllOf(HasSubstr("  began:       at "), HasSubstr("Slurm says RUNNING on "),
                          HasSubstr("stdout <==\nhere\n")));
  site.bench({"cancel", "runs"});
}

}  // namespace
}  // namespace bench::slurm
