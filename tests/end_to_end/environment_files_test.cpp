// What commands export goes from one to the next through a file, which may hold secrets: it is gone
// once it is read, and after a kill once the run is continued or removed.
#include "bench_program.hpp"
#include "support/eventually.hpp"

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using support::eventually;
using testing::Contains;
using testing::IsEmpty;

class EnvironmentFilesTest : public testing::Test {
 protected:
  /// A command that exports a secret when the file `go` is there, then `next`. The second attempt
  /// leaves early, so that it hands on nothing of its own.
  void write_input(const std::string& next) const {
    here_.write("e.yaml",
                "name: e\noutpath: runs\n"
                "step:\n"
                "  - name: s\n"
                "    export: true\n"
                "    do:\n"
                "      - test ! -e ../../../second || exit 0; touch ../../../second; export "
                "TOKEN=very-secret; touch ../../../started; while test -e ../../../started -a ! -e "
                "../../../go; do sleep "
                "0.02; done\n"
                "      - " +
                    next + "\n  - {name: child, depend: s, do: echo child}\n");
  }

  /// A run whose bench is killed while the first command waits.
  void kill_a_run() const {
    Process run(here_.spec({"run", "e.yaml"}));
    ASSERT_TRUE(eventually([&] { return here_.has("runs/started"); }));
    ::kill(run.pid(), SIGKILL);
    run.wait();
  }

  /// Lets the command go on, which has outlived its bench, and waits for its file.
  void wait_for_file() const {
    here_.write("runs/go", "");
    ASSERT_TRUE(eventually([&] {
      return here_.has(file_) && here_.read(file_).find("very-secret") != std::string::npos;
    }));
    EXPECT_EQ(fs::status(here_.path() / file_).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
  }

  std::vector<std::string> environment_files() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(here_.path() / "runs"))
      if (entry.path().filename().string().starts_with("environment"))
        found.push_back(entry.path());
    return found;
  }

  const std::string file_ = "runs/000000/000000_s/environment";
  Playground here_;
};

TEST_F(EnvironmentFilesTest, AreGoneWhenARunHasEnded) {
  write_input("echo again");
  here_.write("runs/go", "");
  ASSERT_EQ(here_.bench({"run", "e.yaml"}).status.code, 0);
  EXPECT_THAT(environment_files(), IsEmpty());
}

TEST_F(EnvironmentFilesTest, AreGoneAfterAKillWhenTheRunIsContinued) {
  write_input("echo token=$$TOKEN.");
  kill_a_run();
  wait_for_file();
  const auto again = here_.bench({"continue", "runs"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_THAT(environment_files(), IsEmpty());
  EXPECT_THAT(split(here_.read("runs/000000/000000_s/work/stdout"), "\n"), Contains("token=."));
}

/// The command is still there when the next bench begins, which waits for it.
TEST_F(EnvironmentFilesTest, OfACommandThatIsWaitedForAreNotForTheNextAttempt) {
  write_input("echo token=$$TOKEN.");
  kill_a_run();
  Process again(here_.spec({"continue", "runs"}));
  ASSERT_TRUE(eventually([&] {
    return here_.has("runs/000000/continue.log") &&
           here_.read("runs/000000/continue.log").find("waiting for it") != std::string::npos;
  }));
  here_.write("runs/go", "");
  EXPECT_EQ(again.wait().code, 0);
  EXPECT_THAT(environment_files(), IsEmpty());
  EXPECT_THAT(split(here_.read("runs/000000/000000_s/work/stdout"), "\n"), Contains("token=."));
}

/// One workpackage alone cannot be removed before `continue` has taken it in.
TEST_F(EnvironmentFilesTest, GoWithARunThatIsRemoved) {
  write_input("echo again");
  kill_a_run();
  wait_for_file();
  const auto removed = here_.bench({"remove", "runs", "-f"});
  EXPECT_EQ(removed.status.code, 0) << removed.standard_error;
  EXPECT_FALSE(here_.has("runs/000000"));
}

TEST_F(EnvironmentFilesTest, AreGoneAfterAFailureAndAnInterruption) {
  for (const std::string& end : {std::string("false"), std::string("kill -9 $$$$"),
                                 std::string("kill -TERM $$PPID; sleep 100")}) {
    here_.write("e.yaml",
                "name: e\noutpath: runs\nstep:\n  - {name: s, export: true, do: ['export "
                "TOKEN=very-secret', '" +
                    end + "']}\n  - {name: child, depend: s, do: echo}\n");
    EXPECT_FALSE(here_.bench({"run", "e.yaml"}).status.success()) << end;
    EXPECT_THAT(environment_files(), IsEmpty()) << end;
  }
}

}  // namespace
}  // namespace bench::end_to_end
