#include "bench_program.hpp"
#include "support/eventually.hpp"
#include "support/patience.hpp"

#include <string>

#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using support::eventually;
using support::is_gone;
using testing::HasSubstr;
using testing::Not;

/// A command that ignores the request to end, as does what it has started.
constexpr const char* stubborn =
    "trap '''' TERM; (echo $$BASHPID > ../../../grandchild; exec sleep 1000) & "
    "echo $$$$ > ../../../child; while :; do sleep 1; done";

class ProcessesTest : public testing::Test {
 protected:
  ~ProcessesTest() override {
    for (const char* name : {"child", "grandchild", "daemon"})
      if (here_.has(std::string("runs/") + name))
        ::kill(pid(name), SIGKILL);
  }

  /// @param step what the step says beside its command
  void write(const std::string& step, const std::string& command) const {
    here_.write("p.yaml",
                "name: p\noutpath: runs\nstep: {name: s, " + step + "do: '" + command + "'}\n");
  }

  /// A shell that starts `bench`, which it knows as `$0`.
  ProcessSpec shell(const std::string& script) const {
    ProcessSpec spec = here_.spec({}, bash_);
    spec.arguments.insert(spec.arguments.begin(), {"/bin/bash", "-c", script});
    return spec;
  }

  /// The process that has left its number in this file.
  int pid(const std::string& name) const {
    const std::string line = support::wait_for_line((here_.path() / "runs" / name).string());
    EXPECT_NE(line, "") << name;
    return line.empty() ? -1 : std::stoi(line);
  }

  bool are_gone() const {
    return eventually([&] { return is_gone(pid("child")) && is_gone(pid("grandchild")); });
  }

  Playground here_;
  Environment bash_{{"JUBE_EXEC_SHELL", "/bin/bash"}};
};

TEST_F(ProcessesTest, ATimeoutEndsAGroupThatIgnoresTheRequest) {
  write("timeout: 1s, ", stubborn);
  const auto run = here_.bench({"run", "p.yaml"}, bash_);
  EXPECT_EQ(run.status.code, 1);
  EXPECT_EQ(run.standard_error, "workpackage 0 (s) failed: timeout after 1.0 s\n");
  EXPECT_TRUE(are_gone());
}

TEST_F(ProcessesTest, AnInterruptionEndsAGroupThatIgnoresTheRequest) {
  write("", stubborn);
  Process run(here_.spec({"run", "p.yaml"}, bash_));
  ASSERT_GT(pid("child"), 0);
  ASSERT_GT(pid("grandchild"), 0);
  run.signal_group(SIGINT);
  EXPECT_EQ(run.wait(), (ExitStatus{.signal = SIGINT}));
  EXPECT_TRUE(are_gone());
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "stopped\n") << "it is open again";
}

/// Its other workpackage has to end, too, and only a bench runs it.
TEST_F(ProcessesTest, AnInterruptedRunWithAWorkpackageAtABarrierIsStopped) {
  here_.write("barrier.yaml", R"(name: b
outpath: runs
parameterset: {name: p, parameter: {n: [0, 1]}}
step:
  name: s
  use: p
  shared: both
  do: ['test $n = 0 || { echo begun > $jube_benchmark_home/begun; sleep 300; }',
       {shared: "true", _: echo once}]
)");
  Process run(here_.spec({"run", "barrier.yaml"}));
  support::wait_for_line((here_.path() / "begun").string());
  run.signal_group(SIGINT);
  EXPECT_EQ(run.wait(), (ExitStatus{.signal = SIGINT}));
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "stopped\n");
}

// bash, for one, takes a program that exits for one that has made something else of Ctrl-C.
TEST_F(ProcessesTest, AnInterruptionEndsALoopOfTheShellToo) {
  write("", stubborn);
  Process loop(shell("for i in 1 2; do $0 run p.yaml; done"));
  ASSERT_GT(pid("child"), 0);
  loop.signal_group(SIGINT);
  EXPECT_EQ(loop.wait(), (ExitStatus{.signal = SIGINT}));
  EXPECT_FALSE(here_.has("runs/000001"));
}

TEST_F(ProcessesTest, AnInterruptionLeavesTheNextBenchmarkAlone) {
  write("", stubborn);
  here_.write("next.yaml", "name: next\noutpath: next\nstep: {name: s, do: 'true'}\n");
  Process run(here_.spec({"run", "p.yaml", "next.yaml"}, bash_));
  ASSERT_GT(pid("child"), 0);
  run.signal_group(SIGTERM);
  EXPECT_EQ(run.wait(), (ExitStatus{.signal = SIGTERM}));
  EXPECT_FALSE(here_.has("next"));
}

TEST_F(ProcessesTest, ASignalThatIsIgnoredAsByNohupInterruptsNothing) {
  here_.write("p.yaml",
              "name: p\noutpath: runs\n"
              "step: {name: s, do: 'touch ../../../started; while test -e ../../../started -a ! -e "
              "../../../go; do sleep "
              "0.05; done'}\n");
  Process run(shell("trap '' HUP; exec $0 run p.yaml"));
  ASSERT_TRUE(eventually([&] { return here_.has("runs/started"); }));
  run.signal_group(SIGHUP);
  here_.write("runs/go", "");
  EXPECT_EQ(run.wait(), ExitStatus{});
}

TEST_F(ProcessesTest, ATimeoutHoldsAlsoForWhatAKilledBenchHasStarted) {
  write("timeout: 3s, ", stubborn);
  Process run(here_.spec({"run", "p.yaml"}, bash_));
  ASSERT_GT(pid("child"), 0);
  ASSERT_GT(pid("grandchild"), 0);
  ::kill(run.pid(), SIGKILL);
  run.wait();
  const auto again = here_.bench({"continue", "runs"}, bash_);
  EXPECT_EQ(again.status.code, 1);
  EXPECT_THAT(again.standard_error, HasSubstr("workpackage 0 still runs"));
  EXPECT_THAT(again.standard_error, HasSubstr("workpackage 0 (s) failed: timeout after 3.0 s\n"));
  EXPECT_TRUE(are_gone());
}

// It keeps standard output open, which is a file: nobody waits for its end.
TEST_F(ProcessesTest, WhatACommandLeavesInTheBackgroundIsNotWaitedForAndNotEnded) {
  write("",
        "echo before; sleep 1000 & echo $$! > ../../../child; "
        "setsid sleep 1000 & echo $$! > ../../../grandchild");
  const auto run = here_.bench({"run", "p.yaml"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(here_.read("runs/000000/000000_s/work/stdout"), "before\n");
  EXPECT_FALSE(is_gone(pid("child")));
  EXPECT_FALSE(is_gone(pid("grandchild")));
}

TEST_F(ProcessesTest, ATimeoutLeavesASessionOfItsOwnAlone) {
  write("timeout: 1s, ",
        "setsid sh -c ''echo $$$$ > ../../../daemon; exec sleep 1000'' & "
        "while :; do sleep 1; done");
  EXPECT_EQ(here_.bench({"run", "p.yaml"}).status.code, 1);
  EXPECT_FALSE(is_gone(pid("daemon")));
}

/// What a parent may have set for signals: nohup, cron, a job of a shell.
TEST_F(ProcessesTest, IgnoredAndBlockedSignalsOfTheParentChangeNothing) {
  write("", "exit 3");
  for (const char* parent : {"trap '' CHLD; exec $0 run p.yaml",
                             "exec env --block-signal=CHLD,INT,TERM $0 run p.yaml"}) {
    Process run(shell(parent));
    ASSERT_TRUE(eventually([&] { return run.poll().has_value(); })) << parent;
    EXPECT_EQ(run.wait().code, 1) << parent;
  }
}

TEST_F(ProcessesTest, AFileBeyondTheLimitIsAnErrorWithAReason) {
  write("", "head -c 100000 /dev/zero");
  ProcessSpec spec = shell("ulimit -f 40; exec $0 run p.yaml 2> said");
  Process run(spec);
  EXPECT_EQ(run.wait().signal, 0);
  EXPECT_THAT(here_.read("said"), HasSubstr("error: cannot make the workspace"));
}

/// With a terminal, as at a login node.
TEST_F(ProcessesTest, ACommandThatAsksAtTheTerminalFailsAtOnce) {
  write("", "read answer < /dev/tty");
  Process run(shell("exec script -qec \"$0 run p.yaml\" /dev/null > said"));
  ASSERT_TRUE(eventually([&] { return run.poll().has_value(); }));
  EXPECT_EQ(run.wait().code, 1);
  EXPECT_THAT(here_.bench({"why", "0", "runs"}).standard_output,
              HasSubstr("commands have no terminal"));
}

TEST_F(ProcessesTest, AWorkingDirectoryThatWasDeletedIsNamed) {
  write("", "true");
  for (const char* command : {"run ../p.yaml", "info ../runs", "status"}) {
    const auto output =
        run_command(shell("mkdir gone && cd gone && rmdir ../gone && $0 " + std::string(command)),
                    support::far_too_long_s);
    EXPECT_EQ(output.status.code, 1);
    EXPECT_THAT(output.standard_error, HasSubstr("note: the working directory has been deleted"))
        << command;
    EXPECT_THAT(output.standard_error, Not(HasSubstr("bug in bench"))) << command;
  }
}

/// The commands have the limit that the user has set, and bench the stack that it needs.
TEST_F(ProcessesTest, ASmallStackIsForTheCommandsAlone) {
  here_.write(
      "p.yaml",
      "name: p\noutpath: runs\nparameterset: {name: s, parameter: {name: n, mode: python, _: "
      "\"','.join(map(str, range(300)))\"}}\n"
      "step: {name: s, use: s, do: 'echo stack=$(ulimit -s)'}\n"
      "patternset: {name: q, pattern: {name: stack, type: int, _: stack=$jube_pat_int}}\n"
      "analyser: {name: a, use: q, analyse: {step: s, file: stdout}}\n"
      "result: {use: a, table: {name: t, style: csv, filter: $n == 299, column: [stack]}}\n");
  const auto output =
      run_command(shell("ulimit -s 256; $0 run p.yaml --result -j 4"), support::far_too_long_s);
  EXPECT_EQ(output.status, ExitStatus{}) << output.standard_error;
  EXPECT_THAT(output.standard_output, HasSubstr("stack\n256\n"));
}

TEST_F(ProcessesTest, AnInterruptionIsSeenWithASmallStackToo) {
  write("", stubborn);
  Process run(shell("ulimit -s 256; exec $0 run p.yaml"));
  ASSERT_GT(pid("child"), 0);
  ASSERT_GT(pid("grandchild"), 0);
  run.signal_group(SIGINT);
  EXPECT_EQ(run.wait(), (ExitStatus{.signal = SIGINT}));
  EXPECT_TRUE(are_gone());
}

}  // namespace
}  // namespace bench::end_to_end
