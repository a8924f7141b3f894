// `bench status --watch` ends: with the run, when nobody works on it, and on Ctrl-C.
#include "bench_program.hpp"
#include "support/eventually.hpp"
#include "terminal.hpp"

#include <csignal>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

using support::eventually;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class WatchTest : public testing::Test {
 protected:
  /// Starts a run that waits for the file `go`, and then ends with this code.
  Process start_run(int code = 0) const {
    here_.write("w.yaml",
                "name: w\noutpath: runs\n"
                "step: {name: s, do: 'touch ../../../started; while test -e ../../../started -a ! "
                "-e ../../../go; do "
                "sleep 0.05; done; exit " +
                    std::to_string(code) + "'}\n");
    Process run(here_.spec({"run", "w.yaml"}));
    EXPECT_TRUE(eventually([&] { return here_.has("runs/started"); }));
    return run;
  }

  /// Starts a watch, and waits for what it shows first.
  Process start_watch() const {
    const UniqueFd shown(::open((here_.path() / "shown").c_str(), O_WRONLY | O_CREAT, 0600));
    const UniqueFd said(::open((here_.path() / "said").c_str(), O_WRONLY | O_CREAT, 0600));
    ProcessSpec spec = here_.spec({"status", "runs", "--watch"});
    spec.stdout_fd = shown.get();
    spec.stderr_fd = said.get();
    Process watch(spec);
    EXPECT_TRUE(eventually([&] { return here_.read("shown").find("s |") != std::string::npos; }));
    return watch;
  }

  static bool ends(Process& watch) {
    return eventually([&] { return watch.poll().has_value(); });
  }

  Playground here_;
};

TEST_F(WatchTest, EndsWithTheRun) {
  Process run = start_run();
  Process watch = start_watch();
  EXPECT_FALSE(watch.poll());
  here_.write("runs/go", "");
  ASSERT_TRUE(ends(watch));
  EXPECT_EQ(watch.wait().code, 0);
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_THAT(here_.read("shown"), EndsWith("|    s |   1 |    1 |      0 |\nfinished\n"));
  EXPECT_EQ(here_.read("said"), "");
}

/// Of 49 columns each of its lines takes three of a terminal with 20.
TEST_F(WatchTest, ReplacesATableThatWraps) {
  Process run = start_run();
  const std::string shown =
      shown_at_terminal(here_, {"status", "runs", "--watch"}, 20, 24, Screen::both,
                        {{"NO_COLOR", "1"}}, [&](const std::string& so_far) {
                          if (so_far.find(" s |   1 |") != std::string::npos)
                            here_.write("runs/go", "");
                        });
  run.wait();
  EXPECT_THAT(shown, HasSubstr("\x1b[9A\x1b[J"));
}

TEST_F(WatchTest, EndsWithARunThatFails) {
  Process run = start_run(1);
  Process watch = start_watch();
  here_.write("runs/go", "");
  ASSERT_TRUE(ends(watch));
  EXPECT_EQ(watch.wait().code, 0);
  EXPECT_EQ(run.wait().code, 1);
  EXPECT_THAT(here_.read("shown"), EndsWith("\nfailed\n"));
}

TEST_F(WatchTest, EndsWhenNobodyWorksOnTheRun) {
  Process run = start_run();
  Process watch = start_watch();
  ::kill(run.pid(), SIGKILL);
  run.wait();
  ASSERT_TRUE(ends(watch));
  EXPECT_EQ(watch.wait().code, 0);
  EXPECT_THAT(here_.read("shown"), EndsWith("\nstopped\n"));
  EXPECT_EQ(
      here_.read("said"),
      "note: nobody is working on this run: no bench process; resume with: bench continue runs -i "
      "0\n");
  here_.write("runs/go", "");
}

TEST_F(WatchTest, EndsOnCtrlCAndTheRunGoesOn) {
  Process run = start_run();
  Process watch = start_watch();
  watch.signal_group(SIGINT);
  ASSERT_TRUE(ends(watch));
  EXPECT_EQ(watch.wait(), ExitStatus{.signal = SIGINT});
  EXPECT_FALSE(run.poll());
  here_.write("runs/go", "");
  EXPECT_EQ(run.wait().code, 0);
}

/// The name alone does not tell whether a bench on another host has been killed.
TEST_F(WatchTest, SaysWhenItCannotSeeTheWorker) {
  Process run = start_run();
  ::kill(run.pid(), SIGKILL);
  run.wait();
  here_.write("runs/000000/workspace.lock", "process 7 on far, since 2026-01-31 13:05:09\n");
  Process watch = start_watch();
  EXPECT_THAT(here_.read("said"), AllOf(HasSubstr("note: process 7 on far, since 2026"),
                                        HasSubstr("cannot be checked from here")));
  EXPECT_FALSE(watch.poll());
  here_.write("runs/000000/workspace.lock", "\n");  // as a bench leaves it that has ended
  ASSERT_TRUE(ends(watch));
  EXPECT_THAT(here_.read("said"),
              HasSubstr("note: nobody is working on this run: no bench process;"));
  here_.write("runs/go", "");
}

}  // namespace
}  // namespace bench::end_to_end
