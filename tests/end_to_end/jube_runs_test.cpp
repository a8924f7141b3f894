#include "end_to_end/bench_program.hpp"
#include "jube_run.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class JubeRunsTest : public testing::Test {
 protected:
  void SetUp() override { write_jube_run(here_, "runs/000000", jube_workpackages()); }

  std::string shown(std::vector<std::string> arguments) const {
    const auto output = here_.bench(std::move(arguments));
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    return output.standard_output;
  }

  /// The files of the run with what is in them.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> texts;
    for (const auto& entry : fs::recursive_directory_iterator(here_.path() / "runs"))
      if (entry.is_regular_file())
        texts[entry.path().string()] = read_file(entry.path());
    return texts;
  }

  Playground here_;
};

constexpr const char* headings = "n,word,square[u],square_cnt,twice,jube_wp_status\n";

TEST_F(JubeRunsTest, ResultsAreWhatTheOutputHolds) {
  const auto result = here_.bench({"result", "runs"});
  EXPECT_EQ(result.status.code, 0) << result.standard_error;
  EXPECT_THAT(result.standard_output,
              StartsWith(std::string(headings) + "1,w1,1,2,2,DONE\n2,w2,4.5,2,9,DONE\n4,w4,"));
  EXPECT_THAT(result.standard_error,
              HasSubstr("note: JUBE made this run, so this analysis is shown but not saved\n"));
}

TEST_F(JubeRunsTest, ResultsAreThoseOfJubesAnalysisWhereItIsThere) {
  here_.write("runs/000000/analyse.xml", jube_analysis());
  const auto result = here_.bench({"result", "runs"});
  EXPECT_THAT(result.standard_output,
              StartsWith(std::string(headings) + "1,w1,100,2,7,DONE\n2,w2,400,2,7,DONE\n4,w4,"));
  EXPECT_THAT(result.standard_error, Not(HasSubstr("shown but not saved")));
  EXPECT_THAT(shown({"result", "runs", "-a"}), HasSubstr("\n1,w1,1,2,2,DONE\n"));
}

TEST_F(JubeRunsTest, StepsThatDependOnTheSameIterationsAreRowsOfTheirOwn) {
  const auto one = [](int id, const std::string& step, const std::string& parents) {
    return JubeWorkpackage{.id = id,
                           .step = step,
                           .parameters = "",
                           .parents = parents,
                           .siblings = parents.empty() ? "0,1" : "2,3,4,5",  // as JUBE writes them
                           .iteration = parents.empty() ? id : std::stoi(parents),
                           .standard_output = step + "=" + std::to_string(id) + "\n"};
  };
  fs::remove_all(here_.path() / "runs");
  write_jube_run(here_, "runs/000000",
                 {one(0, "make", ""), one(1, "make", ""), one(2, "left", "0"), one(3, "right", "0"),
                  one(4, "left", "1"), one(5, "right", "1")},
                 R"(<jube version="2.7.1"><benchmark name="both" file_path_ref="../.." outpath="..">
  <patternset name="found"><pattern name="seen" type="int">=$jube_pat_int</pattern></patternset>
  <step name="make" iterations="2"><do>echo</do></step>
  <step name="left" depend="make"><do>echo left=2</do></step>
  <step name="right" depend="make"><do>echo right=3</do></step>
  <analyser name="all" reduce="True"><use>found</use>
    <analyse step="left"><file>stdout</file></analyse>
    <analyse step="right"><file>stdout</file></analyse>
  </analyser>
  <result><use>all</use><table name="t" style="csv">
    <column>jube_wp_id</column><column>jube_step_name</column><column>seen_sum</column>
  </table></result>
</benchmark></jube>)");
  EXPECT_THAT(shown({"result", "runs"}),
              StartsWith("jube_wp_id,jube_step_name,seen_sum\n2,left,6\n3,right,8\n"));
  const auto found = [](const std::string& step, int id, int sum) {
    return "<step name=\"" + step + "\"><workpackage id=\"" + std::to_string(id) +
           "\"><pattern name=\"seen_sum\" type=\"int\">" + std::to_string(sum) +
           "</pattern></workpackage></step>";
  };
  here_.write("runs/000000/analyse.xml", "<analyse><analyser name=\"all\">" + found("left", 2, 60) +
                                             found("right", 5, 80) + "</analyser></analyse>");
  EXPECT_THAT(shown({"result", "runs"}), HasSubstr("\n2,left,60\n3,right,80\n"));
}

TEST_F(JubeRunsTest, TidyDataIsReadFromTheOutputSinceJubeKeepsNoValueOfAnIteration) {
  here_.write("runs/000000/analyse.xml", jube_analysis());
  const std::string rows = shown({"result", "runs", "--tidy", "--where", "step = 'compute'",
                                  "--select", "workpackage", "n", "square"});
  EXPECT_THAT(rows, StartsWith("workpackage,n,square[u]\n0,1,1\n1,1,1\n2,2,4\n"));
}

/// When the files of a run were written, and whether JUBE's analysis counts.
struct TimesOfFiles {
  const char* zone;  ///< Of the reader; 13:05:09 is noted as the last change.
  std::chrono::sys_seconds changed;
  std::chrono::sys_seconds analysed;
  bool counts;
};

TEST_F(JubeRunsTest, JubesAnalysisCountsIfItIsNotOlderThanTheRun) {
  here_.write("runs/000000/analyse.xml", jube_analysis());
  constexpr std::chrono::sys_days day{std::chrono::year{2026} / 1 / 31};
  constexpr auto noted = day + 13h + 5min + 9s;
  for (const TimesOfFiles& times : {TimesOfFiles{"UTC0", noted, day + 13h + 6min, true},
                                    {"UTC0", noted, day + 13h + 4min, false},
                                    {"UTC0", noted - 1h, day + 12h + 6min, true},  // another zone
                                    {"CET-1", noted, day + 13h + 4min, false},
                                    {"UTC0", day + 72h + 1s, day + 72h, true}}) {  // copied first
    const auto set = [&](const char* file, std::chrono::sys_seconds time) {
      fs::last_write_time(here_.path() / "runs/000000" / file,
                          std::chrono::file_clock::from_sys(time));
    };
    set("timestamps", times.changed);
    set("analyse.xml", times.analysed);
    EXPECT_THAT(here_.bench({"result", "runs"}, {{"TZ", times.zone}}).standard_output,
                HasSubstr(times.counts ? "\n1,w1,100,2," : "\n1,w1,1,2,"));
  }
}

TEST_F(JubeRunsTest, ResultsAreKeptWhereJubeKeepsThem) {
  const auto before = files();
  shown({"result", "runs"});
  auto after = files();
  EXPECT_THAT(after[(here_.path() / "runs/000000/result/table.dat").string()],
              StartsWith(std::string(headings) + "1,w1,1,2,2,DONE\n"));
  after.erase((here_.path() / "runs/000000/result/table.dat").string());
  after.erase((here_.path() / "runs/000000/result.log").string());
  EXPECT_EQ(after, before);
  const auto with_results = files();
  EXPECT_THAT(shown({"analyse", "runs"}), HasSubstr("analysed runs/000000"));
  EXPECT_EQ(files(), with_results) << "an analysis is not saved";
}

TEST_F(JubeRunsTest, ResultsCanBeThoseOfAnotherFile) {
  here_.write("new.yaml", R"(name: squares
outpath: runs
parameterset: {name: sweep, parameter: {n: [1, 2, 4]}}
step: [{name: compute, use: sweep, do: echo}, {name: check, depend: compute, do: echo}]
patternset: {name: found, pattern: {name: digit, type: int, _: '=(\d)'}}
analyser: {name: a, use: found, analyse: {step: compute, file: stdout}}
result: {use: a, table: {name: t, style: csv, sort: n, column: [n, digit_max]}}
)");
  EXPECT_THAT(shown({"result", "runs", "-u", "new.yaml"}),
              StartsWith("n,digit_max\n1,1\n2,5\n4,1\n"));
}

TEST_F(JubeRunsTest, AStepWithoutCommandsThatHasNotEndedIsRunning) {
  fs::remove_all(here_.path() / "runs");
  write_jube_run(
      here_, "runs/000000",
      {{.id = 0,
        .step = "make",
        .parameters = "",
        .parents = "",
        .siblings = "0",
        .iteration = 0,
        .standard_output = ""}},
      R"(<jube version="2.7.1"><benchmark name="empty" file_path_ref="../.." outpath="..">
  <step name="make"/>
</benchmark></jube>)");
  fs::remove(here_.path() / "runs/000000/000000_make/done");
  EXPECT_EQ(shown({"status", "runs"}), "running\n");
}

TEST_F(JubeRunsTest, StatusAndInfoAreThoseOfTheMarkers) {
  EXPECT_EQ(shown({"status", "runs"}), "running\n");
  EXPECT_THAT(shown({"info", "runs", "-i", "0"}),
              AllOf(HasSubstr("     benchmark: squares\n"), HasSubstr("comment: made by JUBE\n"),
                    HasSubstr("started: 2026-01-31 13:05:07 +0000\n"), HasSubstr("tags: fast\n"),
                    HasSubstr("last change: 2026-01-31 13:05:09 +0000\n"),
                    HasSubstr("jube_version: 2.7.1\n"),
                    HasSubstr("|    step | all | done | failed | waiting | ready |\n"),
                    HasSubstr("| compute |   6 |    5 |      1 |       0 |     0 |\n"),
                    HasSubstr("|   check |   2 |    0 |      0 |       1 |     1 |\n"),
                    HasSubstr("workpackage 4 (compute) failed: exit code 3 in step compute\n")));
  EXPECT_THAT(shown({"info", "runs"}), HasSubstr("|  0 | squares | 2026-01-31 13:05:07 +0000 |"));
}

TEST_F(JubeRunsTest, InfoShowsStepsAndWorkpackages) {
  EXPECT_THAT(shown({"info", "runs", "-s", "check", "-c"}),
              AllOf(StartsWith("id,n,word,jube_benchmark_name,jube_benchmark_id,"),
                    HasSubstr("\n6,1,w1,squares,0,")));
  EXPECT_THAT(shown({"info", "runs", "-w", "2", "6"}),
              AllOf(HasSubstr("directory:    runs/000000/000002_compute\n"),
                    HasSubstr("ended:        2026-01-31 13:05:09 +0000\n"),
                    Not(HasSubstr("started:")), HasSubstr("parents:      0 (compute)\n"),
                    HasSubstr("state:        waiting\n"), HasSubstr("  MODE set to  it's\n")));
}

TEST_F(JubeRunsTest, OutputAndLogShowJubesFiles) {
  EXPECT_THAT(shown({"output", "runs", "-w", "2", "-o", "stdout", "-d"}),
              EndsWith("/runs/000000/000002_compute/work/stdout <==\nsquare=4\n\n"));
  EXPECT_EQ(shown({"log", "runs"}),
            "==> runs/000000/run.log <==\n[2026-01-31 13:05:07,123]:INFO: started by JUBE\n\n");
  EXPECT_THAT(shown({"tag", "runs"}), StartsWith("run 0: tags fast\n"));
}

TEST_F(JubeRunsTest, WhyLeavesWhatIsToBeDoneToJube) {
  for (const char* workpackage : {"0", "4", "6", "7"})  // done, failed, waits, not begun
    EXPECT_THAT(
        shown({"why", "runs", workpackage}),
        AllOf(HasSubstr("JUBE: bench can only read this run"), Not(HasSubstr("bench continue"))));
  EXPECT_THAT(shown({"why", "runs", "4"}), HasSubstr("exit code 3 in step compute"));
}

TEST_F(JubeRunsTest, AreComparedIterationByIteration) {
  write_jube_run(here_, "runs/000001", jube_workpackages());
  EXPECT_THAT(shown({"compare", "runs", "--metric", "square"}), HasSubstr("| square[u] | 2, 2 |"));
}

TEST_F(JubeRunsTest, NothingOfThemIsChanged) {
  const auto before = files();
  for (const std::vector<std::string>& command : {std::vector<std::string>{"continue", "runs"},
                                                  {"remove", "-f", "runs"},
                                                  {"remove", "-f", "runs", "-w", "2"},
                                                  {"comment", "mine", "runs"}}) {
    const auto refused = here_.bench(command);
    EXPECT_EQ(refused.status.code, 1) << command[0];
    EXPECT_THAT(refused.standard_error,
                HasSubstr("was made by JUBE, and bench only reads such runs\nhint: use `jube`"))
        << command[0];
  }
  EXPECT_EQ(files(), before);
}

TEST_F(JubeRunsTest, TheNewestRunCountsWhoeverMadeIt) {
  here_.write("small.yaml", small_sweep());
  here_.bench({"run", "small.yaml"});
  write_jube_run(here_, "runs/000002", jube_workpackages(), jube_configuration("newest"));
  EXPECT_THAT(shown({"info", "runs", "-i", "last"}), HasSubstr("benchmark: newest\n"));
  EXPECT_THAT(shown({"info", "runs", "-i", "-2"}), HasSubstr("benchmark: small\n"));
  EXPECT_EQ(shown({"status", "runs", "-i", "all"}), "running\nfinished\nrunning\n");
  EXPECT_THAT(shown({"result", "runs", "-i", "0", "2", "-s", "csv"}),
              AllOf(StartsWith("id,n,word,"), HasSubstr("\n0,1,w1,"), HasSubstr("\n2,1,w1,")));
  EXPECT_THAT(here_.bench({"run", "small.yaml"}).standard_output, HasSubstr("# id: 3\n"));
}

TEST_F(JubeRunsTest, ARunThatFailedAtItsStartIsNone) {
  here_.write("runs/000001/configuration.xml", jube_configuration());
  EXPECT_THAT(shown({"info", "runs", "-i", "last"}), HasSubstr("directory: runs/000000\n"));
}

/// A text in the list of workpackages, what stands there instead, and what is said of that.
struct Damage {
  const char* from;
  const char* to;
  const char* message;
};

TEST_F(JubeRunsTest, ADamagedOneIsAnError) {
  const std::string sound = here_.read("runs/000000/workpackages.xml");
  for (const Damage& damage :
       {Damage{"</workpackages>", "", "<workpackages> is never closed"},
        {">check</step>", ">chekc</step>", "workpackage 6 does not fit the benchmark of its run"},
        {"<parents>0</parents>", "<parents>7</parents>",
         "workpackage 6 has a parent 7, which does not come before it"},
        {"id=\"1\"", "id=\"0\"", "there are two workpackages 0"},
        {"id=\"1\"", "id=\"-1\"", "'-1' is not a number of <workpackage>"},
        {"<workpackages>", "<!DOCTYPE x [<!ENTITY a '&a;'>]><workpackages>&a;",
         "entity '&a;' contains itself"}}) {
    std::string xml = sound;
    ASSERT_NE(xml.find(damage.from), std::string::npos);
    here_.write("runs/000000/workpackages.xml",
                xml.replace(xml.find(damage.from), std::string(damage.from).size(), damage.to));
    for (const std::vector<std::string>& command : {std::vector<std::string>{"result", "runs"},
                                                    {"info", "runs", "-i", "0"},
                                                    {"output", "runs"},
                                                    {"why", "runs", "0"}}) {
      const auto refused = here_.bench(command);
      EXPECT_EQ(refused.status.code, 1);
      EXPECT_THAT(refused.standard_error, HasSubstr(damage.message));
    }
  }
}

}  // namespace
}  // namespace bench::end_to_end
