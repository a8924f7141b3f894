// Commands over several runs, one of which cannot be read or is in use.
#include "bench_program.hpp"
#include "report_test.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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
  for (const Case& one : {Case{{"status", "runs"}, "finished\nfinished\n"},
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

/// Columns that a program counts do not depend on what can be read.
TEST_F(SeveralRunsTest, TheColumnsOfATableAreThoseOfAllRunsThatWereChosen) {
  EXPECT_THAT(here_.bench({"result", "runs", "-i", "0", "1", "-s", "csv"}).standard_output,
              StartsWith("id,n,result\n"));
}

TEST_F(SeveralRunsTest, TheListOfAcceptedRunsLeavesOutWhatCannotBeRead) {
  here_.bench({"baseline", "accept", "runs", "-i", "2"});
  for (const char* place : {"runs", "runs/000002/"})
    EXPECT_THAT(here_.text_of("baseline", {"list", place}, 0),
                AllOf(HasSubstr("|   2 |"), HasSubstr("note: runs/000001 is left out: ")))
        << place;
}

TEST_F(SeveralRunsTest, ARunThatCannotBeSentToMlflowDoesNotStopTheOthers) {
  here_.bench({"mlflow", "runs", "-i", "0", "--directory", "."});
  for (const auto& entry : std::filesystem::recursive_directory_iterator(here_.path() / "mlruns"))
    if (entry.path().filename() == "meta.yaml")
      write_file_atomically(entry.path(), "a: [");
  const CommandOutput output = here_.bench({"mlflow", "runs", "-i", "0", "2", "--directory", "."});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error,
              AllOf(HasSubstr("error: runs/000000: "), HasSubstr("error: runs/000002: "),
                    Not(HasSubstr("small.yaml"))));
}

TEST_F(SeveralRunsTest, OneThatCannotBeReadIsRemoved) {
  EXPECT_THAT(here_.text_of("remove", {"runs", "-i", "1"}, 1),
              HasSubstr("cannot ask for confirmation: remove run 1, although "));
  EXPECT_EQ(here_.text_of("remove", {"runs", "-i", "all", "-f"}, 0),
            "removed run 0\nremoved run 1\nremoved run 2\n");
}

/// Two runs whose filter is invalid, and one without a fault.
TEST(ResultOfSeveralRunsTest, TellsTheErrorsOfEachRunWithItsHintAndInItsLog) {
  const Playground here;
  here.write("good.yaml", small_sweep());
  here.write("bad.yaml", replace_all(small_sweep(), "sort: n,", "filter: 1/($n-1) > 0, sort: n,"));
  here.bench({"run", "bad.yaml", "bad.yaml", "good.yaml"});
  const CommandOutput output = here.bench({"result", "runs", "-i", "all", "-s", "csv"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_EQ(output.standard_output, "id,n,result\n2,1,1\n2,2,4\n2,3,9\n\n");
  for (const char* id : {"0", "1"}) {
    const std::string run = std::string("runs/00000") + id;
    EXPECT_THAT(output.standard_error,
                ContainsRegex("error: " + run + ": invalid expression in the filter .*\n(.*\n)*" +
                              "hint: once bad.yaml is corrected: bench result runs --id " + id));
    EXPECT_THAT(here.read(run + "/result.log"),
                AllOf(HasSubstr("ERROR: "), HasSubstr("end: exit code 1")));
  }
  EXPECT_THAT(here.read("runs/000002/result.log"),
              AllOf(Not(HasSubstr("ERROR: ")), HasSubstr("end: exit code 0")));
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
  EXPECT_EQ(here.bench({"status", "runs", "-i", "all"}).standard_output, "running\nfinished\n");
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
