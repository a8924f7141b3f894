#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/fake_programs.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using State = JobReport::State;
using Kind = SubmitResult::Kind;

/// As for LSF.
SystemOptions options() {
  SystemOptions options{.name = "lsf"};
  options.commands = {.submit = "bsub -J {{name}} {{script}}",
                      .id_pattern = R"(Job <(\d+)>)",
                      .poll = "bjobs -a",
                      .line_pattern = R"(^(?<id>\d+) +(?<state>\S+) +(?<name>\S+))",
                      .cancel = "bkill {{id}}",
                      .states = {{"PEND", "pending"},
                                 {"PSUSP", "blocked"},
                                 {"RUN", "running"},
                                 {"DONE", "done"},
                                 {"EXIT", "failed"},
                                 {"TERM", "timeout"}}};
  return options;
}

std::unique_ptr<BatchSystem> system_of(const SystemOptions& options) {
  return find_system("lsf")->make(options);
}

/// The programs of a batch system as a test writes them.
class CommandSystemTest : public testing::Test {
 protected:
  SubmitResult submit(const std::string& script = "/run/job.sh") {
    return system_->submit({.uuid = "sub",
                            .name = "bench-1",
                            .script = script,
                            .directory = programs_.path(),
                            .environment = current_environment()});
  }

  support::FakePrograms programs_;
  std::unique_ptr<BatchSystem> system_ = system_of(options());
};

TEST_F(CommandSystemTest, HasTheNameOfItsSystemAndNeitherArraysNorBooks) {
  EXPECT_EQ(system_->name(), "lsf");
  EXPECT_EQ(system_->max_array_size(), 1);
  EXPECT_THAT(system_->query_accounting({"1"}).jobs, IsEmpty());
  EXPECT_EQ(system_->query_accounting({"1"}).failure, "");
}

TEST_F(CommandSystemTest, FindsTheIdInWhatSubmitPrints) {
  programs_.say("bsub", "Job <4711> is submitted to queue <gpu>.\n");
  const SubmitResult verdict = submit();
  EXPECT_EQ(verdict.kind, Kind::accepted);
  EXPECT_EQ(verdict.id, "4711");
  EXPECT_THAT(programs_.calls("bsub"), ElementsAre("-J bench-1 /run/job.sh"));
}

TEST_F(CommandSystemTest, QuotesTheScriptAndCallsInItsDirectory) {
  programs_.write("bsub", "echo \"$PWD:$3\" >seen; echo 'Job <1>'");
  submit("/my run/$x");
  EXPECT_EQ(read_file(programs_.path() / "seen"), programs_.path().string() + ":/my run/$x\n");
}

struct SubmitCase {
  std::string name;
  std::string output;
  std::string error;
  int exit_code;
  Kind kind;
  std::string reason;
};

class NotSubmittedTest : public CommandSystemTest,
                         public testing::WithParamInterface<SubmitCase> {};

TEST_P(NotSubmittedTest, IsRefusedOrUnknown) {
  const SubmitCase& c = GetParam();
  programs_.say("bsub", c.output, c.error, c.exit_code);
  const SubmitResult verdict = submit();
  EXPECT_EQ(verdict.kind, c.kind);
  EXPECT_EQ(verdict.id, "");
  EXPECT_EQ(verdict.reason, c.reason);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, NotSubmittedTest,
    testing::Values(
        SubmitCase{"Refused", "", "no such queue\n", 1, Kind::refused, "bsub: no such queue"},
        SubmitCase{"RefusedAsByLsf", "", "no such queue\n", 255, Kind::refused,
                   "bsub: no such queue"},
        SubmitCase{"RefusedAsByPbs", "", "Unknown queue\n", 170, Kind::refused,
                   "bsub: Unknown queue"},
        SubmitCase{"NoServer", "", "cannot connect to server pbs (errno=111)\n", 111,
                   Kind::unavailable, "bsub: cannot connect to server pbs (errno=111)"},
        SubmitCase{"NoServerOfLsf", "", "LSF is down. Please wait ...\n", 255, Kind::unavailable,
                   "bsub: LSF is down. Please wait ..."},
        SubmitCase{"NoAnswer", "", "Connection timed out\n", 1, Kind::unavailable,
                   "bsub: Connection timed out"},
        SubmitCase{"Killed", "", "", 137, Kind::unavailable, "bsub: exit code 137"},
        SubmitCase{"NoId", "Request accepted.\n", "", 0, Kind::unavailable,
                   "bsub: printed no job id: Request accepted."},
        SubmitCase{"Nothing", "", "", 0, Kind::unavailable, "bsub: printed no job id: "}),
    [](const auto& one) { return one.param.name; });

TEST_F(CommandSystemTest, CannotSubmitWithoutTheProgram) {
  EXPECT_EQ(submit().kind, Kind::unavailable);
}

TEST_F(CommandSystemTest, TellsOfJobsByItsNamedGroups) {
  programs_.say("bjobs",
                "JOBID STAT NAME\n1 PEND bench-1\n2 PSUSP bench-2\n3 RUN other\n4 DONE bench-4\n"
                "5 TERM bench-5\n");
  const QueryResult queue = system_->ask_for_all();
  EXPECT_EQ(queue.failure, "");
  ASSERT_EQ(queue.jobs.size(), 5U);
  const std::vector<std::pair<State, Outcome>> expected{{State::pending, Outcome::done},
                                                        {State::blocked, Outcome::done},
                                                        {State::running, Outcome::done},
                                                        {State::ended, Outcome::done},
                                                        {State::ended, Outcome::timeout}};
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(queue.jobs[k].id, std::to_string(k + 1));
    EXPECT_EQ(queue.jobs[k].state, expected[k].first) << k;
    EXPECT_EQ(queue.jobs[k].outcome, expected[k].second) << k;
    EXPECT_EQ(queue.jobs[k].comment, "");
  }
  EXPECT_EQ(queue.jobs[1].name, "bench-2");
  EXPECT_EQ(queue.jobs[1].word, "PSUSP");
}

TEST_F(CommandSystemTest, TellsOfTheJobsThatWereAskedFor) {
  programs_.say("bjobs", "1 PEND a\n2 RUN b\n");
  const QueryResult queue = system_->ask({"2", "3"});
  ASSERT_EQ(queue.jobs.size(), 1U);
  EXPECT_EQ(queue.jobs[0].id, "2");
  EXPECT_THAT(programs_.calls("bjobs"), ElementsAre("-a"));
}

TEST_F(CommandSystemTest, TellsOfNoJobs) {
  programs_.say("bjobs", "No job found\n");
  EXPECT_EQ(system_->ask({"1"}).failure, "");
  EXPECT_THAT(system_->ask({"1"}).jobs, IsEmpty());
}

TEST_F(CommandSystemTest, TakesAnUnknownStateForOneThatHasNotEnded) {
  programs_.say("bjobs", "1 RUN a\n2 DANCING b\n");
  const QueryResult queue = system_->ask_for_all();
  EXPECT_EQ(queue.failure, "");
  ASSERT_EQ(queue.jobs.size(), 2U);
  EXPECT_EQ(queue.jobs[1].state, State::pending);
  EXPECT_EQ(queue.jobs[1].word, "DANCING");
}

TEST_F(CommandSystemTest, IsInTroubleWhereTheCommandFails) {
  programs_.say("bjobs", "1 RUN a\n", "LSF is down. Please wait ...\n", 255);
  const QueryResult queue = system_->ask({"1"});
  EXPECT_EQ(queue.failure, "bjobs: LSF is down. Please wait ...");
  EXPECT_THAT(queue.jobs, IsEmpty());
}

TEST_F(CommandSystemTest, IsInTroubleWhereTheFirstProgramOfAPipelineFails) {
  programs_.write("qselect", "[ \"$down\" ] && { echo cannot connect >&2; exit 255; }; echo 7");
  programs_.write("list", "while read -r id; do echo \"$id RUN a\"; done");
  SystemOptions piped = options();
  piped.commands.poll = "qselect | list";
  const auto system = system_of(piped);
  EXPECT_EQ(system->ask_for_all().failure, "");
  EXPECT_EQ(system->ask_for_all().jobs.size(), 1U);
  const support::EnvironmentVariable down("down", "1");
  EXPECT_EQ(system->ask_for_all().failure, "qselect: cannot connect");
  piped.commands.poll = "qselect; echo 8 RUN b";
  EXPECT_THAT(system_of(piped)->ask_for_all().failure, HasSubstr("cannot connect"));
}

TEST_F(CommandSystemTest, TellsWhichProgramHasNotAnswered) {
  const std::string told = (programs_.path() / "told").string();
  programs_.write("bjobs", "until [ -e " + shell_quote(told) + " ]; do :; done");
  tell_slow_answers([&](const std::string& program) { write_file_atomically(told, program); });
  EXPECT_EQ(system_->ask_for_all().failure, "");
  tell_slow_answers({});
  EXPECT_EQ(read_file(told), "bjobs");
}

TEST_F(CommandSystemTest, CancelsOneJobAfterAnother) {
  programs_.say("bkill", "");
  EXPECT_EQ(system_->cancel({"1", "2[3]"}), "");
  EXPECT_THAT(programs_.calls("bkill"), ElementsAre("1", "2[3]"));
}

TEST_F(CommandSystemTest, SaysWhatFailedInCancelling) {
  programs_.say("bkill", "", "Job <1>: permission denied\n", 255);
  EXPECT_EQ(system_->cancel({"1", "2"}), "bkill: Job <1>: permission denied");
}

TEST_F(CommandSystemTest, CancelsTheOthersWhereAJobHasEndedAlready) {
  programs_.write("bkill", "[ $1 != 2 ] || { echo 'Job has finished' >&2; exit 35; }");
  programs_.say("bjobs", "1 RUN a\n2 DONE b\n3 RUN c\n");
  EXPECT_EQ(system_->cancel({"1", "2", "3"}), "");
  EXPECT_THAT(programs_.calls("bkill"), ElementsAre("1", "2", "3"));
  programs_.say("bjobs", "1 RUN a\n");  // it has forgotten the second
  EXPECT_EQ(system_->cancel({"2"}), "");
  programs_.say("bjobs", "1 RUN a\n2 RUN b\n");
  EXPECT_EQ(system_->cancel({"1", "2", "3"}), "bkill: Job has finished");
}

/// What is in brackets, or escaped, or not captured, opens no group.
TEST_F(CommandSystemTest, CountsGroupsAsTheyStandInThePattern) {
  SystemOptions other = options();
  for (const char* pattern :
       {R"(^(\w+ )?(?<id>\d+) (?<state>\S+))", R"(^(?:job )?(?<id>\d+) (?<state>\S+))",
        R"(^[^(]*\(?(?<id>\d+)\)? (?<state>\S+))", R"(^[(]?(?<id>\d+) (?<state>\S+))"}) {
    other.commands.line_pattern = pattern;
    programs_.say("bjobs", "7 RUN\n");
    const QueryResult queue = system_of(other)->ask_for_all();
    ASSERT_EQ(queue.jobs.size(), 1U) << pattern << queue.failure;
    EXPECT_EQ(queue.jobs[0].id, "7") << pattern;
    EXPECT_EQ(queue.jobs[0].word, "RUN") << pattern;
    EXPECT_EQ(queue.jobs[0].name, "") << pattern;
  }
}

/// What is wrong with the commands.
std::string mistake(void (*change)(Commands&)) {
  SystemOptions wrong = options();
  change(wrong.commands);
  return support::error_of([&] { system_of(wrong); });
}

TEST(CommandSystem, NeedsRegularExpressions) {
  EXPECT_THAT(mistake([](Commands& t) { t.id_pattern = "(\\d+"; }),
              testing::StartsWith("error: '(\\d+' is not a regular expression: "));
  EXPECT_THAT(mistake([](Commands& t) { t.line_pattern = "[a"; }),
              testing::StartsWith("error: '[a' is not a regular expression: "));
}

TEST(CommandSystem, NeedsTheGroupsThatAreUsed) {
  EXPECT_EQ(mistake([](Commands& t) { t.line_pattern = "^(?<id>\\d+) (\\S+)"; }),
            "error: the line pattern of lsf has no group (?<state>...)");
  EXPECT_EQ(mistake([](Commands& t) { t.line_pattern = "^(?<state>\\S+)"; }),
            "error: the line pattern of lsf has no group (?<id>...)");
  EXPECT_EQ(mistake([](Commands& t) { t.id_pattern = "\\d+"; }),
            "error: the id pattern of lsf has no group (...) for the job's id");
}

TEST(CommandSystem, NeedsStatesThatMeanSomething) {
  EXPECT_EQ(mistake([](Commands& t) { t.states["ZOMBI"] = "undead"; }),
            "error: state ZOMBI of lsf cannot mean 'undead'\n"
            "hint: known: pending, running, blocked, done, failed, timeout, node_fail, boot_fail, "
            "preempted, out_of_memory, cancelled, deadline, launch_failure, lost");
}

}  // namespace
}  // namespace bench::machine
