// `bench references` and `bench result --compare`.
#include "bench_program.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A site with the published numbers `paper` and a directory of others, and a benchmark that
/// measures on one device and on two.
class ReferencesTest : public testing::Test {
 protected:
  void SetUp() override {
    here_.write("data/references/paper.csv",
                "source,table,cell,workload,accelerator,devices,batch,metric,unit,value,note\n"
                "Paper,Table 1,\"time, 1\",training,A100,1,32,run_time,min,2,\n"
                "Paper,Table 1,\"time, 2\",training,A100,1,32,run_time,min,4,reprinted\n"
                "Paper,Table 2,\"time, 1\",training,H100,4,32,run_time,min,1,\n"
                "Paper,Table 2,\"energy, 1\",training,H100,4,32,energy,kJ,,misprinted\n"
                "Paper,Table 2,\"energy, 2\",training,H100,4,32,energy,kJ,36,\n");
    here_.write("in.yaml", R"(name: training
outpath: runs
parameterset: {name: p, parameter: [{devices: [1, 2]}, {batch: 32}, {accelerator: NVIDIA H100}]}
step: {name: go, use: p, do: "echo time=$((60 / $devices)) energy=5"}
patternset:
  name: found
  pattern:
    - {name: t, type: float, unit: s, _: time=$jube_pat_fp}
    - {name: energy, type: float, unit: Wh, _: energy=$jube_pat_fp}
analyser: {name: output, use: found, analyse: {step: go, file: stdout}}
result:
  use: output
  table:
    - {name: all, style: csv, column: [devices, {title: Run time, _: t}, energy]}
    - {name: none, style: csv, column: [devices]}
)");
  }
  CommandOutput bench(const std::vector<std::string>& arguments) const {
    return here_.bench(arguments, {{"BENCH_DATA", (here_.path() / "data").string()},
                                   {"XDG_CONFIG_HOME", (here_.path() / "config").string()}});
  }
  void run() const {
    const auto run = bench({"run", "in.yaml"});
    ASSERT_EQ(run.status.code, 0) << run.standard_error;
  }

  Playground here_;
};

TEST_F(ReferencesTest, AreListed) {
  const auto list = bench({"references"});
  EXPECT_EQ(list.status.code, 0) << list.standard_error;
  EXPECT_THAT(
      list.standard_output,
      AllOf(ContainsRegex("\\| +name \\| +source \\| +workload \\| rows \\|"),
            ContainsRegex("\\| +paper \\| +Paper \\| +training \\| +5 \\|"),
            ContainsRegex("\\| +caraml_gpt_800m \\| CARAML, CARAML README \\| +GPT-800M \\|")));
  EXPECT_EQ(
      bench({"references", "--metric", "Run_Time", "--accelerator", "NVIDIA A100", "-s", "csv"})
          .standard_output,
      "name,source,workload,rows\npaper,Paper,training,2\n\n");
}

TEST_F(ReferencesTest, AreShownWithTheCellOfEachNumber) {
  const auto shown = bench({"references", "paper", "--metric", "energy", "--select", "source",
                            "table", "cell", "value", "unit", "note", "--style", "json"});
  EXPECT_EQ(shown.status.code, 0) << shown.standard_error;
  EXPECT_THAT(shown.standard_output,
              AllOf(HasSubstr(R"("cell": "energy, 1")"), HasSubstr(R"("value": null)"),
                    HasSubstr(R"("note": "misprinted")"), HasSubstr(R"("value": 36)"),
                    Not(HasSubstr("accelerator"))));
}

TEST_F(ReferencesTest, FiltersTakeEachOfSeveralTexts) {
  const auto shown = bench({"references", "--devices", "4", "--devices", "1", "paper", "--metric",
                            "run_time", "--select", "value", "-s", "csv"});
  EXPECT_EQ(shown.standard_output, "value\n2\n4\n1\n\n") << shown.standard_error;
}

TEST_F(ReferencesTest, MistakesAreAnswered) {
  const auto name = bench({"references", "papre"});
  EXPECT_EQ(name.status.code, 1);
  EXPECT_EQ(name.standard_error, "error: unknown reference 'papre'\nhint: did you mean 'paper'?\n");
  const auto metric = bench({"references", "paper", "--metric", "run_tame"});
  EXPECT_EQ(metric.status.code, 1);
  EXPECT_EQ(metric.standard_error,
            "error: no number here has metric 'run_tame'\nhint: did you mean 'run_time'?\n");
  const auto devices = bench({"references", "paper", "--devices", "64"});
  EXPECT_EQ(devices.standard_error, "error: no number here has devices '64'\nhint: known: 1, 4\n");
  EXPECT_EQ(bench({"references", "--metrics", "x"}).status.code, 2);
}

TEST_F(ReferencesTest, OursAreSetBesideTheNearest) {
  run();
  const std::string numbers = here_.read("data/references/paper.csv");
  const auto compared = bench({"result", "runs", "--compare", "paper"});
  EXPECT_EQ(compared.status.code, 0) << compared.standard_error;
  EXPECT_EQ(compared.standard_output,
            "workload,platform,devices,batch,metric,unit,ours,published,ratio,runs,conditions,"
            "source,note\n"
            "training,local,1,32,run_time,min,1,1,1,1,devices 1 against 4,\"Paper, Table 2\",\n"
            "training,local,1,32,energy,kJ,18,36,0.5,1,devices 1 against 4,\"Paper, Table 2\",\n"
            "training,local,2,32,run_time,min,0.5,1,0.5,1,devices 2 against 4,\"Paper, Table 2\",\n"
            "training,local,2,32,energy,kJ,18,36,0.5,1,devices 2 against 4,\"Paper, Table 2\",\n"
            "\n");
  const std::vector<std::pair<std::string, std::string>> styles{
      {"pretty", "| devices |   metric | ratio |"},
      {"aligned", "devices"},
      {"markdown", "| devices |"},
      {"latex", "\\begin{tabular}"},
      {"json", R"("metric": "run_time")"}};
  for (const auto& [style, part] : styles) {
    const auto styled = bench({"result", "runs", "--compare", "paper", "--select", "devices",
                               "metric", "ratio", "--style", style});
    EXPECT_EQ(styled.status.code, 0) << styled.standard_error;
    EXPECT_THAT(styled.standard_output, HasSubstr(part));
  }
  EXPECT_FALSE(here_.has("runs/000000/result")) << "nothing is written";
  EXPECT_EQ(here_.read("data/references/paper.csv"), numbers);
}

TEST_F(ReferencesTest, SeveralRunsAreOneComparison) {
  run();
  run();
  const auto compared = bench({"result", "runs", "-i", "all", "--compare", "paper", "--select",
                               "devices", "metric", "--style", "csv"});
  EXPECT_EQ(compared.standard_output,
            "id,devices,metric\n0,1,run_time\n0,1,energy\n0,2,run_time\n0,2,energy\n"
            "1,1,run_time\n1,1,energy\n1,2,run_time\n1,2,energy\n\n")
      << compared.standard_error;
}

/// A user's selection of numbers is a reference of its own.
TEST_F(ReferencesTest, SelectedNumbersMakeAFileToCompareWith) {
  run();
  const auto selected = bench({"references", "paper", "--accelerator", "A100", "-s", "csv"});
  here_.write("own/a100.csv", selected.standard_output);
  for (const std::string path : {"own/a100.csv", "own"}) {
    const auto compared = bench({"result", "runs", "--compare", path, "--select", "devices", "ours",
                                 "published", "runs", "conditions", "note"});
    EXPECT_EQ(compared.standard_output,
              "devices,ours,published,runs,conditions,note\n"
              "1,1,3,2,accelerator NVIDIA H100 against A100,reprinted\n"
              "2,0.5,3,2,\"accelerator NVIDIA H100 against A100, devices 2 against 1\",reprinted\n"
              "\n")
        << compared.standard_error;
  }
}

TEST_F(ReferencesTest, NothingToCompareIsAnError) {
  run();
  const auto none = bench({"result", "runs", "--compare", "paper", "--only", "none"});
  EXPECT_EQ(none.status.code, 1);
  EXPECT_THAT(none.standard_output, IsEmpty());
  EXPECT_EQ(none.standard_error,
            "error: no column of the tables is a metric of paper\n"
            "hint: its metrics are run_time, energy; `bench help column` explains `compare`\n");
  EXPECT_EQ(bench({"result", "runs", "--compare", ""}).standard_error.substr(0, 28),
            "error: unknown reference ''\n");
  const auto unknown = bench({"result", "runs", "--compare", "papr"});
  EXPECT_EQ(unknown.status.code, 1);
  EXPECT_EQ(unknown.standard_error,
            "error: unknown reference 'papr'\nhint: did you mean 'paper'?\n");
  here_.write("own.csv", "metric,value\nrun_time,fast\n");
  const auto wrong = bench({"result", "runs", "--compare", "own.csv"});
  EXPECT_EQ(wrong.status.code, 1);
  EXPECT_THAT(wrong.standard_error, StartsWith("own.csv:2: error: value 'fast' is not a number\n"));
}

TEST_F(ReferencesTest, AColumnWithTheWrongUnitIsMentioned) {
  here_.write("in.yaml", replace_all(here_.read("in.yaml"), "unit: s", "unit: MB"));
  run();
  const auto compared = bench({"result", "runs", "--compare", "paper", "--select", "metric"});
  EXPECT_EQ(compared.standard_output, "metric\nenergy\nenergy\n\n");
  EXPECT_THAT(compared.standard_error,
              HasSubstr("note: all: not compared: Run time: in MB, but run_time is published in "
                        "min\n"));
}

TEST_F(ReferencesTest, NumbersThatAreMissingAreAnErrorWithTheReason) {
  here_.write("in.yaml",
              replace_all(here_.read("in.yaml"), "time=$((60 / $devices)) energy=5", "no"));
  run();
  const auto compared = bench({"result", "runs", "--compare", "paper"});
  EXPECT_EQ(compared.status.code, 1);
  EXPECT_THAT(compared.standard_error,
              HasSubstr("error: no number can be compared with paper\nhint: "));
}

TEST_F(ReferencesTest, AColumnIsWhatTheInputFileSays) {
  here_.write(
      "in.yaml",
      replace_all(here_.read("in.yaml"), "column: [devices, {title: Run time, _: t}, energy]",
                  "column: [{compare: none, _: devices}, {compare: 'run_time[min]', _: t}]"));
  run();
  const auto compared = bench({"result", "runs", "--compare", "paper", "--select", "devices",
                               "metric", "ours", "conditions"});
  EXPECT_EQ(compared.standard_output,
            "devices,metric,ours,conditions\n"
            ",run_time,60,devices unstated against 4\n"
            ",run_time,30,devices unstated against 4\n\n")
      << compared.standard_error;
}

}  // namespace
}  // namespace bench::end_to_end
