#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/eventually.hpp"
#include "support/patience.hpp"
#include "support/temp_directory.hpp"
#include "support/vfork.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench {
namespace {

using support::error_of;
using support::eventually;
using support::TempDirectory;

ProcessSpec sh(const std::string& script) {
  return {.arguments = {"/bin/sh", "-c", script}, .directory = {}, .environment = std::nullopt};
}

struct ExitCase {
  std::string name;
  std::string script;
  ExitStatus status;
  std::string description;
};

class ExitStatusTest : public testing::TestWithParam<ExitCase> {};

TEST_P(ExitStatusTest, TellsHowTheProcessEnded) {
  const ExitStatus status = Process(sh(GetParam().script)).wait();
  EXPECT_EQ(status, GetParam().status);
  EXPECT_EQ(status.success(), GetParam().name == "Success");
  EXPECT_EQ(status.description(), GetParam().description);
}

INSTANTIATE_TEST_SUITE_P(
    Ends, ExitStatusTest,
    testing::Values(ExitCase{"Success", "exit 0", {0, 0}, "exit code 0"},
                    ExitCase{"Code", "exit 3", {3, 0}, "exit code 3"},
                    ExitCase{"HighCode", "exit 255", {255, 0}, "exit code 255"},
                    ExitCase{"Kill", "kill -9 $$", {0, 9}, "signal 9 (Killed)"},
                    ExitCase{"Terminate", "kill -TERM $$", {0, 15}, "signal 15 (Terminated)"}),
    [](const auto& one) { return one.param.name; });

TEST(Process, RefusesAProgramThatIsNotThere) {
  if (!support::has_vfork())
    GTEST_SKIP() << "vfork is fork here, so the error of exec is lost";
  EXPECT_EQ(error_of([] { Process({.arguments = {"no-such-program"}}); }),
            "error: cannot start 'no-such-program': not found on PATH");
  const std::string said = error_of([] { Process({.arguments = {"/no/such"}}); });
  EXPECT_TRUE(said.starts_with("error: cannot start '/no/such': ")) << said;
  EXPECT_TRUE(said.ends_with("No such file or directory")) << said;
}

TEST(Process, RefusesADirectoryThatIsNotThere) {
  if (!support::has_vfork())
    GTEST_SKIP() << "vfork is fork here, so the error of exec is lost";
  ProcessSpec spec = sh("true");
  spec.directory = "/no/such";
  const std::string said = error_of([&] { Process process(spec); });
  EXPECT_EQ(said, "error: cannot start '/bin/sh': /no/such: No such file or directory");
}

TEST(Process, RefusesAFileThatCannotBeExecuted) {
  if (!support::has_vfork())
    GTEST_SKIP() << "vfork is fork here, so the error of exec is lost";
  const TempDirectory directory;
  const std::string file = directory.write("data", "text").string();
  const std::string said = error_of([&] { Process({.arguments = {file}}); });
  EXPECT_TRUE(said.ends_with("Permission denied")) << said;
}

/// What follows it would be lost.
TEST(Process, RefusesAZeroByte) {
  const std::string text("a\0; false", 10);
  EXPECT_EQ(support::error_of([&] {
              Process({.arguments = {"sh", "-c", text}});
            }),
            "error: cannot start 'sh': an argument has a zero byte");
  EXPECT_EQ(support::error_of([&] {
              Process({.arguments = {"sh"}, .environment = Environment{{"X", text}}});
            }),
            "error: cannot start 'sh': the variable X has a zero byte");
}

TEST(Process, RunsInItsDirectory) {
  const TempDirectory directory;
  ProcessSpec spec = sh("pwd -P");
  spec.directory = directory.path();
  EXPECT_EQ(run_command(spec, support::far_too_long_s).standard_output,
            directory.path().string() + "\n");
}

TEST(Process, HasExactlyTheEnvironmentItWasGiven) {
  ProcessSpec spec{.arguments = {"env"}, .directory = {}, .environment = Environment{}};
  set_variable(*spec.environment, "A", "1");
  set_variable(*spec.environment, "B", "x=y z");
  set_variable(*spec.environment, "A", "2");
  EXPECT_EQ(run_command(spec, support::far_too_long_s).standard_output, "A=2\nB=x=y z\n");
}

TEST(Process, HasThisEnvironmentOtherwise) {
  const support::EnvironmentVariable variable("BENCH_TEST_A", "here");
  EXPECT_EQ(run_command(sh("echo $BENCH_TEST_A"), support::far_too_long_s).standard_output,
            "here\n");
  const Environment environment = current_environment();
  EXPECT_NE(std::find(environment.begin(), environment.end(),
                      std::pair<std::string, std::string>("BENCH_TEST_A", "here")),
            environment.end());
}

TEST(Process, InheritsNoOtherDescriptor) {
  std::array<int, 2> open_ones{};
  ASSERT_EQ(::pipe(open_ones.data()), 0);
  // 3 is the directory that ls itself reads.
  EXPECT_EQ(run_command(sh("ls /proc/self/fd"), support::far_too_long_s).standard_output,
            "0\n1\n2\n3\n");
  ::close(open_ones[0]);
  ::close(open_ones[1]);
}

TEST(Process, ReadsNothingUnlessToldOtherwise) {
  EXPECT_EQ(Process({.arguments = {"cat"}}).wait().code, 0);
}

TEST(Process, LeadsAProcessGroupOfItsOwn) {
  const auto output = run_command(
      sh("read -r pid name state parent group rest < /proc/self/stat; echo $pid $group"),
      support::far_too_long_s);
  const auto blank = output.standard_output.find(' ');
  ASSERT_NE(blank, std::string::npos);
  EXPECT_EQ(output.standard_output.substr(0, blank) + "\n",
            output.standard_output.substr(blank + 1));
}

TEST(Process, LeadsASessionWithoutATerminal) {
  const CommandOutput told = run_command(
      sh("cut -d ' ' -f 6 /proc/$$/stat; echo $$; (: < /dev/tty) 2>/dev/null || echo none"),
      support::far_too_long_s);
  const auto lines = split(told.standard_output, "\n");
  EXPECT_EQ(lines.at(0), lines.at(1)) << "it leads its session";
  EXPECT_EQ(lines.at(2), "none");
}

TEST(Process, EndsByABrokenPipeAlsoWhereThisProcessIgnoresIt) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const ExitStatus status = Process(sh("kill -PIPE $$; exit 0")).wait();
  ::signal(SIGPIPE, before);
  EXPECT_EQ(status, (ExitStatus{0, SIGPIPE}));
}

TEST(Process, HasNoBlockedSignals) {
  sigset_t term;
  sigset_t before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &term, &before), 0);
  const ExitStatus status = Process(sh("kill -TERM $$; exit 0")).wait();
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(status.signal, SIGTERM);
}

TEST(Process, LeavesTheSignalMaskOfThisProcessAsItWas) {
  Process(sh("true")).wait();
  sigset_t now;
  ASSERT_EQ(::sigprocmask(SIG_SETMASK, nullptr, &now), 0);
  EXPECT_EQ(sigismember(&now, SIGTERM), 0);
}

TEST(Process, TellsWhenItEnds) {
  std::array<int, 2> gate{};
  ASSERT_EQ(::pipe2(gate.data(), O_CLOEXEC), 0);
  ProcessSpec spec = sh("read line; exit 4");
  spec.stdin_fd = gate[0];
  Process process(spec);
  EXPECT_EQ(process.poll(), std::nullopt);
  pollfd wait{process.pidfd(), POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  ASSERT_EQ(::write(gate[1], "\n", 1), 1);
  EXPECT_EQ(::poll(&wait, 1, 60'000), 1);
  EXPECT_EQ(process.wait().code, 4);
  EXPECT_EQ(process.poll()->code, 4);
  ::close(gate[0]);
  ::close(gate[1]);
}

/// A shell with a child of its own; gives the child's id.
int grandchild_of(const ProcessSpec& spec, const TempDirectory& directory,
                  std::optional<Process>& process) {
  process.emplace(spec);
  const std::string pid = support::wait_for_line((directory.path() / "pid").string());
  return pid.empty() ? -1 : std::stoi(pid);
}

TEST(Process, RunsWithoutADescriptorToWatchItBy) {
  Process(sh("true")).wait();  // opens what stays open
  std::vector<UniqueFd> all;
  for (int fd = 0; (fd = ::dup(0)) >= 0;)
    all.emplace_back(fd);
  Process process(sh("exit 3"));
  EXPECT_EQ(process.pidfd(), -1);
  EXPECT_EQ(process.wait().code, 3);
}

TEST(Process, TakesItsWholeGroupAlongWhenItGoes) {
  const TempDirectory directory;
  ProcessSpec spec = sh("sleep 1000 & echo $! > pid; wait");
  spec.directory = directory.path();
  std::optional<Process> process;
  const int grandchild = grandchild_of(spec, directory, process);
  const int child = process->pid();
  ASSERT_FALSE(support::is_gone(grandchild));
  process.reset();
  EXPECT_TRUE(support::is_gone(child));
  EXPECT_TRUE(support::eventually([&] { return support::is_gone(grandchild); }));
}

TEST(Process, SurvivesBeingMoved) {
  std::optional<Process> first(sh("sleep 1000"));
  const int pid = first->pid();
  Process second = std::move(*first);
  first.reset();
  EXPECT_FALSE(support::is_gone(pid));
  second.signal_group(SIGTERM);
  EXPECT_EQ(second.wait().signal, SIGTERM);
}

TEST(RunCommand, CollectsBothOutputsAndTheStatus) {
  const auto output = run_command(sh("echo out; echo err >&2; exit 2"), support::far_too_long_s);
  EXPECT_EQ(output.standard_output, "out\n");
  EXPECT_EQ(output.standard_error, "err\n");
  EXPECT_EQ(output.status.code, 2);
}

TEST(RunCommand, MovesMoreThanAPipeHolds) {
  std::string input;
  for (int k = 0; input.size() < 3'000'000; ++k)
    input += std::to_string(k) + '\n';
  const auto output =
      run_command(sh("cat; cat /proc/self/stat > /dev/null"), support::far_too_long_s, input);
  EXPECT_TRUE(output.standard_output == input);
  EXPECT_TRUE(output.status.success());
}

TEST(RunCommand, TakesACommandThatDoesNotReadItsInput) {
  // A command gone early must not end this process by a broken pipe.
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const auto output =
      run_command(sh("exec 0<&-; echo done"), support::far_too_long_s, std::string(500'000, 'x'));
  ::signal(SIGPIPE, before);
  EXPECT_EQ(output.standard_output, "done\n");
}

TEST(RunCommand, EndsTheWholeGroupAtTheTimeout) {
  const TempDirectory directory;
  ProcessSpec spec = sh("sleep 1000 & echo $! > pid; wait");
  spec.directory = directory.path();
  // Long enough for the shell to have written the file on a busy machine.
  EXPECT_EQ(error_of([&] { run_command(spec, 2); }), "error: no answer within 2 s");
  const std::string pid = support::wait_for_line((directory.path() / "pid").string());
  ASSERT_NE(pid, "");
  EXPECT_TRUE(support::eventually([&] { return support::is_gone(std::stoi(pid)); }));
}

// Where there is no pidfd a thread waits for each child: tests/CMakeLists.txt runs these tests
// again on such a kernel.
bool has_ended(const Process& process, int timeout_ms) {
  pollfd wait{process.pidfd(), POLLIN, 0};
  return ::poll(&wait, 1, timeout_ms) == 1;
}

TEST(EndWatch, TellsOfEveryOneOfManyChildren) {
  std::vector<Process> all;
  for (int k = 0; k < 50; ++k)
    all.emplace_back(sh("exit " + std::to_string(k)));
  for (int k = 49; k >= 0; --k) {
    Process& one = all[static_cast<std::size_t>(k)];
    ASSERT_TRUE(has_ended(one, 60'000));
    EXPECT_EQ(one.poll(), (ExitStatus{k, 0}));
  }
}

TEST(EndWatch, LeavesTheStatusToWhoeverAsksForIt) {
  Process process(sh("exit 7"));
  ASSERT_TRUE(has_ended(process, 60'000));
  ASSERT_TRUE(has_ended(process, 0));
  EXPECT_EQ(process.wait().code, 7);
}

TEST(EndWatch, OfAReleasedChildHoldsNobodyUp) {
  std::optional<Process> process(sh("exec sleep 1000"));
  const int pid = process->pid();
  process->release();
  process.reset();
  EXPECT_FALSE(support::is_gone(pid));
  ::kill(pid, SIGKILL);
}

TEST(EndWatch, TellsOfAChildThatIsStoppedOnlyWhenItEnds) {
  Process process(sh("kill -STOP $$; exit 5"));
  EXPECT_FALSE(has_ended(process, 50));
  while (!has_ended(process, 10))
    process.signal_group(SIGCONT);
  EXPECT_EQ(process.wait().code, 5);
}

TEST(Proc, AProcessIsAliveUntilItHasEndedAlsoBeforeItIsReaped) {
  EXPECT_TRUE(is_alive(::getpid()));
  const int child = ::fork();
  if (child == 0)
    ::_exit(0);
  EXPECT_TRUE(eventually([&] { return !is_alive(child); })) << "a zombie";
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_alive(child));
}

// The kernel refuses to read a file that was opened before its process was reaped.
TEST(Proc, AProcessMayGoWhileItsFilesAreRead) {
  for (int k = 0; k < 300; ++k) {
    const int child = ::fork();
    if (child == 0)
      ::_exit(0);
    std::thread reaper([child] { ::waitpid(child, nullptr, 0); });
    EXPECT_NO_THROW(while (::kill(child, 0) == 0) {
      is_alive(child);
      variable_of(child, "ONE");
    });
    reaper.join();
  }
}

TEST(Proc, AVariableIsThatOfTheProgramsBegin) {
  if (!support::has_vfork())
    GTEST_SKIP() << "vfork is fork here, so a child may not have begun its program";
  Process sleeper({.arguments = {"/bin/sleep", "1000"},
                   .directory = {},
                   .environment = Environment{{"ONE", "1=2"}, {"ONE_MORE", ""}}});
  EXPECT_EQ(variable_of(sleeper.pid(), "ONE"), "1=2");
  EXPECT_EQ(variable_of(sleeper.pid(), "ONE_MORE"), "");
  EXPECT_EQ(variable_of(sleeper.pid(), "ON"), "");
}

TEST(Proc, ProcessesWithoutVariablesAreNotWaitedFor) {
  Process sleeper(
      {.arguments = {"/bin/sleep", "1000"}, .directory = {}, .environment = Environment{}});
  EXPECT_EQ(variable_of(sleeper.pid(), "ONE"), "");
  constexpr int of_the_kernel = 2;
  EXPECT_EQ(variable_of(of_the_kernel, "ONE"), "");
  ::kill(sleeper.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_alive(sleeper.pid()); }));
  EXPECT_EQ(variable_of(sleeper.pid(), "ONE"), "") << "a zombie";
}

// One that begins has no environment yet, for microseconds: seen only where that is waited for.
TEST(Proc, AVariableIsSeenFromTheFirstMomentOfAProgram) {
  if (!support::has_vfork())
    GTEST_SKIP() << "vfork is fork here, so a child may not have begun its program";
  for (int k = 0; k < 200; ++k) {
    Process sleeper({.arguments = {"/bin/sleep", "1000"},
                     .directory = {},
                     .environment = Environment{{"ONE", "1"}}});
    ASSERT_EQ(variable_of(sleeper.pid(), "ONE"), "1") << "process " << k;
  }
}

}  // namespace
}  // namespace bench
