#include "machine/slurm_states.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/machine/batch_system.hpp>

namespace bench::batch {
namespace {

using State = JobReport::State;

struct StateCase {
  std::string name;
  std::string word;
  std::string reason;
  State state;
  Outcome outcome = Outcome::done;
};
void PrintTo(const StateCase& c, std::ostream* out) {
  *out << c.name;
}

class SlurmStateTest : public testing::TestWithParam<StateCase> {};

TEST_P(SlurmStateTest, IsUnderstood) {
  const SlurmState known = slurm_state(GetParam().word, GetParam().reason);
  EXPECT_EQ(known.state, GetParam().state);
  EXPECT_EQ(known.outcome, GetParam().outcome);
}

// Source: squeue(1) of Slurm 22.05, JOB STATE CODES.
INSTANTIATE_TEST_SUITE_P(
    Words, SlurmStateTest,
    testing::Values(
        StateCase{"Pending", "PENDING", "Priority", State::pending},
        StateCase{"Requeued", "REQUEUED", "", State::pending},
        StateCase{"RequeuedInFederation", "REQUEUE_FED", "", State::pending},
        StateCase{"Configuring", "CONFIGURING", "None", State::running},
        StateCase{"Running", "RUNNING", "None", State::running},
        StateCase{"Completing", "COMPLETING", "None", State::running},
        StateCase{"Suspended", "SUSPENDED", "None", State::running},
        StateCase{"Stopped", "STOPPED", "", State::running},
        StateCase{"Resizing", "RESIZING", "", State::running},
        StateCase{"Signaling", "SIGNALING", "", State::running},
        StateCase{"StageOut", "STAGE_OUT", "", State::running},
        StateCase{"RequeueHold", "REQUEUE_HOLD", "", State::blocked},
        StateCase{"ReservationDeleted", "RESV_DEL_HOLD", "", State::blocked},
        StateCase{"SpecialExit", "SPECIAL_EXIT", "", State::blocked},
        StateCase{"Completed", "COMPLETED", "None", State::ended, Outcome::done},
        StateCase{"Failed", "FAILED", "NonZeroExitCode", State::ended, Outcome::failed},
        StateCase{"Timeout", "TIMEOUT", "TimeLimit", State::ended, Outcome::timeout},
        StateCase{"OutOfMemory", "OUT_OF_MEMORY", "", State::ended, Outcome::out_of_memory},
        StateCase{"Deadline", "DEADLINE", "", State::ended, Outcome::deadline},
        StateCase{"Cancelled", "CANCELLED", "None", State::ended, Outcome::cancelled},
        StateCase{"NodeFail", "NODE_FAIL", "NodeDown", State::ended, Outcome::node_fail},
        StateCase{"BootFail", "BOOT_FAIL", "", State::ended, Outcome::boot_fail},
        StateCase{"Preempted", "PREEMPTED", "", State::ended, Outcome::preempted},
        StateCase{"Revoked", "REVOKED", "", State::ended, Outcome::cancelled},
        StateCase{"LaunchFailed", "LAUNCH_FAILED", "", State::ended, Outcome::launch_failure},
        StateCase{"CancelledBySomebody", "CANCELLED by 0", "", State::ended, Outcome::cancelled},
        StateCase{"CutOff", "CANCELLED+", "", State::ended, Outcome::cancelled},
        StateCase{"NotLaunched", "FAILED", "JobLaunchFailure", State::ended,
                  Outcome::launch_failure},
        StateCase{"TimeoutWhateverTheReason", "TIMEOUT", "JobLaunchFailure", State::ended,
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
    testing::Values(
        Reason{"Resources", "Resources", State::pending},
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
        Reason{"NodesAreDown", "ReqNodeNotAvail, UnavailableNodes:n1", State::without_nodes},
        Reason{"NodesAreReserved", "ReqNodeNotAvail, Reserved for maintenance", State::pending},
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
