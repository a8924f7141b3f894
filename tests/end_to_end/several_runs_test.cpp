// Commands over several runs, one of which cannot be read or is in use.
#include "bench_program.hpp"
#include "report_test.hpp"

#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Three runs, the second of which is damaged.
class SeveralRunsTest : public testing::Test {
 protected:
  void SetUp() override {
    here_.write("small.yaml", small_sweep());
    here_.bench({"run", "small.yaml", "small.yaml", "small.yaml"});
    here_.write("runs/000001/workspace.db", "no database");
  }
  Playground here_;
};

TEST_F(SeveralRunsTest, TheOverviewLeavesOutWhatCannotBeRead) {
  const CommandOutput output = here_.bench({"info", "runs"});
  EXPECT_EQ(output.status.code, 0);
  EXPECT_THAT(output.standard_error, HasSubstr("note: runs/000001 is left out: "));
  EXPECT_THAT(output.standard_output, AllOf(HasSubstr("|  0 | small"), HasSubstr("|  2 | small")));
  EXPECT_THAT(here_.text_of("info", {"runs/000001"}, 1), HasSubstr("error: "));
}

TEST_F(SeveralRunsTest, AnErrorInOneDoesNotStopTheOthers) {
  struct Case {
    std::vector<std::string> arguments;
    const char* of_last;  ///< In what the command prints of the last run.
  };
  for (const Case& one : {Case{{"status", "runs"}, "FINISHED\nFINISHED\n"},
                          {{"info", "runs"}, "runs/000002"},
                          {{"analyse", "runs"}, "analysed runs/000002\n"},
                          {{"result", "runs", "-s", "csv"}, "\n2,3,9\n"},
                          {{"result", "runs", "--tidy", "--select", "run"}, "\n2\n"},
                          {{"output", "runs"}, "000002/"},
                          {{"tag", "runs"}, "run 2: no tags\n"},
                          {{"comment", "new", "runs"}, "run 2: new\n"},
                          {{"why", "runs", "0"}, "runs/000002/"},
                          {{"baseline", "accept", "runs"}, "run 2: accepted"},
                          {{"mlflow", "runs", "--directory", "."}, "runs/000002: "},
                          {{"continue", "runs"}, "dir: runs/000002\n"}}) {
    std::vector<std::string> arguments = one.arguments;
    arguments.insert(arguments.end(), {"-i", "all"});
    const CommandOutput output = here_.bench(arguments);
    EXPECT_EQ(output.status.code, 1) << arguments.front();
    EXPECT_THAT(output.standard_error, HasSubstr("error: runs/000001: ")) << arguments.front();
    EXPECT_THAT(output.standard_output, HasSubstr(one.of_last)) << arguments.front();
  }
}

TEST_F(SeveralRunsTest, OneThatCannotBeReadIsRemoved) {
  EXPECT_THAT(here_.text_of("remove", {"runs", "-i", "1"}, 1),
              HasSubstr("cannot ask for confirmation: remove run 1, although "));
  EXPECT_EQ(here_.text_of("remove", {"runs", "-i", "all", "-f"}, 0),
            "removed run 0\nremoved run 1\nremoved run 2\n");
}

TEST(ContinueTest, GoesOnBehindARunThatIsInUse) {
  const Playground here;
  here.write("f.yaml", "name: f\noutpath: runs\nstep: {name: s, do: test -e ../../../../cure}\n");
  here.bench({"run", "f.yaml"});
  here.bench({"run", "f.yaml"});
  here.write("cure", "");
  const UniqueFd other(
      ::open((here.path() / "runs/000000/workspace.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  const CommandOutput output = here.bench({"continue", "runs", "-i", "all", "--failed"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error, HasSubstr("error: runs/000000: another bench is working on"));
  EXPECT_EQ(here.bench({"status", "runs", "-i", "all"}).standard_output, "ERROR\nFINISHED\n");
}

TEST_F(ReportTest, LeavesOutARunThatCannotBeRead) {
  run(training, 1);
  run(training, 1);
  here_.write("runs/000000/workspace.db", "no database");
  EXPECT_THAT(report({"runs", "-i", "all"}, 1),
              AllOf(HasSubstr("report.html: 1 run, "), HasSubstr("error: runs/000000: ")));
}

}  // namespace
}  // namespace bench::end_to_end
