#include <gtest/gtest.h>

#include <bench/platform/scheduler.hpp>

namespace bench::platform {
namespace {

TEST(SchedulerNames, AreThoseOfPlatformFiles) {
  EXPECT_EQ(scheduler_of("none"), Scheduler::none);
  EXPECT_EQ(scheduler_of("slurm"), Scheduler::slurm);
  EXPECT_EQ(scheduler_of("pbs"), Scheduler::commands);
  EXPECT_EQ(scheduler_of("SLURM"), std::nullopt);
}

TEST(Capabilities, OfOtherBatchSystemsAreAQueueAlone) {
  EXPECT_FALSE(capabilities_of(Scheduler::none).queues_jobs);
  EXPECT_TRUE(capabilities_of(Scheduler::commands).queues_jobs);
  EXPECT_FALSE(capabilities_of(Scheduler::commands).has_job_steps);
  EXPECT_TRUE(capabilities_of(Scheduler::slurm).has_job_steps);
}

}  // namespace
}  // namespace bench::platform
