#include "machine/fixture.hpp"
#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/eventually.hpp"
#include "support/patience.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/machine/file_operation.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/local.hpp>
#include <bench/machine/sentinel.hpp>

namespace bench::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST_F(LocalFixture, TellsOfSuccess) {
  const Completion completion = run(job({"echo one", "echo two; echo warning >&2"}));
  EXPECT_TRUE(completion.success()) << completion.reason;
  EXPECT_EQ(completion.workpackage, 7);
  EXPECT_EQ(completion.exit_code, 0);
  EXPECT_EQ(completion.reason, "");
  EXPECT_EQ(completion.host, host_name());
  EXPECT_LE(completion.started_unix_s, completion.ended_unix_s);
  EXPECT_EQ(output(), "one\ntwo\n");
  EXPECT_EQ(output("stderr"), "warning\n");
  EXPECT_EQ(backend_.active(), 0U);
}

TEST_F(LocalFixture, LeavesTheSentinelOfASuccess) {
  const Job one = job({"true", "true"});
  run(one);
  const auto told = completion_from_sentinel(one);
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->success());
}

TEST_F(LocalFixture, StopsAtTheFirstCommandThatFails) {
  const Completion completion =
      run(job({"true", "echo first >&2; echo 'no such model' >&2; exit 3", "echo never"}));
  EXPECT_FALSE(completion.success());
  EXPECT_FALSE(completion.outcome == Outcome::interrupted);
  EXPECT_EQ(completion.exit_code, 3);
  EXPECT_EQ(completion.reason,
            "`echo first >&2; echo 'no such model' >&2; exit 3`: exit code 3: no such model");
  EXPECT_EQ(output(), "");
}

TEST_F(LocalFixture, SaysWhichSignalEndedACommand) {
  const Completion completion = run(job({"kill -KILL $$"}));
  EXPECT_EQ(completion.reason, "`kill -KILL $$`: signal 9 (Killed)");
  EXPECT_EQ(completion.exit_code, std::nullopt);
}

TEST_F(LocalFixture, CountsTheLastCommandOfASnippet) {
  EXPECT_TRUE(run(job({"false; true"})).success());
  EXPECT_EQ(run(job({"set -e; false; true"})).reason, "`set -e; false; true`: exit code 1");
}

struct LocalCase {
  std::string name;
  std::string first;
  std::string second;
  std::string expected;
};

class HandOverTest : public LocalFixture, public testing::WithParamInterface<LocalCase> {};

TEST_P(HandOverTest, GivesTheNextCommandWhatWasExported) {
  const support::EnvironmentVariable inherited("BENCH_TEST_OLD", "old");
  const Completion completion = run(job({GetParam().first, GetParam().second}));
  EXPECT_TRUE(completion.success()) << completion.reason;
  EXPECT_EQ(output(), GetParam().expected);
  EXPECT_EQ(output("stderr"), "");
}

INSTANTIATE_TEST_SUITE_P(
    Commands, HandOverTest,
    testing::Values(
        LocalCase{"Exported", "export A=1", "echo [$A]", "[1]\n"},
        LocalCase{"NotExported", "A=1", "echo [$A]", "[]\n"},
        LocalCase{"Inherited", "true", "echo [$BENCH_TEST_OLD]", "[old]\n"},
        LocalCase{"Unset", "unset BENCH_TEST_OLD", "echo [$BENCH_TEST_OLD]", "[]\n"},
        LocalCase{"TrailingComment", "export A=1 # note", "echo [$A]", "[1]\n"},
        LocalCase{"HereDocumentAtTheEnd", "export A=1\ncat <<END\nhi\nEND", "echo [$A]",
                  "hi\n[1]\n"},
        LocalCase{"BackgroundAtTheEnd", "export A=1; true &", "echo [$A]", "[1]\n"},
        LocalCase{"Exit", "export A=1; exit 0", "echo [$A][$BENCH_TEST_OLD]", "[][old]\n"},
        LocalCase{"Exec", "export A=1; exec true", "echo [$A][$BENCH_TEST_OLD]", "[][old]\n"},
        LocalCase{"SeveralLines", "export A='x\nB=1'", "echo \"$A[$B]\"", "x\nB=1[]\n"},
        LocalCase{"PathWithoutPrograms", "export PATH=/nowhere", "echo $PATH[$BENCH_TEST_OLD]",
                  "/nowhere[old]\n"},
        LocalCase{"Directory", "cd /; mkdir -p x 2> /dev/null; cd /", "basename \"$PWD\"",
                  "work\n"},
        LocalCase{"Attempt", "true", "test -n \"$BENCH_ATTEMPT\" && echo known", "known\n"}),
    [](const auto& one) { return one.param.name; });

TEST_F(LocalFixture, AppendsToTheFilesOfEachCommand) {
  directory_.write("work/stdout", "before\n");
  Job two = job({"echo one", "echo two"});
  two.snippets[1].stdout_file = work_ / "other";
  run(two);
  EXPECT_EQ(output(), "before\none\n");
  EXPECT_EQ(output("other"), "two\n");
}

TEST_F(LocalFixture, UsesTheShellThatJubeUsersChoose) {
  const support::EnvironmentVariable shell("JUBE_EXEC_SHELL", "/bin/bash");
  run(job({"echo ${BASH_VERSION:+bash}"}));
  EXPECT_EQ(output(), "bash\n");
}

TEST_F(LocalFixture, RefusesWhatCannotStart) {
  Job one = job({"true"});
  one.snippets[0].stdout_file = "/no/such/file";
  EXPECT_EQ(support::error_of([&] { backend_.start(one); }),
            "error: cannot write /no/such/file: No such file or directory");
  EXPECT_EQ(backend_.active(), 0U);
}

TEST_F(LocalFixture, FailsTheWorkpackageWhoseNextCommandCannotStart) {
  Job two = job({"true", "true"});
  two.snippets[1].stdout_file = "/no/such/file";
  const Completion completion = run(two);
  EXPECT_FALSE(completion.success());
  EXPECT_EQ(completion.workpackage, 7);
  EXPECT_EQ(completion.reason, "cannot write /no/such/file: No such file or directory");
}

/// The process whose id a command has left in the file `pid`.
int process_in(const std::filesystem::path& work) {
  const std::string pid = support::wait_for_line((work / "pid").string());
  return pid.empty() ? -1 : std::stoi(pid);
}

TEST_F(LocalFixture, EndsTheGroupAtTheTimeout) {
  // The second process ignores the polite request.
  Job one = job({"(trap '' TERM; sleep 1000) & echo $! > pid; wait"});
  one.timeout_s = 2;
  const Completion completion = run(one);
  EXPECT_FALSE(completion.success());
  EXPECT_EQ(completion.reason, "timeout after 2.0 s");
  EXPECT_EQ(completion.exit_code, std::nullopt);
  const int grandchild = process_in(work_);
  EXPECT_TRUE(support::eventually([&] { return support::is_gone(grandchild); }));
}

TEST_F(LocalFixture, EndsACommandThatIgnoresTheRequest) {
  Job one = job({"trap '' TERM; sleep 1000 & echo $! > pid; while :; do wait; sleep 1; done"});
  one.timeout_s = 1;
  EXPECT_EQ(run(one).reason, "timeout after 1.0 s");
  const int grandchild = process_in(work_);
  EXPECT_TRUE(support::eventually([&] { return support::is_gone(grandchild); }));
}

TEST_F(LocalFixture, EndsWhatItAbandons) {
  backend_.start(job({"sleep 1000 & echo $! > pid; wait"}));
  const int grandchild = process_in(work_);
  ASSERT_FALSE(support::is_gone(grandchild));
  EXPECT_THAT(backend_.terminate_all(), ElementsAre(7));
  EXPECT_EQ(backend_.active(), 0U);
  EXPECT_THAT(backend_.wait(0), IsEmpty());
  EXPECT_TRUE(support::eventually([&] { return support::is_gone(grandchild); }));
}

TEST_F(LocalFixture, LetsWhatItLeavesGoOn) {
  const Job one = job({"echo $$ > pid; while ! test -e go; do sleep 0.05; done"});
  {
    LocalBackend backend(evaluator_);
    backend.start(one);
    process_in(work_);
    backend.detach();
    EXPECT_EQ(backend.active(), 0U);
  }
  EXPECT_FALSE(completion_from_sentinel(one));
  const std::ofstream go(work_ / "go");
  EXPECT_TRUE(support::eventually([&] {
    const auto told = completion_from_sentinel(one);
    return told && told->success();
  }));
}

TEST_F(LocalFixture, AsksAllThatItAbandonsToEndBeforeItWaitsForAny) {
  // The second looks, when it is asked, whether the first, which does not listen, still runs.
  backend_.start(job({"trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done"}));
  const int first = process_in(work_);
  backend_.start(
      job({"trap 'kill -0 $(cat pid) && touch together; exit' TERM; touch ready; "
           "while :; do sleep 0.1; done"}));
  ASSERT_TRUE(support::eventually([&] { return std::filesystem::exists(work_ / "ready"); }));
  EXPECT_EQ(backend_.terminate_all().size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(work_ / "together"));
  EXPECT_TRUE(support::is_gone(first));
}

TEST_F(LocalFixture, HasRoomForAsManyAsAllAllow) {
  EXPECT_EQ(backend_.free_slots(3), 3U);
  EXPECT_EQ(backend_.free_slots(1), 1U);
  Job first = job({"sleep 1000"});
  first.at_once = 3;
  backend_.start(std::move(first));
  EXPECT_EQ(backend_.free_slots(5), 2U);
  EXPECT_EQ(backend_.free_slots(1), 0U);
  Job second = job({"sleep 1000"});
  second.at_once = 2;
  backend_.start(std::move(second));
  EXPECT_EQ(backend_.free_slots(3), 0U);
  EXPECT_EQ(backend_.active(), 2U);
}

TEST_F(LocalFixture, HasNoRoomBesideAnAttemptThatRunsAlone) {
  backend_.start(script_job("exec sleep 1000\n"));
  EXPECT_EQ(backend_.free_slots(16), 0U);
  EXPECT_EQ(backend_.free_slots(1), 0U);
}

TEST_F(LocalFixture, RunsAttemptsAtTheSameTime) {
  // Each waits for the other.
  ASSERT_EQ(::mkfifo((work_ / "fifo").c_str(), 0600), 0);
  Job writer = job({"echo hello > fifo"});
  writer.workpackage = 8;
  backend_.start(job({"cat fifo"}));
  backend_.start(writer);
  EXPECT_TRUE(next().success());
  support::eventually([&] { return !backend_.wait(1).empty() || backend_.active() == 0; });
  EXPECT_EQ(output(), "hello\n");
}

TEST_F(LocalFixture, TakesTheEndOfAScriptFromItsSentinel) {
  const Completion completion =
      run(script_job("echo out; echo bad >&2\n"
                     "printf 'attempt=%s\\nexit_code=5\\nstarted_unix_s=1.5\\nended_unix_s=2.5\\n"
                     "host=node9\\n' \"$BENCH_ATTEMPT\" > ../sentinel\n"));
  EXPECT_FALSE(completion.success());
  EXPECT_EQ(completion.exit_code, 5);
  EXPECT_EQ(completion.reason, "exit code 5: bad");
  EXPECT_EQ(completion.host, "node9");
  EXPECT_EQ(completion.started_unix_s, 1.5);
  EXPECT_EQ(completion.ended_unix_s, 2.5);
  EXPECT_EQ(output(), "out\n");
}

TEST_F(LocalFixture, FailsAScriptThatLeavesNoSentinel) {
  const Completion completion = run(script_job("echo broken >&2; exit 0\n"));
  EXPECT_FALSE(completion.success());
  EXPECT_EQ(completion.reason, "the job script ended without its sentinel (exit code 0): broken");
}

TEST_F(LocalFixture, RunsACommandWhereItSays) {
  Job one = job({"pwd > here; echo out"});
  one.snippets[0].directory = work_ / "build" / "gpu";
  EXPECT_TRUE(run(one).success());
  EXPECT_EQ(read_file(work_ / "build" / "gpu" / "here"), (work_ / "build/gpu").string() + "\n");
  EXPECT_EQ(output(), "out\n");
}

TEST_F(LocalFixture, WorksOnFilesBetweenTheCommands) {
  Job one = job({"export WORD=made; echo a b > made", "cat copied"});
  one.snippets[1].before = {PlaceFiles{.run = directory_.path(),
                                       .base = work_,
                                       .source_dir = "",
                                       .paths = {"$WORD"},
                                       .names = {"copied"},
                                       .target_dir = "",
                                       .work = work_,
                                       .place = {}},
                            SubstituteFile{.run = directory_.path(),
                                           .in = work_ / "copied",
                                           .out = work_ / "copied",
                                           .replacements = {{.source = "b", .dest = "c"}},
                                           .place = {}}};
  EXPECT_TRUE(run(one).success());
  EXPECT_EQ(output(), "a c\n");
}

TEST_F(LocalFixture, FailsWhereTheWorkOnFilesFails) {
  Job one = job({"true", "echo never"});
  one.snippets[1].before = {PlaceFiles{.run = directory_.path(),
                                       .base = work_,
                                       .source_dir = "",
                                       .paths = {"x"},
                                       .target_dir = "",
                                       .work = work_,
                                       .place = {}}};
  const Completion completion = run(one);
  EXPECT_FALSE(completion.success());
  EXPECT_EQ(completion.reason, "no file matches 'x'");
  EXPECT_EQ(output(), "");
}

TEST_F(LocalFixture, ExecutesNothingForAnEmptyText) {
  Job one = job({"", ""});
  one.snippets[1].before = {KeepBaseEnvironment{directory_.path()}};
  EXPECT_TRUE(run(one).success());
  EXPECT_TRUE(std::filesystem::exists(directory_.path() / "environment.base"));
  EXPECT_FALSE(std::filesystem::exists(work_ / "stdout"));
}

TEST_F(LocalFixture, TellsTheEnvironmentAtTheEnd) {
  Job one = job({"export FIRST=1", "export SECOND='two\nlines'; unset FIRST"});
  one.keep_environment = true;
  const Completion completion = run(one);
  ASSERT_TRUE(completion.environment);
  EXPECT_THAT(*completion.environment, testing::Contains(testing::Pair("SECOND", "two\nlines")));
  EXPECT_THAT(*completion.environment, testing::Not(testing::Contains(testing::Key("FIRST"))));
}

class OpenEndTest : public LocalFixture, public testing::WithParamInterface<const char*> {};

/// What stands at the end of a command cannot swallow what is appended to it.
TEST_P(OpenEndTest, LeavesSentinelAndEnvironment) {
  const Job one = job({std::string("export KEPT=1; ") + GetParam(), "echo kept=$KEPT"});
  EXPECT_TRUE(run(one).success());
  EXPECT_THAT(output(), testing::HasSubstr("kept=1\n"));
  EXPECT_TRUE(completion_from_sentinel(one));
}

INSTANTIATE_TEST_SUITE_P(Texts, OpenEndTest,
                         testing::Values("echo backslash \\", "cat << EOT\nnever closed",
                                         "echo note # comment", "true &", "echo \"$#\""));

/// An attempt whose bench is gone while its process still runs.
class OrphanTest : public LocalFixture {
 protected:
  OrphanTest() {
    const Job left = bare_job();
    const auto output =
        run_command({.arguments = {"/bin/sh", "-c", "sleep 1000 >&- 2>&- & echo $!"},
                     .directory = {},
                     .environment = left.environment},
                    support::far_too_long_s);
    pid_ = std::stoi(output.standard_output);
  }
  ~OrphanTest() override { ::kill(pid_, SIGKILL); }

  int pid_ = -1;
};

TEST_F(OrphanTest, IsFoundByItsAttempt) {
  const std::map<std::string, std::vector<int>> found =
      find_orphans({uuid_, "00000000-0000-4000-8000-000000000000"});
  EXPECT_THAT(found, ElementsAre(Pair(uuid_, ElementsAre(pid_))));
  EXPECT_THAT(find_orphans({"00000000-0000-4000-8000-000000000000"}), IsEmpty());
  EXPECT_THAT(find_orphans({}), IsEmpty());
}

TEST_F(OrphanTest, IsEnded) {
  EXPECT_TRUE(is_alive(pid_));
  end_processes({pid_});
  EXPECT_FALSE(is_alive(pid_));
  EXPECT_THAT(find_orphans({uuid_}), IsEmpty());
}

TEST_F(OrphanTest, TellsByItsSentinelOnceAdopted) {
  const Job left = bare_job();
  backend_.adopt(left, {pid_});
  EXPECT_EQ(backend_.active(), 1U);
  EXPECT_THAT(backend_.wait(0), IsEmpty());
  directory_.write("sentinel", "attempt=" + uuid_ + "\nexit_code=0\n");
  end_processes({pid_});
  const Completion completion = next();
  EXPECT_TRUE(completion.success());
  EXPECT_EQ(completion.workpackage, 7);
}

TEST_F(OrphanTest, IsNotWaitedForOnceItsAttemptHasEnded) {
  backend_.adopt(bare_job(), {pid_});
  directory_.write("sentinel", "attempt=" + uuid_ + "\nexit_code=0\n");
  EXPECT_TRUE(next().success());
  EXPECT_TRUE(is_alive(pid_)) << "left in the background, as any command may do";
}

TEST_F(OrphanTest, IsEndedAtItsTimeout) {
  Job left = bare_job();
  left.timeout_s = 100;
  backend_.adopt(left, {pid_}, 99.9);
  const Completion completion = next();
  EXPECT_TRUE(completion.outcome == Outcome::timeout);
  EXPECT_EQ(completion.reason, "timeout after 1 min 40 s");
  EXPECT_FALSE(is_alive(pid_));
}

TEST_F(OrphanTest, CountsAsInterruptedWithoutASentinel) {
  backend_.adopt(bare_job(), {pid_});
  end_processes({pid_});
  const Completion completion = next();
  EXPECT_TRUE(completion.outcome == Outcome::interrupted);
  EXPECT_FALSE(completion.success());
  EXPECT_EQ(completion.reason, "its processes are gone without a sentinel");
}

TEST_F(OrphanTest, IsEndedWithWhatItsBackendAbandons) {
  backend_.adopt(bare_job(), {pid_});
  EXPECT_THAT(backend_.terminate_all(), ElementsAre(7));
  EXPECT_FALSE(is_alive(pid_));
}

}  // namespace
}  // namespace bench::machine
