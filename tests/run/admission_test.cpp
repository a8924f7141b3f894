#include "run/admission.hpp"

#include "space/run_fixture.hpp"
#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/fake_programs.hpp"

#include <chrono>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/machine/job.hpp>
#include <bench/space/job_request.hpp>

namespace bench::run {
namespace {

using Room = AllocationSlots::Room;
using testing::HasSubstr;

/// A run in an allocation of 3 nodes with 8 CPUs and 4 GPUs each.
class AllocationSlotsTest : public space::RunFixture {
 protected:
  AllocationSlotsTest() {
    plan("step: {name: go, do: a, batch: true}\n", "allocation");
    lasts(3600);
  }

  void lasts(double seconds) {
    programs_.say(
        "scontrol",
        fmt::format("JobId=17 EndTime={} NumNodes=3 NumCPUs=24 "
                    "TRES=cpu=24,node=3,gres/gpu=12\n",
                    replace_all(local_time(std::chrono::system_clock::now() +
                                           std::chrono::seconds(static_cast<long>(seconds))),
                                " ", "T")));
  }

  static space::JobRequest request(int nodes, int tasks, int threads, int gpus = 0) {
    space::JobRequest request;
    request.resources = {.nodes = nodes,
                         .tasks_per_node = tasks,
                         .threads_per_task = threads,
                         .gpus_per_node = gpus};
    request.settings["exclusive"] = "";
    return request;
  }

  support::FakePrograms programs_;
  support::EnvironmentVariable job_{"SLURM_JOB_ID", "17"};
};

TEST_F(AllocationSlotsTest, TakesAsManyJobStepsAsFit) {
  AllocationSlots slots(run_);
  EXPECT_EQ(slots.take(1, request(2, 2, 4)), Room::taken) << "nodes 1 and 2, whole";
  EXPECT_EQ(slots.take(2, request(1, 1, 3)), Room::taken) << "on node 3";
  EXPECT_EQ(slots.take(3, request(1, 1, 6)), Room::full);
  EXPECT_EQ(slots.take(3, request(1, 5, 0)), Room::taken) << "a task has one CPU at least";
  EXPECT_EQ(slots.take(4, request(1, 1, 1)), Room::full);
  slots.release(1);
  EXPECT_EQ(slots.take(4, request(3, 1, 1)), Room::full);
  EXPECT_EQ(slots.take(4, request(2, 1, 1)), Room::taken);
}

TEST_F(AllocationSlotsTest, CountsGpusAndWholeNodes) {
  AllocationSlots slots(run_);
  for (long long id = 0; id < 3; ++id)
    EXPECT_EQ(slots.take(id, request(1, 1, 1, 3)), Room::taken);
  EXPECT_EQ(slots.take(3, request(1, 1, 1, 2)), Room::full);
  space::JobRequest whole = request(1, 1, 1);
  whole.settings["exclusive"] = "yes";
  EXPECT_EQ(slots.take(3, whole), Room::full);
  slots.release(1);
  EXPECT_EQ(slots.take(3, whole), Room::taken);
  EXPECT_EQ(slots.take(4, request(3, 1, 1)), Room::full);
}

TEST_F(AllocationSlotsTest, NodesMayDiffer) {
  programs_.say("scontrol",
                "JobId=17 NumNodes=3 NumCPUs=48 TRES=cpu=48,node=3,gres/gpu=2   Nodes=v[1-2] "
                "CPU_IDs=0-7 Mem=1 GRES=   Nodes=v3 CPU_IDs=0-31 Mem=1 GRES=gpu:2(IDX:0-1)\n");
  AllocationSlots slots(run_);
  EXPECT_EQ(slots.take(1, request(1, 1, 24)), Room::taken) << "on node 3";
  EXPECT_EQ(slots.take(2, request(1, 1, 24)), Room::full);
  space::JobRequest whole = request(1, 1, 1);
  whole.settings["exclusive"] = "yes";
  EXPECT_EQ(slots.take(2, whole), Room::taken) << "node 1";
  EXPECT_EQ(slots.take(3, request(2, 1, 8)), Room::taken) << "nodes 2 and 3";
  EXPECT_EQ(slots.take(4, whole), Room::full);
  slots.release(1);
  slots.release(3);
  EXPECT_EQ(slots.take(4, request(1, 1, 1, 2)), Room::taken) << "node 3";
  EXPECT_EQ(slots.take(5, request(1, 1, 1, 1)), Room::full);
  EXPECT_THAT(support::error_of([&] { slots.check(request(1, 1, 33), {}); }),
              HasSubstr("requested 33 CPUs per node; the allocation (job 17) has 32"));
  EXPECT_THAT(support::error_of([&] { slots.check(request(2, 1, 9, 1), {}); }),
              HasSubstr("requested 2 nodes with 9 CPUs and 1 GPU; the allocation (job 17) has 1"));
}

TEST_F(AllocationSlotsTest, StartsNothingThatMayOutlastTheAllocation) {
  lasts(100);
  AllocationSlots slots(run_);
  space::JobRequest longer = request(1, 1, 1);
  longer.time_limit_s = 100;
  EXPECT_EQ(slots.blocked_reason(), "");
  EXPECT_EQ(slots.take(1, longer), Room::no_time);
  EXPECT_EQ(slots.blocked_reason(),
            "the allocation (job 17) ends before the time limit of 1 workpackage");
  longer.time_limit_s = 30;
  EXPECT_EQ(slots.take(1, longer), Room::taken);
  EXPECT_FALSE(slots.is_over());
}

TEST_F(AllocationSlotsTest, EndsBeforeTheAllocationDoes) {
  lasts(AllocationSlots::margin_s / 2);
  const AllocationSlots slots(run_);
  EXPECT_TRUE(slots.is_over());
  EXPECT_THAT(slots.blocked_reason(), HasSubstr("is about to end"));
}

TEST_F(AllocationSlotsTest, LetsTheStartOfWhatIsTooLargeFail) {
  AllocationSlots slots(run_);
  EXPECT_EQ(slots.take(1, request(4, 1, 1)), Room::taken);
  EXPECT_EQ(slots.take(2, std::nullopt), Room::taken);
  EXPECT_EQ(support::error_of([&] {
              slots.check(request(4, 1, 1), {"in.yaml", 7});
            }),
            "in.yaml:7: error: requested 4 nodes; the allocation (job 17) has 3");
  EXPECT_THAT(support::error_of([&] { slots.check(request(1, 3, 3), {}); }),
              HasSubstr("requested 9 CPUs per node; the allocation (job 17) has 8"));
  EXPECT_THAT(support::error_of([&] { slots.check(request(1, 1, 1, 5), {}); }),
              HasSubstr("requested 5 GPUs per node"));
}

TEST_F(AllocationSlotsTest, TellsWhatEndedWithTheAllocationFromWhatFailed) {
  AllocationSlots slots(run_);
  const auto judged = [&](std::optional<int> exit_code, const std::string& state) {
    programs_.say("squeue", state);
    machine::Completion completion;
    completion.exit_code = exit_code;
    return slots.judged(completion, "17").outcome;
  };
  EXPECT_EQ(judged(143, "RUNNING\n"), Outcome::failed);
  EXPECT_EQ(judged(3, ""), Outcome::failed) << "the program's own";
  EXPECT_FALSE(slots.is_over());
  EXPECT_EQ(judged(143, "COMPLETING\n"), Outcome::interrupted);
  EXPECT_EQ(judged(std::nullopt, ""), Outcome::interrupted);
  EXPECT_TRUE(slots.is_over());
  EXPECT_EQ(slots.blocked_reason(), "the allocation (job 17) has ended");
}

TEST_F(AllocationSlotsTest, CountsNothingOnOtherPlatforms) {
  plan("step: {name: go, do: a, batch: true}\n", "local");
  const AllocationSlots slots(run_);
  EXPECT_EQ(slots.id(), "");
  EXPECT_FALSE(slots.is_over());
  EXPECT_TRUE(programs_.calls("scontrol").empty());
}

}  // namespace
}  // namespace bench::run
