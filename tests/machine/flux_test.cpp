#include "support/fake_programs.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using Kind = SubmitResult::Kind;
using State = JobReport::State;

/// The program of Flux as a test writes it.
class FluxTest : public testing::Test {
 protected:
  SubmitResult submit() {
    return flux_->submit({.uuid = "sub",
                          .name = "bench-1",
                          .script = "/run/job.sh",
                          .directory = programs_.path(),
                          .environment = current_environment()});
  }

  support::FakePrograms programs_;
  std::unique_ptr<BatchSystem> flux_ = find_system("flux")->make({});
};

TEST_F(FluxTest, AcceptsAJobAndPrintsItsId) {
  programs_.say("flux", "\u01922oLkTLb\n");
  const SubmitResult result = submit();
  EXPECT_EQ(result.kind, Kind::accepted);
  EXPECT_EQ(result.id, "f2oLkTLb");
  EXPECT_THAT(programs_.calls("flux"), ElementsAre("batch /run/job.sh"));
}

TEST_F(FluxTest, RefusesWhatItCannotRun) {
  programs_.say("flux", "", "flux-batch: ERROR: unsatisfiable request\n", 1);
  const SubmitResult result = submit();
  EXPECT_EQ(result.kind, Kind::refused);
  EXPECT_EQ(result.reason, "flux batch: flux-batch: ERROR: unsatisfiable request");
}

TEST_F(FluxTest, IsUnavailableWithoutItsInstance) {
  programs_.say("flux", "", "flux-batch: ERROR: Unable to connect to Flux: broker is gone\n", 1);
  EXPECT_EQ(submit().kind, Kind::unavailable);
}

struct Line {
  std::string name;
  std::string text;
  State state;
  Outcome outcome;
  std::string word;
};

class FluxJobsTest : public FluxTest, public testing::WithParamInterface<Line> {};

TEST_P(FluxJobsTest, AreUnderstood) {
  const Line& line = GetParam();
  programs_.say("flux", line.text);
  const QueryResult queue = flux_->ask_for_all();
  ASSERT_THAT(queue.jobs, SizeIs(1));
  EXPECT_EQ(queue.jobs[0].id, "f12");
  EXPECT_EQ(queue.jobs[0].name, "bench-1");
  EXPECT_EQ(queue.jobs[0].state, line.state);
  EXPECT_EQ(queue.jobs[0].word, line.word);
  if (line.state == State::ended) {
    EXPECT_EQ(queue.jobs[0].outcome, line.outcome);
  }
}

INSTANTIATE_TEST_SUITE_P(
    States, FluxJobsTest,
    testing::Values(Line{"Waits", "\u019212|SCHED|||bench-1\n", State::pending, {}, "SCHED"},
                    Line{"Runs", "\u019212|RUN|||bench-1\n", State::running, {}, "RUN"},
                    Line{"EndsWell", "f12|INACTIVE|COMPLETED||bench-1\n", State::ended,
                         Outcome::done, "COMPLETED"},
                    Line{"Fails", "f12|INACTIVE|FAILED||bench-1\n", State::ended, Outcome::failed,
                         "FAILED"},
                    Line{"IsCancelled", "f12|INACTIVE|CANCELED|cancel|bench-1\n", State::ended,
                         Outcome::cancelled, "CANCELED"},
                    Line{"TakesTooLong", "f12|INACTIVE|TIMEOUT|timeout|bench-1\n", State::ended,
                         Outcome::timeout, "TIMEOUT"}),
    [](const auto& one) { return one.param.name; });

TEST_F(FluxTest, TellsOfTheJobsThatAreAskedFor) {
  programs_.say("flux", "f1|RUN|||a\nf2|RUN|||b\n");
  EXPECT_THAT(flux_->ask({"f2", "f3"}).jobs, ElementsAre(testing::Field(&JobReport::id, "f2")));
}

TEST_F(FluxTest, AnErrorIsNotAnEmptyQueue) {
  programs_.say("flux", "", "no broker", 1);
  EXPECT_EQ(flux_->ask_for_all().failure, "flux jobs: no broker");
}

TEST_F(FluxTest, CancelsJobsThatMayHaveEnded) {
  programs_.say("flux", "", "flux-cancel: ERROR: f1: job is inactive", 1);
  EXPECT_EQ(flux_->cancel({"f1", "f2"}), "");
  EXPECT_THAT(programs_.calls("flux"), ElementsAre("cancel f1", "cancel f2"));
  programs_.say("flux", "", "no permission", 1);
  EXPECT_EQ(flux_->cancel({"f1"}), "flux cancel: no permission");
}

}  // namespace
}  // namespace bench::machine
