#include "bench_program.hpp"
#include "preload.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::MatchesRegex;
using testing::StartsWith;

/// What a user sees who asks `bench result` for all data of a run of three squares, and for rows of
/// its table.
class TidyDataTest : public testing::Test {
 protected:
  void SetUp() override {
    here_.write("small.yaml", small_sweep());
    here_.bench({"run", "small.yaml"});
  }

  std::string shown(std::vector<std::string> options) {
    options.insert(options.begin(), "result");
    const auto answer = here_.bench(options);
    EXPECT_EQ(answer.status.code, 0) << answer.standard_error;
    return answer.standard_output;
  }

  std::string refusal(std::vector<std::string> options) {
    options.insert(options.begin(), "result");
    const auto answer = here_.bench(options);
    EXPECT_NE(answer.status.code, 0);
    EXPECT_EQ(answer.standard_output, "");
    return answer.standard_error;
  }

  Playground here_;
};

const std::vector<std::string> columns_without_times{"--exclude", "host", "started", "ended",
                                                     "run_time"};

std::vector<std::string> with(std::vector<std::string> options,
                              const std::vector<std::string>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

TEST_F(TidyDataTest, HasARowPerWorkpackage) {
  EXPECT_EQ(shown(with({"runs", "--tidy"}, columns_without_times)),
            "run,step,workpackage,iteration,n,square,result,state,reason\n"
            "0,compute,0,0,1,1,1,done,\n0,compute,1,0,2,4,4,done,\n0,compute,2,0,3,9,9,done,\n"
            "0,check,3,0,1,1,,done,\n0,check,4,0,2,4,,done,\n0,check,5,0,3,9,,done,\n\n");
}

TEST_F(TidyDataTest, MakesOneTableOfSeveralOutpaths) {
  here_.write("other.yaml", replace_all(small_sweep(), "outpath: runs", "outpath: sub/others"));
  here_.bench({"run", "other.yaml"});
  here_.bench({"run", "other.yaml"});
  EXPECT_EQ(shown({"runs/000000/", "sub/others", "runs", "--tidy", "-i", "all", "--where",
                   "result = 4", "--select", "outpath", "run", "workpackage"}),
            "outpath,run,workpackage\nruns,0,1\nsub/others,0,1\nsub/others,1,1\n\n");
  EXPECT_EQ(refusal({"runs", "sub/others"}),
            "error: several directories were given\nhint: --tidy makes one table of them\n");
}

TEST_F(TidyDataTest, RowsOfATableOfTheFileAreChosenAndSorted) {
  EXPECT_EQ(shown({"runs", "--where", "result > 1", "--sort", "n:desc", "--select", "result"}),
            "squares:\n| result |\n|--------|\n|      9 |\n|      4 |\n\n");
  here_.bench({"run", "small.yaml"});  // those of several runs together
  EXPECT_EQ(shown({"runs", "-i", "all", "-s", "csv", "--sort", "result:desc", "id", "--where",
                   "id = 1 or n = 3", "--select", "n"}),
            "id,n\n0,3\n1,3\n1,2\n1,1\n\n");
}

TEST_F(TidyDataTest, IsWrittenToAFileInTheStyleOfItsEnding) {
  EXPECT_EQ(shown({"runs", "--tidy", "--select", "n", "--where", "n = 2", "--output", "t.csv"}),
            "");
  EXPECT_EQ(here_.read("t.csv"), "n\n2\n2\n");
  EXPECT_EQ(shown({"runs", "--output", "t.md"}), "");
  EXPECT_THAT(here_.read("t.md"), testing::StartsWith("**squares**\n"));
  EXPECT_EQ(shown({"runs", "--output", "t.txt"}), "");  // its own style
  EXPECT_THAT(here_.read("t.txt"), testing::EndsWith("| 3 |      9 |\n"));
  const std::string piped = shown({"runs", "--tidy", "--style", "parquet"});
  EXPECT_THAT(piped, AllOf(StartsWith("PAR1"), EndsWith("PAR1")));
  shown({"runs", "--tidy", "--output", "t.parquet"});
  EXPECT_EQ(here_.read("t.parquet"), piped);
}

TEST_F(TidyDataTest, IsWrittenToTheFileBehindALinkButNotInPlaceOfADevice) {
  here_.write("real.csv", "");
  std::filesystem::create_symlink("real.csv", here_.path() / "link.csv");
  shown({"runs", "--output", "link.csv"});
  EXPECT_EQ(here_.read("real.csv"), "n,result\n1,1\n2,4\n3,9\n");
  EXPECT_TRUE(std::filesystem::is_symlink(here_.path() / "link.csv"));
  std::filesystem::create_symlink("/dev/null", here_.path() / "null");
  EXPECT_EQ(refusal({"runs", "--output", "null"}),
            "error: null is not a regular file\n"
            "hint: without --output it is printed to standard output\n");
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

/// The time of day is put back by an hour while a workpackage runs.
TEST_F(TidyDataTest, HasARunTimeThatAClockThatIsSetDoesNotChange) {
  const std::string clock = (here_.path() / "clock").string();
  here_.run("clock.yaml",
            "name: clock\noutpath: runs\nstep: {name: s, do: echo -3600 > " + clock + "}\n", {}, 0,
            {{"LD_PRELOAD", preload(SET_CLOCK_LIBRARY)}, {"SET_CLOCK", clock}});
  EXPECT_THAT(shown({"runs", "--tidy", "--select", "run_time"}),
              MatchesRegex("run_time[[]s[]]\n[0-9]+([.][0-9]+)?\n\n"));
}

}  // namespace
}  // namespace bench::end_to_end
