#include "site.hpp"
#include "support/eventually.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>

namespace bench::slurm {
namespace {

using testing::HasSubstr;

/// Jobs that commands submit themselves, and whose file says that they are done, as JUBE's do.
class StepJobsTest : public SlurmTest {
 protected:
  void SetUp() override {
    SlurmTest::SetUp();
    if (IsSkipped())
      return;
    write_file_atomically(site().home() / "sweep.yaml", R"(name: own
outpath: runs
step:
  name: work
  do:
    - _: sbatch -p fx -o /dev/null --wrap 'while [ ! -e go ]; do sleep 0.1; done; touch ready'
      done_file: ready
    - echo after
)");
    EXPECT_EQ(site().run().status.code, 0);
    EXPECT_EQ(site().states(), site().all("pending", 1));
  }
  Site& site() { return *site_; }
  std::string job() { return cluster().ask({"squeue", "-h", "-t", "R,PD", "-o", "%A"}); }

 private:
  std::optional<Site> site_{
      Cluster::missing().empty() ? std::optional<Site>(std::in_place, &cluster()) : std::nullopt};
};

TEST_F(StepJobsTest, AreWaitedFor) {
  const auto why = site().bench({"why", "runs", "0"});
  EXPECT_THAT(why.standard_output, HasSubstr(job() + ": Slurm says "));
  EXPECT_EQ(site().go_on().status.code, 0);
  EXPECT_EQ(site().states(), site().all("pending", 1));
  write_file_atomically(site().workpackage(0) / "work" / "go", "");
  EXPECT_EQ(site().go_on({"--wait"}).status.code, 0);
  EXPECT_EQ(site().states(), site().all("done", 1));
}

TEST_F(StepJobsTest, FailTheirWorkpackageWhereTheyEndWithoutTheFile) {
  const std::string id = job();
  cluster().ask({"scancel", id});
  const auto end = site().go_on({"--wait"});
  EXPECT_EQ(end.status.code, 1);
  EXPECT_EQ(site().states(), site().all("failed", 1));
  EXPECT_THAT(end.standard_error + end.standard_output,
              HasSubstr("Slurm job " + id + ": CANCELLED"));
}

TEST_F(StepJobsTest, AreCancelledWithTheRun) {
  ASSERT_NE(job(), "");
  const auto cancel = site().bench({"cancel", "runs"});
  EXPECT_EQ(cancel.status.code, 0) << cancel.standard_error;
  EXPECT_TRUE(support::eventually([&] { return job().empty(); }));
  EXPECT_EQ(site().states(), site().all("failed", 1));
}

}  // namespace
}  // namespace bench::slurm
