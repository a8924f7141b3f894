#include "bench_program.hpp"
#include "support/document_commands.hpp"
#include "support/patience.hpp"
#include "support/source_directory.hpp"
#include "support/tutorial.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string sweep(const std::string& numbers) {
  return fmt::format(
      "name: sweep\noutpath: runs\n"
      "parameterset: {{name: p, parameter: [{{n: {}}}, {{name: twice, mode: python, _: 2 * "
      "$n}}]}}\n"
      "step: {{name: s, use: p, iterations: 2, do: echo energy_wh=$twice}}\n"
      "patternset: {{name: f, pattern: {{name: energy_wh, type: float, unit: Wh, _: "
      "energy_wh=$jube_pat_fp}}}}\n"
      "analyser: {{name: a, use: f, analyse: {{step: s, file: stdout}}}}\n",
      numbers);
}

class PlanTest : public testing::Test {
 protected:
  void run(const std::string& numbers) const { here_.run("sweep.yaml", sweep(numbers), {"-a"}); }
  /// As if the workpackages of a run had taken so long: no test waits, or depends on how fast the
  /// machine is.
  void set_times(int id, const std::string& seconds_of_n) const {
    SQLite::Database database((here_.path() / fmt::format("runs/{:06}/workspace.db", id)).string(),
                              SQLite::OPEN_READWRITE);
    database.exec(fmt::format(
        "UPDATE attempt SET ended_unix_s = started_unix_s + (SELECT {} FROM (SELECT "
        "json_extract(parameters, '$.n') AS n, json_extract(parameters, '$.m') AS m, "
        "json_extract(parameters, '$.k') AS k FROM workpackage WHERE id = workpackage))",
        seconds_of_n));
  }
  std::string plan(std::vector<std::string> arguments, int code = 0) const {
    return here_.text_of("plan", std::move(arguments), code);
  }
  Playground here_;
};

TEST_F(PlanTest, WithoutHistoryNothingIsPretended) {
  EXPECT_THAT(plan({}, 1), HasSubstr("error: nothing to plan\nhint: `bench plan FILE`, or"));
  EXPECT_THAT(plan({"nowhere.yaml"}, 1), HasSubstr("error: "));
  here_.write("sweep.yaml", sweep("[1, 2]"));
  EXPECT_THAT(
      plan({"sweep.yaml"}),
      AllOf(
          HasSubstr("| step | n | workpackages | time[s] | time from | energy[Wh] | node_hours |"),
          HasSubstr("never measured on this platform"),
          HasSubstr("\ntotal: 4 workpackages, node hours unknown, energy unknown\nnote: "),
          HasSubstr("note: history: 0 runs of benchmark sweep on platform local, host ")));
  EXPECT_FALSE(here_.has("runs"));
}

TEST_F(PlanTest, EarlierRunsTellOfTheirPointsAndOfTheirNeighbours) {
  run("[1, 2, 4]");
  set_times(0, "100 * n");
  here_.write("sweep.yaml", sweep("[2, 8]"));
  EXPECT_THAT(
      plan({"sweep.yaml", "-s", "csv"}),
      HasSubstr(
          "s,2,2,,,200,median of 2 workpackages,4,median of 2 workpackages,0.1111,\n"
          "s,8,2,,,800,\"power law in n^1.00 of 3 points, ±0 %, extrapolated\",16,\"power law in "
          "n^1.00 of 3 points, ±0 %, extrapolated\",0.4444,\n"));
  EXPECT_THAT(plan({"sweep.yaml"}),
              HasSubstr("total: 4 workpackages, 0.556 node hours, 0.04 kWh\n"));
  // Those elsewhere are added by hand.
  here_.write("sweep.yaml", replace_all(sweep("[4]"), "outpath: runs", "outpath: others"));
  EXPECT_THAT(plan({"sweep.yaml"}), HasSubstr("never measured"));
  EXPECT_THAT(plan({"sweep.yaml", "--history", "runs"}),
              AllOf(HasSubstr("median of 2 workpackages"), HasSubstr("history: 1 run of")));
  EXPECT_THAT(plan({"sweep.yaml", "--history", "nowhere"}, 1),
              HasSubstr("error: --history names nowhere, which is not a directory\n"));
}

TEST_F(PlanTest, ATotalSaysWhatItLeavesOut) {
  run("[1]");
  set_times(0, "3600");
  here_.write("sweep.yaml", sweep("[1, 2]"));
  EXPECT_THAT(
      plan({"sweep.yaml"}),
      HasSubstr("total: 4 workpackages, 2 node hours, 0.004 kWh\n"
                "2 workpackages without an expected time: the node hours are a lower bound\n"
                "2 workpackages without an expected energy: the energy is a lower bound\n"));
}

TEST_F(PlanTest, ListsOfComputedValuesMakePointsOfTheirOwn) {
  const std::string two =
      "[1, 2]}, {name: m, _: '$n,8'}, {name: k, mode: python, _: "
      "\"','.join(['$n', '9'])\"";
  run(two);
  set_times(0, "100 * m + k");
  const std::string table = plan({"sweep.yaml", "-s", "csv"});
  for (const char* point : {"s,1,1,1,2,,,101,", "s,1,1,9,2,,,109,", "s,1,8,1,2,,,801,",
                            "s,2,2,9,2,,,209,", "s,2,8,2,2,,,802,"})
    EXPECT_THAT(table, HasSubstr(point));
}

TEST_F(PlanTest, RunsThatMayNotBeReadAreCounted) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may read everything";
  run("[1]");
  run("[1]");
  fs::permissions(here_.path() / "runs/000000/workspace.db", fs::perms::none);
  EXPECT_THAT(plan({"sweep.yaml"}),
              AllOf(HasSubstr("history: 1 run of"), HasSubstr("; you may not read 1 run\n")));
}

TEST_F(PlanTest, ADamagedRunIsNamedAndLeftOut) {
  run("[1]");
  run("[1]");
  here_.write("runs/000000/workspace.db", "no database");
  EXPECT_THAT(plan({"sweep.yaml"}),
              AllOf(HasSubstr("history: 1 run of"), HasSubstr("note: runs/000000 is left out: ")));
}

TEST_F(PlanTest, ABudgetPaysForTheFirstWorkpackages) {
  run("[1, 2, 4]");
  set_times(0, "3600 * n");
  EXPECT_THAT(plan({"sweep.yaml", "--budget", "14nh"}),
              HasSubstr("a budget of 14nh covers the whole plan\n"));
  EXPECT_THAT(plan({"sweep.yaml", "--budget", "5nh"}),
              HasSubstr("a budget of 5nh covers the first 3 workpackages: the next one would "
                        "exceed it\n"));
  EXPECT_THAT(plan({"sweep.yaml", "--budget", "0.02kWh"}),
              HasSubstr("a budget of 0.02kWh covers the first 5 workpackages"));
  EXPECT_THAT(plan({"sweep.yaml", "--budget", "5nh", "-s", "csv"}),
              HasSubstr("note: style csv shows neither totals nor the budget\n"));
  EXPECT_THAT(plan({"sweep.yaml", "--budget", "infWh"}, 1),
              HasSubstr("error: invalid budget 'infWh'\n"));
  EXPECT_THAT(plan({"sweep.yaml", "--budget", "5 apples"}, 1),
              HasSubstr("error: invalid budget '5 apples'\n"));
}

TEST_F(PlanTest, EnergyHasAPrice) {
  run("[1, 2, 4]");
  here_.write("factors.yaml",
              "patternset:\n  name: costs\n  pattern:\n"
              "    - {name: pue, mode: text, _: 1.5}\n"
              "    - {name: price, mode: text, unit: EUR/kWh, _: 0.2}\n"
              "    - {name: intensity, mode: text, unit: g/kWh, _: 350}\n"
              "    - {name: cost, mode: python, unit: EUR, _: $energy_wh * $price}\n");
  EXPECT_THAT(plan({"sweep.yaml", "--costs", "factors.yaml"}),
              HasSubstr(" 0.028 kWh, 0.0084 EUR, 14.7 g CO2 (PUE 1.5)\n"));
  // Nothing is multiplied by a factor that is misread.
  const auto refused = [&](const std::string& patterns) {
    here_.write("wrong.yaml", "patternset: {name: costs, pattern: [" + patterns + "]}\n");
    return plan({"sweep.yaml", "--costs", "wrong.yaml", "-s", "csv"}, 1);
  };
  EXPECT_THAT(refused("{name: price, unit: EUR/MWh, _: 200}"),
              AllOf(HasSubstr("error: the factor price is in EUR/MWh\nhint: state it per kWh\n"),
                    Not(HasSubstr("time[s]"))));
  EXPECT_THAT(refused("{name: intensity, unit: kg/kWh, _: 1}"),
              HasSubstr("error: the factor intensity is in kg/kWh\nhint: state it per kWh, in g"));
  EXPECT_THAT(refused("{name: price, _: 1}, {name: pue, mode: python, _: 1.1 * 1.2}"),
              HasSubstr("error: the factor pue is not a number: '1.1 * 1.2'\n"));
  EXPECT_THAT(refused("{name: price, _: nan}"), HasSubstr("is not a number: 'nan'\n"));
  EXPECT_THAT(refused("{name: price, _: 1}, {name: pue, _: 0.1}"),
              HasSubstr("error: the factor pue is 0.1\n"));
  here_.write("none.yaml", "patternset: {name: costs, pattern: {name: pue, _: 1}}\n");
  EXPECT_THAT(plan({"sweep.yaml", "--costs", "none.yaml"}, 1),
              HasSubstr("error: none.yaml has neither a price nor an intensity\n"));
}

TEST_F(PlanTest, ARunShowsHowFarOffThePlanWas) {
  run("[1, 2, 4]");
  set_times(0, "100 * n");
  run("[1, 2, 8]");
  set_times(1, "80 * n");
  run("[1, 2, 4]");  // what came later says nothing of it
  set_times(2, "1 * n");
  EXPECT_THAT(plan({"--check", "runs/000001"}),
              AllOf(HasSubstr("+25.0"), HasSubstr("history: 1 run of"),
                    HasSubstr("time: median error 25.0 %, largest 25.0 %, of 3 of 3 points\n"
                              "energy: median error 0.0 %, largest 0.0 %, of 3 of 3 points\n")));
  EXPECT_THAT(plan({"--check", "runs/000000"}),
              HasSubstr("time: no point could be planned before the run\n"));
}

/// bench beside a step program that describes a network of any size.
class PlanOfStepProgramTest : public PlanTest {
 protected:
  void SetUp() override {
    fs::create_directories(here_.path() / "share");
    fs::create_directory_symlink(fs::path(BENCHMARKS_DIRECTORY).parent_path(),
                                 here_.path() / "share/bench");
    here_.write("bin/steps/gpt",
                "#!/bin/sh\n"
                "[ \"$4 $5\" = '--steps 10' ] || exit 3\n"
                "echo trainable_parameters=${2}000000000\n"
                "echo training_flops_per_sample=${2}000000000000000\n");
    fs::permissions(here_.path() / "bin/steps/gpt", fs::perms::owner_all);
    fs::copy_file(BENCH_PROGRAM, here_.path() / "bin/bench");
    here_.write("train.yaml",
                "name: train\noutpath: runs\n"
                "parameterset: {name: p, parameter: {billions: [1, 12]}}\n"
                "step:\n  name: s\n  use: p\n"
                "  batch: {tasks_per_node: 4, gpus_per_node: 4}\n"
                "  do: $jube_starter gpt --billions $billions --batch-size=2 --steps 10 "
                "--precision fp16 > log\n");
  }
  std::string own_bench(std::vector<std::string> arguments) const {
    ProcessSpec spec = here_.spec(std::move(arguments), {{"BENCH_DATA", ""}});
    spec.arguments.front() = (here_.path() / "bin/bench").string();
    const auto output = run_command(std::move(spec), support::far_too_long_s);
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    return output.standard_output;
  }
  std::string plan_with(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "plan");
    return own_bench(std::move(arguments));
  }
};

TEST_F(PlanOfStepProgramTest, PeaksStandInForHistoryAndSayWhatTheyAssume) {
  // 1e15 per sample, 2 samples in 10 steps on 4 devices of 312 TFLOP/s.
  EXPECT_THAT(
      plan_with({"train.yaml", "--platform", "A100", "-s", "csv"}),
      HasSubstr(
          "s,1,1,8e+04,4,160.3,\"assumed: 40 % of the fp16 peak of 312 TFLOP/s, without start-up"));
  EXPECT_THAT(
      plan_with({"train.yaml", "--platform", "A100", "-s", "csv", "--efficiency", "20"}),
      HasSubstr(",320.5,\"assumed: 20 % of the fp16 peak of 312 TFLOP/s, without start-up"));
}

TEST_F(PlanOfStepProgramTest, OneMeasuredPointTellsOfOthersByTheirWork) {
  const std::string input = here_.read("train.yaml");
  here_.write("train.yaml", replace_all(input, "[1, 12]", "1"));
  own_bench({"run", "train.yaml"});
  set_times(0, "100");
  here_.write("train.yaml", input);
  EXPECT_THAT(plan_with({"train.yaml", "-s", "csv"}),
              HasSubstr(",1200,\"by its work, from 1 measured point\""));
}

TEST_F(PlanOfStepProgramTest, PointsOfAModelAreNotCountedAsMeasured) {
  const std::string input = replace_all(here_.read("train.yaml"), "{billions: [1, 12]}",
                                        "[{billions: BILLIONS}, {variant: VARIANTS}]");
  const auto write = [&](const std::string& billions, const std::string& variants) {
    here_.write("train.yaml",
                replace_all(replace_all(input, "BILLIONS", billions), "VARIANTS", variants));
  };
  write("[1, 2]", "a");
  own_bench({"run", "train.yaml"});
  set_times(0, "100 * (1 + workpackage)");
  write("[1, 12]", "[a, b]");
  EXPECT_THAT(plan_with({"train.yaml", "-s", "csv"}),
              AllOf(HasSubstr("power law in billions^1.00 of 2 points"),
                    HasSubstr(",1200,\"by its work, from 1 measured point\"")));
  write("12", "[a, b]");
  EXPECT_THAT(plan_with({"train.yaml", "-s", "csv"}),
              HasSubstr(",1200,\"by its work, from 1 modelled point\""));
}

TEST_F(PlanOfStepProgramTest, APointLargerThanTheDeviceIsMarkedIfThePlatformStatesIt) {
  EXPECT_THAT(plan_with({"train.yaml", "--platform", "A100"}),
              AllOf(HasSubstr("needs at least 48.0 GB, a device has 40 GB"),
                    HasSubstr("total: 1 workpackage, "),
                    HasSubstr("1 workpackage cannot fit into memory and is not in the totals\n")));
  EXPECT_THAT(plan_with({"train.yaml", "--platform", "slurm"}),
              AllOf(HasSubstr("never measured, and platform slurm has no confirmed fp16 peak"),
                    Not(HasSubstr("cannot fit into memory"))));
}

TEST_F(PlanTest, AnswersTheLinesOfItsPage) {
  const fs::path page = support::source_directory() / "docs/how-to/plan_a_sweep.md";
  for (const auto& [name, text] : support::files_to_save(read_file(page)))
    here_.write(name, text);
  int count = 0;
  for (const auto& command : support::commands_to_run(page)) {
    const auto words = split_names(command.line, " ");
    const auto output = here_.bench({words.begin() + 1, words.end()});
    EXPECT_EQ(output.status.code, 0) << command.line << "\n" << output.standard_error;
    ++count;
  }
  EXPECT_GE(count, 6);
}

TEST_F(PlanTest, ACheckRefusesTheOptionsOfAPlan) {
  for (const char* option : {"--tag", "--include-path", "--outpath", "--platform", "--budget",
                             "--costs", "--efficiency"})
    EXPECT_THAT(here_.text_of("plan", {"--check", "runs", option, "1"}, 2),
                HasSubstr(option + std::string(" excludes --check")));
}

}  // namespace
}  // namespace bench::end_to_end
