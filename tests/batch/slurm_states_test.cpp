#include "batch/slurm_states.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/batch/batch_system.hpp>

namespace bench::batch {
namespace {

using State = JobReport::State;

struct Case {
  std::string name;
  std::string word;
  std::string reason;
  State state;
  Outcome outcome = Outcome::done;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class SlurmStateTest : public testing::TestWithParam<Case> {};

TEST_P(SlurmStateTest, IsUnderstood) {
  const SlurmState known = slurm_state(GetParam().word, GetParam().reason);
  EXPECT_EQ(known.state, GetParam().state);
  EXPECT_EQ(known.outcome, GetParam().outcome);
}

// Source: squeue(1) of Slurm 22.05, JOB STATE CODES.
INSTANTIATE_TEST_SUITE_P(
    Words, SlurmStateTest,
    testing::Values(
        Case{"Pending", "PENDING", "Priority", State::pending},
        Case{"Requeued", "REQUEUED", "", State::pending},
        Case{"RequeuedInFederation", "REQUEUE_FED", "", State::pending},
        Case{"Configuring", "CONFIGURING", "None", State::running},
        Case{"Running", "RUNNING", "None", State::running},
        Case{"Completing", "COMPLETING", "None", State::running},
        Case{"Suspended", "SUSPENDED", "None", State::running},
        Case{"Stopped", "STOPPED", "", State::running},
        Case{"Resizing", "RESIZING", "", State::running},
        Case{"Signaling", "SIGNALING", "", State::running},
        Case{"StageOut", "STAGE_OUT", "", State::running},
        Case{"RequeueHold", "REQUEUE_HOLD", "", State::blocked},
        Case{"ReservationDeleted", "RESV_DEL_HOLD", "", State::blocked},
        Case{"SpecialExit", "SPECIAL_EXIT", "", State::blocked},
        Case{"Completed", "COMPLETED", "None", State::ended, Outcome::done},
        Case{"Failed", "FAILED", "NonZeroExitCode", State::ended, Outcome::failed},
        Case{"Timeout", "TIMEOUT", "TimeLimit", State::ended, Outcome::timeout},
        Case{"OutOfMemory", "OUT_OF_MEMORY", "", State::ended, Outcome::out_of_memory},
        Case{"Deadline", "DEADLINE", "", State::ended, Outcome::deadline},
        Case{"Cancelled", "CANCELLED", "None", State::ended, Outcome::cancelled},
        Case{"NodeFail", "NODE_FAIL", "NodeDown", State::ended, Outcome::node_fail},
        Case{"BootFail", "BOOT_FAIL", "", State::ended, Outcome::boot_fail},
        Case{"Preempted", "PREEMPTED", "", State::ended, Outcome::preempted},
        Case{"Revoked", "REVOKED", "", State::ended, Outcome::cancelled},
        Case{"LaunchFailed", "LAUNCH_FAILED", "", State::ended, Outcome::launch_failure},
        Case{"CancelledBySomebody", "CANCELLED by 0", "", State::ended, Outcome::cancelled},
        Case{"CutOff", "CANCELLED+", "", State::ended, Outcome::cancelled},
        Case{"NotLaunched", "FAILED", "JobLaunchFailure", State::ended, Outcome::launch_failure},
        Case{"TimeoutWhateverTheReason", "TIMEOUT", "JobLaunchFailure", State::ended,
             Outcome::timeout}),
    [](const auto& one) { return one.param.name; });

struct Reason {
  std::string name;
  std::string text;
  State state;
};
void PrintTo(const Reason& r, std::ostream* out) {
  *out << r.name;
}

class PendingReasonTest : public testing::TestWithParam<Reason> {};

TEST_P(PendingReasonTest, TellsWaitingFromWaitingInVain) {
  EXPECT_EQ(slurm_state("PENDING", GetParam().text).state, GetParam().state);
}

// Source: squeue(1) of Slurm 22.05, JOB REASON CODES.
INSTANTIATE_TEST_SUITE_P(
    Codes, PendingReasonTest,
    testing::Values(Reason{"Resources", "Resources", State::pending},
                    Reason{"BeginTime", "BeginTime", State::pending},
                    Reason{"Dependency", "Dependency", State::pending},
                    Reason{"JobArrayTaskLimit", "JobArrayTaskLimit", State::pending},
                    Reason{"QosLimit", "QOSMaxJobsPerUserLimit", State::pending},
                    Reason{"None", "None", State::pending}, Reason{"Empty", "", State::pending},
                    Reason{"HeldByUser", "JobHeldUser", State::blocked},
                    Reason{"HeldByAdmin", "JobHeldAdmin", State::blocked},
                    Reason{"LaunchFailedHeld", "launch failed requeued held", State::blocked},
                    Reason{"InBrackets", "(launch failed requeued held)", State::blocked},
                    Reason{"DependencyNeverSatisfied", "DependencyNeverSatisfied", State::blocked},
                    Reason{"PartitionNodeLimit", "PartitionNodeLimit", State::blocked},
                    Reason{"PartitionTimeLimit", "PartitionTimeLimit", State::blocked},
                    Reason{"PartitionDown", "PartitionDown", State::pending},
                    Reason{"PartitionInactive", "PartitionInactive", State::blocked},
                    Reason{"BadConstraints", "BadConstraints", State::blocked},
                    Reason{"InvalidAccount", "InvalidAccount", State::blocked},
                    Reason{"InvalidQos", "InvalidQOS", State::blocked},
                    Reason{"AccountNotAllowed", "AccountNotAllowed", State::blocked},
                    Reason{"QosNotAllowed", "QOSNotAllowed", State::blocked},
                    Reason{"NodesNotAvailable", "ReqNodeNotAvail, UnavailableNodes:n1",
                           State::pending},
                    Reason{"ReservationDeleted", "ReservationDeleted", State::blocked},
                    Reason{"NodeDown", "NodeDown", State::pending}),
    [](const auto& one) { return one.param.name; });

TEST(SlurmState, OfARunningJobDoesNotDependOnTheReason) {
  EXPECT_EQ(slurm_state("RUNNING", "JobHeldUser").state, State::running);
}

TEST(SlurmState, OfAnUnknownWordHasNotEnded) {
  for (const char* word : {"", "EXPEDITING", "pending", "COMPLETE", "COMPLETEDX", " RUNNING"})
    EXPECT_EQ(slurm_state(word, "").state, State::pending) << word;
}

}  // namespace
}  // namespace bench::batch
