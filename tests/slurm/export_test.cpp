#include "site.hpp"

#include <string>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>

namespace bench::slurm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// What an export tells of the jobs of a run, by the fakes.
class ExportedJobsTest : public testing::Test {
 protected:
  void SetUp() override {
    site.programs().fates({"COMPLETED", "TIMEOUT"});
    site.sweep(1);
    site.run();
  }
  std::string record() const {
    const auto output = site.bench({"export", "runs", "--output", "out"});
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    return read_file(site.home() / "out/scheduler.json");
  }
  Site site{nullptr};
};

TEST_F(ExportedJobsTest, SlurmsRecordIsBesideOurs) {
  EXPECT_THAT(record(), AllOf(HasSubstr("\"batch_system\": \"Slurm\""), HasSubstr("\"job_id\": "),
                              HasSubstr("\"state\": \"")));
}

TEST_F(ExportedJobsTest, AForgottenJobIsAbsentWithTheReason) {
  site.programs().forget_jobs();
  EXPECT_THAT(record(), HasSubstr("\"absent\": \"Slurm no longer knows the job\""));
}

TEST_F(ExportedJobsTest, TheJobIsThatOfItsWorkpackage) {
  record();
  const std::string crate = read_file(site.home() / "out/ro-crate-metadata.json");
  EXPECT_THAT(
      crate, AllOf(HasSubstr("\"identifier\":{\"@id\":\"#job/"), HasSubstr("\"name\":\"job id\"")));
}

}  // namespace
}  // namespace bench::slurm
