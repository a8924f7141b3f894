// The file that `bench report` writes.
#include "report_test.hpp"
#include "support/patience.hpp"
#include "support/source_directory.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

TEST_F(ReportTest, SaysWhatItHasWritten) {
  run(training, 1);
  EXPECT_THAT(report({"runs", "--output", "a.html"}),
              MatchesRegex("a.html: 1 run, 2 figures, 1 table \\([0-9.]+ MB\\)\n"));
  EXPECT_THAT(here_.read("a.html"), AllOf(StartsWith("<!DOCTYPE html>"), EndsWith("</html>\n"),
                                          Not(HasSubstr(here_.path().string()))));
}

TEST_F(ReportTest, HasTheSameBytesForTheSameRuns) {
  run(training, 1);
  report({"runs"});
  const std::string first = here_.read("report.html");
  report({"runs"});
  EXPECT_EQ(here_.read("report.html"), first);
}

TEST_F(ReportTest, IsSmall) {
  run(training, 1);
  report({"runs"});
  EXPECT_LT(here_.read("report.html").size(), 1'200'000U);
}

TEST_F(ReportTest, LeavesOutWhatIsDamagedInTheFilesOfTheMeter) {
  run(measured);
  report({"runs"});
  const std::string undamaged = here_.read("report.html");
  const std::string work = "runs/000000/000000_train/work/";
  here_.write(work + "region_times.csv",
              here_.read(work + "region_times.csv") + "lost,nan,1\nlost,0,inf\n");
  report({"runs"});
  EXPECT_EQ(here_.read("report.html"), undamaged);
  for (const char* nothing : {"", "\n", "\r\n1,2,3\r\n"}) {
    here_.write(work + "power.csv", nothing);
    EXPECT_THAT(report({"runs"}), HasSubstr("1 run, 0 figures, "));
  }
}

TEST_F(ReportTest, ADamagedFileOfTheMeterIsNamedAndEndsNothing) {
  run(measured);
  struct Damage {
    std::string file;
    std::string content;
    std::string figures;
    std::string warning;
  };
  const std::string work = "runs/000000/000000_train/work/";
  const std::string head = "time_s,unix_time_s,a_w\n0,1,100\n1,2,100\n2,3,100\n";
  for (const Damage& damage :
       {Damage{"region_times.csv", "region,\"begin_s\n", "1 figure",
               "region_times.csv:1: warning: this quote is never closed"},
        Damage{"region_times.csv", "region,begin_s,end_s\nload,0,1\nload,2\n", "1 figure",
               "region_times.csv:3: warning: 2 cells where the first line has 3"},
        Damage{"power.csv", head + "\x01\xff\n" + "3,4,100\n", "1 figure",
               "power.csv:5: warning: 1 cells where the first line has 3"},
        Damage{"power.csv", "notes\n", "0 figures",
               "power.csv:1: warning: not a log of power samples"},
        Damage{"power.csv", "time_s,\"unix_time_s,a_w\n0,1,100\n", "0 figures",
               "power.csv:1: warning: this quote is never closed"}}) {
    const std::string before = here_.read(work + damage.file);
    here_.write(work + damage.file, damage.content);
    const CommandOutput output = here_.bench({"report", "runs"});
    EXPECT_EQ(output.status.code, 0);
    EXPECT_THAT(output.standard_output, HasSubstr(damage.figures));
    EXPECT_THAT(output.standard_error, HasSubstr(work + damage.warning));
    here_.write(work + damage.file, before);
  }
}

TEST_F(ReportTest, SeveralRunsShareTheirTables) {
  run(training, 1);
  run(training, 1);
  EXPECT_THAT(report({"runs", "-i", "all"}), HasSubstr("2 runs, "));
  EXPECT_THAT(report({"runs", "-n", "1"}), HasSubstr("1 run, "));
  EXPECT_THAT(report({"runs/000000", "runs"}), HasSubstr("2 runs, "));
  EXPECT_THAT(report({"runs", "runs/000001"}), HasSubstr("1 run, "));
}

/// Merged, each would lack the parameters of the other, and figures would be empty.
TEST_F(ReportTest, TablesOfDifferentBenchmarksStayApartUnlessTheirColumnsAreTheSame) {
  const std::string input = replace_all(training, "rates, style", "t, style");
  run(input, 1);
  run(replace_all(replace_all(input, "name: training", "name: like"), "outpath: runs",
                  "outpath: like"),
      1);
  run(replace_all(replace_all(replace_all(input, "name: training", "name: other"), "outpath: runs",
                              "outpath: other"),
                  "batch_size", "size"),
      1);
  EXPECT_THAT(report({"runs", "like"}), HasSubstr("2 runs, 2 figures, 1 table "));
  EXPECT_THAT(report({"runs", "other"}), HasSubstr("2 runs, 4 figures, 2 tables "));
}

TEST_F(ReportTest, ARunWithoutTablesShowsAllThatIsKnown) {
  const std::string whole = training;
  run(whole.substr(0, whole.find("result: {use")), 1);
  EXPECT_THAT(report({"runs"}), HasSubstr("2 figures, 1 table "));
}

TEST_F(ReportTest, TimesOfARunThatMeasuresNothingAreDrawn) {
  run("name: t\noutpath: runs\nparameterset: {name: p, parameter: {n: [1, 2, 3]}}\n"
      "step: {name: s, use: p, do: 'true'}\n");
  EXPECT_THAT(report({"runs"}), HasSubstr("1 figure, 1 table "));
}

TEST_F(ReportTest, ARunInWhichAllFailedIsAReport) {
  run("name: b\noutpath: runs\nstep: {name: s, do: exit 1}\n", 1);
  EXPECT_THAT(report({"runs"}), HasSubstr("0 figures, 1 table "));
}

TEST_F(ReportTest, ReplacesNothingButReports) {
  run(training, 1);
  here_.write("kept.html", "<p>mine</p>");
  EXPECT_EQ(report({"runs", "--output", "kept.html"}, 1),
            "error: kept.html exists and is not a report\n"
            "hint: choose another file with --output FILE, or remove it\n");
  EXPECT_EQ(here_.read("kept.html"), "<p>mine</p>");
  EXPECT_THAT(report({"runs", "--output", "runs"}, 1), StartsWith("error: runs is a directory\n"));
  EXPECT_THAT(report({"runs", "--output", "nowhere/x/a.html"}, 1), StartsWith("error: "));
}

TEST_F(ReportTest, FiguresOfTheInputFileReplaceTheChosenOnes) {
  std::string input = training;
  input.replace(input.rfind("}}\n"), 3, "}");
  run(input + ", figure: {x: batch_size, y: rate, mark: bar, color: precision, title: Bars}}\n", 1);
  EXPECT_THAT(report({"runs"}), HasSubstr("1 figure, "));
  // Without another run.
  here_.write("other.yaml", training);
  EXPECT_THAT(report({"runs", "-u", "other.yaml"}), HasSubstr("2 figures, "));
}

TEST_F(ReportTest, PublishedNumbersStandBesideOurs) {
  std::string input = training;
  input.replace(input.find("name: rate,"), 11, "name: throughput,");
  input.replace(input.rfind("batch_size, rate]"), 17, "batch_size, throughput]");
  run(input, 1);
  here_.write("paper.csv", "metric,unit,value,source\nthroughput,images/s,100,a paper\n");
  EXPECT_THAT(report({"runs", "--compare", "paper.csv"}), HasSubstr("3 figures, 2 tables "));
  EXPECT_THAT(report({"runs", "--compare", "nothing"}, 1),
              StartsWith("error: unknown reference 'nothing'\n"));
}

TEST_F(ReportTest, DrawsItsFiguresIntoFiles) {
  if (find_program("node").empty())
    GTEST_SKIP() << "node is not installed";
  run(training, 1);
  const std::string files = report({"runs", "--figures", "figures"});
  EXPECT_THAT(files, HasSubstr("figures/rates-rate-over-batch-size.svg\n"));
  EXPECT_THAT(here_.read("figures/rates-rate-over-batch-size.svg"),
              AllOf(StartsWith("<svg xmlns="), HasSubstr("<title>rate over batch_size</title>"),
                    HasSubstr("OOM"), EndsWith("</svg>\n")));
  const bool has_png = here_.has("figures/rates-rate-over-batch-size.png");
  EXPECT_EQ(has_png, !find_program("rsvg-convert").empty());
  EXPECT_FALSE(here_.has("report.html"));
  EXPECT_FALSE(here_.has("figures/.figures"));
}

/// An installation that was built where there was no npm.
TEST(ReportWithoutVegaTest, SaysHowToGetIt) {
  const Playground here;
  make_directories(here.path() / "bin");
  make_directories(here.path() / "share/bench");
  fs::copy(BENCH_PROGRAM, here.path() / "bin/bench");
  for (const char* folder :
       {"platforms", "templates", "src/results/references", "src/pages/report"})
    fs::copy(support::source_directory() / folder,
             here.path() / "share/bench" / fs::path(folder).filename(),
             fs::copy_options::recursive);
  here.write("in.yaml", "name: a\noutpath: runs\nstep: {name: s, do: echo}\n");
  const auto bench = [&](std::vector<std::string> arguments) {
    ProcessSpec spec = here.spec(std::move(arguments));
    spec.arguments.front() = (here.path() / "bin/bench").string();
    set_variable(*spec.environment, "XDG_CONFIG_HOME", here.path().string());
    return run_command(std::move(spec), support::far_too_long_s);
  };
  bench({"run", "in.yaml"});
  const CommandOutput output = bench({"report", "runs"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(
      output.standard_error,
      AllOf(StartsWith("error: reports need Vega and Vega-Lite, which this installation of "
                       "bench lacks\nhint: build bench on a machine with npm and network access"),
            HasSubstr(" to " + (here.path() / "bench/report").string())));
}

TEST_F(ReportTest, TagsChooseRuns) {
  run(training, 1);
  here_.bench({"run", "in.yaml", "-t", "gpu"});
  EXPECT_THAT(report({"runs", "-i", "all", "-t", "gpu"}), HasSubstr("report.html: 1 run, "));
  EXPECT_THAT(report({"-i", "all", "-t", "gpu", "runs"}, 2),
              HasSubstr("error: an option consumed the RUN argument\nhint: --tag consumed 'runs' "
                        "as a value; put RUN first, or `--` before it"));
}

TEST_F(ReportTest, FiguresHaveNeitherAFileNorATitle) {
  for (const char* option : {"--output", "--title"})
    EXPECT_THAT(report({"--figures", "d", option, "x"}, 2),
                HasSubstr(option + std::string(" excludes --figures")));
}

}  // namespace
}  // namespace bench::end_to_end
