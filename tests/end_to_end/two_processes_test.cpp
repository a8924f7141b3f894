#include "bench_program.hpp"
#include "preload.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <bench/base/host.hpp>
#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using support::eventually;
using testing::HasSubstr;
using testing::StartsWith;

/// Two steps of short workpackages, which keep the database busy.
constexpr const char* busy = R"yaml(name: busy
outpath: runs
parameterset: {name: sweep, parameter: {name: n, mode: python, _: "','.join(map(str, range(60)))"}}
step:
  - {name: first, use: sweep, procs: 1, do: 'echo "value=$n"'}
  - {name: second, depend: first, procs: 1, do: 'echo "value=$n"'}
patternset: {name: found, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: first, file: stdout}}
result: {use: output, table: {name: t, style: csv, sort: n, column: [n, value]}}
)yaml";

/// One workpackage, which waits for the file `go`.
constexpr const char* waiting = R"(name: waiting
outpath: runs
step: {name: s, do: 'echo once >> ../../../witness; touch ../../../started; while test -e ../../../started -a ! -e ../../../go; do sleep 0.05; done'}
)";

class TwoProcessesTest : public testing::Test {
 protected:
  /// A run on its way.
  Process start(const std::string& text = waiting) {
    here_.write("w.yaml", text);
    Process run(here_.spec({"run", "w.yaml"}));
    EXPECT_TRUE(eventually([&] { return here_.has("runs/started"); }));
    return run;
  }
  /// What is left of one whose host went down.
  void kill_far_away(const std::string& text = waiting) {
    Process run = start(text);
    ::kill(run.pid(), SIGKILL);
    run.wait();
    SQLite::Database((here_.path() / "runs/000000/workspace.db").string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE attempt SET host = 'far'");
  }

  Playground here_;
};

TEST_F(TwoProcessesTest, WhoeverWritesIsRefusedWithTheHolderNamed) {
  Process run = start();
  const std::string refusal = "error: another bench is working on runs/000000: process " +
                              std::to_string(run.pid()) + " on " + host_name() + ", since 20";
  for (const char* command : {"continue", "analyse"}) {
    const auto second = here_.bench({command, "runs"});
    EXPECT_EQ(second.status.code, 1) << command;
    EXPECT_THAT(second.standard_error, StartsWith(refusal)) << command;
  }
  here_.write("runs/go", "");
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_EQ(here_.read("runs/witness"), "once\n");
}

TEST_F(TwoProcessesTest, TheLockOfAKilledHolderIsTakenOver) {
  Process run = start();
  ::kill(run.pid(), SIGKILL);
  run.wait();
  EXPECT_THAT(here_.read("runs/000000/workspace.lock"),
              StartsWith("process " + std::to_string(run.pid()) + " on "));
  here_.write("runs/go", "");
  const auto again = here_.bench({"continue", "runs"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "finished\n");
  EXPECT_EQ(here_.read("runs/witness"), "once\n") << "its command went on and was waited for";
}

TEST_F(TwoProcessesTest, ACommandThatAKilledHolderWasJustStartingIsNotStartedTwice) {
  here_.write("w.yaml", waiting);
  here_.write("runs/go", "");
  // In the gap the child has the lock of its parent, and nothing yet by which it could be known.
  const std::string mark = (here_.path() / "mark").string();
  Process run(here_.spec({"run", "w.yaml"}, {{"LD_PRELOAD", preload(SLOW_START_LIBRARY)},
                                             {"SLOW_START", "/bin/sh"},
                                             {"SLOW_START_MARK", mark}}));
  ASSERT_TRUE(eventually([&] { return here_.has("mark"); }));
  ::kill(run.pid(), SIGKILL);
  run.wait();
  const auto again = here_.bench({"continue", "runs"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "finished\n");
  EXPECT_EQ(here_.read("runs/witness"), "once\n");
}

TEST_F(TwoProcessesTest, ALockFileAloneHoldsNobodyUp) {
  here_.write("runs/go", "");
  here_.run("w.yaml", waiting);
  for (const std::string& left :
       {"process " + std::to_string(::getpid()) + " on " + host_name() + ", since long ago\n",
        std::string("process 1 on elsewhere, since long ago\n"), std::string("\n"),
        std::string("\xFF no text")}) {
    here_.write("runs/000000/workspace.lock", left);
    const auto again = here_.bench({"continue", "runs"});
    EXPECT_EQ(again.status.code, 0) << left << again.standard_error;
    EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "finished\n");
  }
}

// The lock is the kernel's; but what a bench left running on another host cannot be seen from here.
TEST_F(TwoProcessesTest, WhatMayStillRunOnAnotherHostIsLeftToIt) {
  kill_far_away();
  const auto again = here_.bench({"continue", "runs"});
  EXPECT_EQ(again.status.code, 1);
  EXPECT_EQ(again.standard_error,
            "1 workpackage could not be started or continued: workpackage 0 was running on "
            "far when its bench ended, and may run there still; continue this run there, or give "
            "the attempt up with `bench remove -w 0`\n"
            "hint: nothing is lost; resume with `bench continue runs --id 0`\n");
  EXPECT_THAT(here_.bench({"remove", "runs", "-w", "0"}).standard_error,
              HasSubstr("remove workpackage 0 of run 0, which may still run on far?"));
  here_.write("runs/go", "");
  EXPECT_EQ(here_.bench({"remove", "runs", "-w", "0", "-f"}).status.code, 0);
  EXPECT_EQ(here_.bench({"continue", "runs"}).status.code, 0);
}

// It would wait for itself.
TEST_F(TwoProcessesTest, NoneIsWaitedForAtASharedCommandThatCannotBeReached) {
  kill_far_away(R"(name: barrier
outpath: runs
step:
  - {name: s, iterations: 2, do: 'test $jube_wp_iteration = 0 || (touch ../../../started; while test -e ../../../started -a ! -e ../../../go; do sleep 0.05; done)'}
  - {name: b, depend: s, shared: d, do: [echo x, {shared: "true", _: echo once}]}
)");
  const auto again = here_.bench({"continue", "runs", "--wait"});
  EXPECT_EQ(again.status.code, 1);
  EXPECT_THAT(again.standard_output,
              HasSubstr("|    b |   1 |    0 |      0 |       0 |       1 |"));
}

struct Reader {
  std::vector<std::string> arguments;
  std::string begin;  ///< What every answer begins with.
  long lines = 0;     ///< How many each has; 0: any number.
};

TEST_F(TwoProcessesTest, ReadersAreAnsweredAllTheTimeThatARunWrites) {
  here_.write("runs/go", "");
  here_.run("b.yaml", busy);  // for `diff` to compare with
  Process run(here_.spec({"run", "b.yaml"}));
  ASSERT_TRUE(eventually([&] { return here_.has("runs/000001/workspace.db"); }));
  const std::vector<Reader> readers{
      {{"status", "runs"}, ""},
      {{"result", "runs"}, "n,value\n0,", 62},
      {{"info", "runs"}, "| id | name |"},
      {{"info", "runs", "-i", "1", "-s", "first"}, "step:"},
      {{"log", "runs", "-c", "parse"}, "==> runs/000001/parse.log <==\n"},
      {{"why", "runs", "59"}, "workpackage 59 (first): "},
      {{"diff", "runs", "-i", "0", "1"}, ""},
      {{"output", "runs"}, ""}};
  int answers = 0;
  for (int round = 0; round < 3 || !run.poll(); ++round)
    for (const Reader& reader : readers) {
      const auto answer = here_.bench(reader.arguments);
      EXPECT_EQ(answer.status.code, 0) << reader.arguments[0] << answer.standard_error;
      EXPECT_THAT(answer.standard_output, StartsWith(reader.begin));
      EXPECT_EQ(answer.standard_error.find("error"), std::string::npos) << answer.standard_error;
      const auto lines = std::ranges::count(answer.standard_output, '\n');
      EXPECT_EQ(lines, reader.lines == 0 ? lines : reader.lines);
      ++answers;
    }
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_GE(answers, 24);
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "finished\n");
}

TEST_F(TwoProcessesTest, OfTwoThatContinueAtOnceOneWorks) {
  constexpr int rounds = 8;
  for (int round = 0; round < rounds; ++round) {
    const Playground here;
    here.write("w.yaml", waiting);
    {
      Process run(here.spec({"run", "w.yaml"}));
      ASSERT_TRUE(eventually([&] { return here.has("runs/started"); }));
      run.signal_group(SIGTERM);
      run.wait();
    }
    std::filesystem::remove(here.path() / "runs/started");
    std::filesystem::remove(here.path() / "runs/witness");
    Process one(here.spec({"continue", "runs"}));
    Process other(here.spec({"continue", "runs"}));
    // The one that is refused ends; the other has started its workpackage.
    ASSERT_TRUE(eventually([&] { return one.poll() || other.poll(); }));
    ASSERT_TRUE(eventually([&] { return here.has("runs/started"); }));
    here.write("runs/go", "");
    EXPECT_EQ(one.wait().code + other.wait().code, 1);
    EXPECT_EQ(here.read("runs/witness"), "once\n");
    EXPECT_EQ(here.bench({"status", "runs"}).standard_output, "finished\n");
  }
}

}  // namespace
}  // namespace bench::end_to_end
