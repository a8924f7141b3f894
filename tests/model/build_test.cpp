#include "model/fixture.hpp"
#include "support/case_name.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/value.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/build.hpp>

namespace bench::model {
namespace {

using support::case_name;
using testing::ElementsAre;

std::vector<Benchmark> build_all(const std::string& yaml) {
  Diagnostics diagnostics;
  return build(document::read_yaml(yaml, "in.yaml", diagnostics), diagnostics);
}

struct BuildCase {
  std::string name;
  std::string yaml;
  std::string expected;
};

std::string with_energy(const std::string& settings) {
  return "step: {name: s, batch: true, energy: {" + settings + "}}\n";
}

std::string with_retry(const std::string& setting) {
  return "step: {name: s, retry: " + setting + "}\n";
}

class BuildErrorTest : public testing::TestWithParam<BuildCase> {};

TEST_P(BuildErrorTest, IsToldAtItsPlace) {
  EXPECT_EQ(fault_in(GetParam().yaml), GetParam().expected);
}

/// Below a step that makes a benchmark whole.
std::string with_step(const std::string& yaml) {
  return "step: {name: s}\n" + yaml;
}

INSTANTIATE_TEST_SUITE_P(
    Names, BuildErrorTest,
    testing::Values(
        BuildCase{"StepWithoutName", "name: d\nstep: {do: echo}\n", "in.yaml:2:7: missing-key"},
        BuildCase{"BlankName", "step: {name: ' ', do: echo}\n", "in.yaml:1:7: missing-key"},
        BuildCase{"ParameterName",
                  with_step("parameterset:\n  name: p\n  parameter:\n"
                            "    - {name: a-b, _: 1}\n"),
                  "in.yaml:5:14: invalid-value"},
        BuildCase{"ParameterNameWithDigitFirst",
                  with_step("parameterset: {name: p, parameter: {name: 1a, _: 1}}\n"),
                  "in.yaml:2:43: invalid-value"},
        BuildCase{"PatternName", with_step("patternset: {name: p, pattern: {name: a b, _: x}}\n"),
                  "in.yaml:2:39: invalid-value"},
        BuildCase{"StepTwice", "step:\n  - {name: s}\n  - {name: s}\n",
                  "in.yaml:3:5: duplicate-name"},
        BuildCase{"SetTwice", with_step("parameterset:\n  - {name: p}\n  - {name: p}\n"),
                  "in.yaml:4:5: duplicate-name"},
        BuildCase{"GlobalAndLocalSet",
                  "parameterset: {name: p}\nbenchmark:\n  parameterset: {name: p}\n"
                  "  step: {name: s, use: p}\n",
                  "in.yaml:3:17: duplicate-name"},
        BuildCase{"BenchmarkTwice", "- {name: b, step: {name: s}}\n- {name: b, step: {name: s}}\n",
                  "in.yaml:2:10: duplicate-name"},
        BuildCase{"TableTwice",
                  with_step("result:\n  - table: {name: t, column: x}\n"
                            "  - table: {name: t, column: x}\n"),
                  "in.yaml:4:12: duplicate-name"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    References, BuildErrorTest,
    testing::Values(
        BuildCase{"UseOfUnknownSet", "parameterset: {name: sizes}\nstep:\n  name: s\n  use: size\n",
                  "in.yaml:4:8: unknown-name"},
        BuildCase{"UseWhereNothingIsClose",
                  "parameterset: [{name: p}, {name: q}]\nstep:\n  name: s\n  use: [p, elsewhere]\n",
                  "in.yaml:4:12: unknown-name"},
        BuildCase{"WatchedFileInABatchStep",
                  "step:\n  name: s\n  batch: true\n  do: [a, {done_file: ready, _: b}]\n",
                  "in.yaml:4:33: conflict"},
        BuildCase{"SharedCommandInABatchStep",
                  "step:\n  name: s\n  batch: true\n  shared: all\n  do: {shared: true, _: b}\n",
                  "in.yaml:5:25: conflict"},
        BuildCase{"UseWhereNoneIsDefined", "step: {name: s, use: p}\n",
                  "in.yaml:1:22: unknown-name"},
        BuildCase{"UseTwice", "parameterset: {name: p}\nstep: {name: s, use: 'p,p'}\n",
                  "in.yaml:2:22: duplicate-name"},
        BuildCase{"UseOfAPatternSet", "patternset: {name: p}\nstep: {name: s, use: p}\n",
                  "in.yaml:2:22: conflict"},
        BuildCase{"DependOnUnknown", "step:\n  - {name: build}\n  - {name: go, depend: biuld}\n",
                  "in.yaml:3:24: unknown-name"},
        BuildCase{"DependOnItself", "step: {name: s, depend: s}\n",
                  "in.yaml:1:7: circular-reference"},
        BuildCase{"DependInACircle",
                  "step:\n  - {name: a, depend: b}\n  - {name: b, depend: c}\n"
                  "  - {name: c, depend: b}\n",
                  "in.yaml:3:5: circular-reference"},
        BuildCase{"AnalyserOfUnknownSet", with_step("analyser:\n  name: a\n  use: p\n"),
                  "in.yaml:4:8: unknown-name"},
        BuildCase{"AnalyserOfUnknownStep",
                  with_step("analyser: {name: a, analyse: {step: t, file: f}}\n"),
                  "in.yaml:2:37: unknown-name"},
        BuildCase{
            "FileOfUnknownSet",
            with_step("analyser:\n  name: a\n  analyse:\n    step: s\n    file: {use: p, _: f}\n"),
            "in.yaml:6:23: unknown-name"},
        BuildCase{"ResultOfUnknownAnalyser",
                  with_step("result: {use: nowhere, table: {name: t, column: x}}\n"),
                  "in.yaml:2:15: unknown-name"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Words, BuildErrorTest,
    testing::Values(
        BuildCase{"ParameterMode",
                  with_step("parameterset: {name: p, parameter: {name: a, mode: pyhton, _: 1}}\n"),
                  "in.yaml:2:52: invalid-value"},
        BuildCase{"PatternMode",
                  with_step("patternset: {name: p, pattern: {name: a, mode: env, _: 1}}\n"),
                  "in.yaml:2:48: invalid-value"},
        BuildCase{"TableStyle", with_step("result: {table: {name: t, style: pritty, column: x}}\n"),
                  "in.yaml:2:34: invalid-value"},
        BuildCase{"ListWithAMode",
                  with_step("parameterset: {name: p, parameter: {a: {mode: python, _: [1, 2]}}}\n"),
                  "in.yaml:2:47: conflict"},
        BuildCase{"Iterations", "step: {name: s, iterations: 0}\n", "in.yaml:1:29: invalid-value"},
        BuildCase{"IterationsOfAParameter", "step: {name: s, iterations: $n}\n",
                  "in.yaml:1:29: invalid-value"},
        BuildCase{"Procs", "step: {name: s, procs: 1.5}\n", "in.yaml:1:24: invalid-value"},
        BuildCase{"ColumnWidth",
                  with_step("result: {table: {name: t, column: {colw: -1, _: x}}}\n"),
                  "in.yaml:2:42: invalid-value"},
        BuildCase{"PublishedName",
                  with_step("result: {table: {name: t, column: {compare: 'rate[1/s', _: x}}}\n"),
                  "in.yaml:2:45: invalid-value"},
        BuildCase{"EmptyColumn", with_step("result: {table: {name: t, column: {title: x}}}\n"),
                  "in.yaml:2:35: missing-key"},
        BuildCase{"Timeout", "step: {name: s, timeout: soon}\n", "in.yaml:1:26: invalid-value"},
        BuildCase{"BatchWord", "step: {name: s, batch: maybe}\n", "in.yaml:1:24: wrong-structure"},
        BuildCase{"EnergyWord", "step: {name: s, energy: rapl}\n", "in.yaml:1:25: wrong-structure"},
        BuildCase{"EnergyWithoutBatch", "step: {name: s, energy: true}\n",
                  "in.yaml:1:25: conflict"},
        BuildCase{"Thermal", with_energy("thermal: cool"), "in.yaml:1:48: invalid-value"},
        BuildCase{"GpuPowerLimit",
                  "step: {name: s, batch: true, energy: true, gpu_power_limit: 300}\n",
                  "in.yaml:1:61: invalid-value"},
        BuildCase{"GpuClock", "step: {name: s, batch: true, energy: true, gpu_clock: fast}\n",
                  "in.yaml:1:55: invalid-value"},
        BuildCase{"CpuGovernor", "step: {name: s, batch: true, energy: true, cpu_governor: 3GHz}\n",
                  "in.yaml:1:58: invalid-value"},
        BuildCase{"SettingWithoutEnergy", "step: {name: s, batch: true, gpu_clock: 1410MHz}\n",
                  "in.yaml:1:41: conflict"},
        BuildCase{"SettingWithSeveralMeters",
                  "step: {name: s, batch: true, energy: {per_node: false}, gpu_clock: 1410MHz}\n",
                  "in.yaml:1:68: conflict"},
        BuildCase{"EnergyMethod", with_energy("methods: nvm"), "in.yaml:1:48: invalid-value"},
        BuildCase{"EnergyMethodAmongOthers", with_energy("methods: 'rapl, mock'"),
                  "in.yaml:1:48: invalid-value"},
        BuildCase{"EnergyInterval", with_energy("interval: 1us"), "in.yaml:1:49: invalid-value"},
        BuildCase{"EnergyIntervalWithoutUnit", with_energy("interval: 100"),
                  "in.yaml:1:49: invalid-value"},
        BuildCase{"EnergyBaseline", with_energy("baseline: 2h"), "in.yaml:1:49: invalid-value"},
        BuildCase{"EnergyBaselineOutOfRange", with_energy("baseline: 99ms"),
                  "in.yaml:1:49: invalid-value"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Truths, BuildErrorTest,
    testing::Values(
        BuildCase{"PerNode", "step: {name: s, batch: true, energy: {per_node: perhaps}}\n",
                  "in.yaml:1:49: invalid-value"},
        BuildCase{"PerNodeOfAParameter", "step: {name: s, batch: true, energy: {per_node: $p}}\n",
                  "in.yaml:1:49: invalid-value"},
        BuildCase{"Array", "step: {name: s, batch: {array: 1}}\n", "in.yaml:1:32: invalid-value"},
        BuildCase{"Export", "step: {name: s, export: treu}\n", "in.yaml:1:25: invalid-value"},
        BuildCase{
            "ExportOfAParameter",
            "parameterset: {name: p, parameter: {name: a, export: all, _: 1}}\nstep: {name: s}\n",
            "in.yaml:1:54: invalid-value"},
        BuildCase{"YamlsOwnWord", "step: {name: s, export: 'TRUE', batch: {array: no}}\n",
                  "(no error)"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Retries, BuildErrorTest,
    testing::Values(
        BuildCase{"Misspelt", with_retry("{on: [failed, timout]}"), "in.yaml:1:38: unknown-name"},
        BuildCase{"UnknownWord", with_retry("{on: weather}"), "in.yaml:1:29: unknown-name"},
        BuildCase{"Success", with_retry("{on: done}"), "in.yaml:1:29: unknown-name"},
        BuildCase{"WhatIsMadeAgainAnyway", with_retry("{on: interrupted}"),
                  "in.yaml:1:29: unknown-name"},
        BuildCase{"NoNumber", with_retry("often"), "in.yaml:1:24: invalid-value"},
        BuildCase{"Parameter", with_retry("$n"), "in.yaml:1:24: invalid-value"},
        BuildCase{"Negative", with_retry("-1"), "in.yaml:1:24: invalid-value"},
        BuildCase{"TooMany", with_retry("1001"), "in.yaml:1:24: invalid-value"},
        BuildCase{"NegativeTimes", with_retry("{times: -1}"), "in.yaml:1:32: invalid-value"},
        BuildCase{"SmallFactor", with_retry("{timelimit_factor: 0.5}"),
                  "in.yaml:1:43: invalid-value"},
        BuildCase{"NoFactor", with_retry("{timelimit_factor: twice}"),
                  "in.yaml:1:43: invalid-value"},
        BuildCase{"EndlessFactor", with_retry("{timelimit_factor: inf}"),
                  "in.yaml:1:43: invalid-value"}),
    case_name);

TEST(Build, LeavesEnergySettingsWithParametersToTheirValues) {
  const Energy energy =
      *benchmark_of(with_energy("methods: $m, interval: $i, baseline: '${b}s'")).steps.at(0).energy;
  EXPECT_EQ(energy.methods, "$m");
  EXPECT_EQ(energy.interval, "$i");
  EXPECT_EQ(energy.baseline, "${b}s");
}

TEST(Build, RefusesAFileWithoutABenchmark) {
  const document::Node root{.name = "jube", .place = {"in.yaml", 1, 1}};
  Diagnostics diagnostics;
  EXPECT_EQ(support::fault_of([&] { build(root, diagnostics); }), "in.yaml:1:1: missing-key");
}

TEST(Build, PutsTheCaretRightBehindLettersOfSeveralBytes) {
  const support::TempDirectory directory;
  const std::string file =
      directory.write("in.yaml", "step: {name: größe, procs: viele}\n").string();
  Diagnostics diagnostics;
  const std::string said =
      support::error_of([&] { build(document::read_file(file, diagnostics), diagnostics); });
  EXPECT_TRUE(
      said.ends_with("\n  step: {name: größe, procs: viele}\n"
                     "                             ^"))
      << said;
}

TEST(Build, GivesAStepItsDefaults) {
  const Step step = benchmark_of("step: {name: s, do: echo}\n").steps.at(0);
  EXPECT_EQ(step.iterations, 1);
  EXPECT_EQ(step.procs, 0);
  EXPECT_EQ(step.max_async + step.where + step.timeout, "");
  EXPECT_EQ(step.active, "true");
  EXPECT_FALSE(step.batch || step.energy);
  EXPECT_EQ(step.commands.at(0).stdout_file, "stdout");
  EXPECT_EQ(step.commands.at(0).stderr_file, "stderr");
  EXPECT_EQ(step.commands.at(0).active, "true");
  EXPECT_EQ(step.commands.at(0).place, (Place{"in.yaml", 1, 21}));
}

TEST(Build, GivesAParameterItsDefaults) {
  const auto benchmark =
      benchmark_of(with_step("parameterset: {name: p, parameter: {name: a, _: ' 1,2 '}}\n"));
  const Parameter& parameter = benchmark.parameter_sets.at(0).parameters.at(0);
  EXPECT_EQ(parameter.text, "1,2");
  EXPECT_EQ(parameter.separator, ",");
  EXPECT_EQ(parameter.type, ValueType::string);
  EXPECT_EQ(parameter.mode, evaluate::Mode::text);
  EXPECT_FALSE(parameter.exported);
}

TEST(Build, KeepsTheListOfTheShortForm) {
  const auto benchmark =
      benchmark_of(with_step("parameterset: {name: p, parameter: {a: [' 1', '2,3'], b: x}}\n"));
  const auto& parameters = benchmark.parameter_sets.at(0).parameters;
  EXPECT_THAT(parameters.at(0).values, ElementsAre("1", "2,3"));
  EXPECT_EQ(parameters.at(0).text, "");
  EXPECT_EQ(parameters.at(1).text, "x");
}

TEST(Build, ReplacesAParameterWhereItStood) {
  const auto set = benchmark_of(with_step("parameterset:\n  name: p\n  parameter:\n"
                                          "    - {name: a, _: 1}\n    - {name: b, _: 2}\n"
                                          "    - {name: a, type: int, _: 3}\n"))
                       .parameter_sets.at(0);
  ASSERT_EQ(set.parameters.size(), 2U);
  EXPECT_EQ(set.parameters[0].name, "a");
  EXPECT_EQ(set.parameters[0].text, "3");
  EXPECT_EQ(set.parameters[0].type, ValueType::integer);
}

TEST(Build, PutsGlobalSetsFirst) {
  const auto benchmarks = build_all(
      "parameterset: {name: g}\npatternset: {name: gp}\n"
      "benchmark:\n  - {name: b1, parameterset: {name: l}, step: {name: s}}\n"
      "  - {name: b2, step: {name: s}}\n");
  ASSERT_EQ(benchmarks.size(), 2U);
  EXPECT_NE(benchmarks[1].parameter_set("g"), nullptr);
  EXPECT_NE(benchmarks[1].pattern_set("gp"), nullptr);
  EXPECT_EQ(benchmarks[1].parameter_set("l"), nullptr);
  EXPECT_EQ(benchmarks[0].parameter_sets.at(0).name, "g");
  EXPECT_EQ(benchmarks[0].parameter_sets.at(1).name, "l");
}

TEST(Build, ReadsWhatABatchStepAsksFor) {
  const auto benchmark = benchmark_of(
      "step:\n  - {name: plain, batch: true, energy: true}\n  - {name: quick, batch: false}\n"
      "  - name: big\n    batch: {nodes: $n, gpus_per_node: 4, time_limit: 1h, template: own.job}\n"
      "    energy: {methods: rapl, interval: 1s}\n");
  EXPECT_EQ(benchmark.step("plain")->batch->nodes, "1");
  EXPECT_EQ(benchmark.step("plain")->batch->tasks_per_node, "1");
  EXPECT_EQ(benchmark.step("plain")->energy->methods, "auto");
  EXPECT_EQ(benchmark.step("plain")->energy->interval, "100ms");
  EXPECT_FALSE(benchmark.step("quick")->batch);
  EXPECT_EQ(benchmark.step("big")->batch->nodes, "$n");
  EXPECT_EQ(benchmark.step("big")->batch->job_template, "own.job");
  EXPECT_EQ(benchmark.step("big")->energy->interval, "1s");
}

TEST(Build, LeavesATimeoutWithAParameterForLater) {
  EXPECT_EQ(benchmark_of("step: {name: s, timeout: '${t}min'}\n").step("s")->timeout, "${t}min");
}

TEST(Build, TakesTheLastPatternOfAName) {
  const auto benchmark = benchmark_of(with_step(
      "patternset: {name: p, pattern: [{name: a, _: x}, {name: b, _: z}, {name: a, _: y}]}\n"));
  const PatternSet& set = *benchmark.pattern_set("p");
  ASSERT_EQ(set.patterns.size(), 2U);
  EXPECT_EQ(set.patterns[0].text, "y");
  EXPECT_EQ(set.replaced.at(0).text, "x");
}

TEST(Build, TellsAnEmptyTitleFromNone) {
  const auto benchmark =
      benchmark_of(with_step("result: {table: {name: t, column: [a, {title: '', _: b}]}}\n"));
  const std::vector<Column>& columns = benchmark.results.at(0).tables.at(0).columns;
  EXPECT_FALSE(columns.at(0).title);
  EXPECT_EQ(columns.at(1).title, "");
}

TEST(Build, ReadsAnalysersAndTables) {
  const auto benchmark = benchmark_of(with_step(
      "patternset: {name: p, pattern: [{name: a, type: float, unit: s, default: ' 0 ', _: x},\n"
      "                                {name: b, mode: python, _: $a*2}]}\n"
      "analyser: {name: n, reduce: false, use: p, analyse: {step: s, file: 'stdout, *.log'}}\n"
      "result: {use: n, result_dir: r, table: {name: t, sort: 'a, b', column: [a, b]}}\n"));
  EXPECT_EQ(*benchmark.pattern_set("p")->patterns.at(0).default_value, "0");
  EXPECT_TRUE(benchmark.pattern_set("p")->patterns.at(1).derived);
  const Analyser& analyser = *benchmark.analyser("n");
  EXPECT_FALSE(analyser.reduce);
  EXPECT_EQ(analyser.analyses.at(0).files.at(1).name, "*.log");
  const Table& table = benchmark.results.at(0).tables.at(0);
  EXPECT_EQ(table.style, "csv");
  EXPECT_THAT(table.sort, ElementsAre("a", "b"));
  EXPECT_EQ(table.columns.at(1).name, "b");
  EXPECT_EQ(benchmark.results.at(0).result_dir, "r");
}

Step step_of(const std::string& settings) {
  return benchmark_of("step: {name: s, " + settings + "}\n").steps.at(0);
}

TEST(Steps, ReadWhereAndHowOftenTheyRun) {
  const Step step = step_of(
      "cycles: 3, work_dir: ' d/$n ', suffix: $n, shared: all, export: true, do_log_file: a/log");
  EXPECT_EQ(step.cycles, 3);
  EXPECT_EQ(step.work_dir, "d/$n");
  EXPECT_EQ(step.suffix, "$n");
  EXPECT_EQ(step.shared, "all");
  EXPECT_TRUE(step.exported);
  EXPECT_EQ(step.do_log_file, "a/log");
}

TEST(Steps, LogToDoLogWhereTheyAreTold) {
  EXPECT_EQ(step_of("do_log_file: true").do_log_file, "do_log");
  EXPECT_EQ(step_of("do_log_file: false").do_log_file, "");
  EXPECT_EQ(step_of("do_log_file: None").do_log_file, "");
  EXPECT_EQ(step_of("do: echo").do_log_file, "");
}

TEST(Steps, GoToTheBatchSystemAsArraysUnlessToldOtherwise) {
  EXPECT_TRUE(step_of("batch: true").batch->array);
  EXPECT_FALSE(step_of("batch: true").batch->may_pack());
  const Step step = step_of("batch: {array: false, pack: $n}");
  EXPECT_FALSE(step.batch->array);
  EXPECT_EQ(step.batch->pack, "$n");
}

TEST(Commands, ReadTheFilesTheyWaitFor) {
  const Command command =
      step_of("do: {work_dir: d, done_file: $f, error_file: e, break_file: b, _: ''}")
          .commands.at(0);
  EXPECT_EQ(command.text, "");
  EXPECT_EQ(command.work_dir, "d");
  EXPECT_EQ(command.done_file, "$f");
  EXPECT_EQ(command.error_file, "e");
  EXPECT_EQ(command.break_file, "b");
}

class SharedTest : public testing::TestWithParam<std::pair<std::string, bool>> {};

TEST_P(SharedTest, IsTrueOrFalseInAnyCase) {
  const Step step = step_of("shared: all, do: {shared: " + GetParam().first + ", _: echo}");
  EXPECT_EQ(step.commands.at(0).shared, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(Words, SharedTest,
                         testing::Values(std::pair{"true", true}, std::pair{"'true'", true},
                                         std::pair{"TRUE", true}, std::pair{"false", false},
                                         std::pair{"'False'", false}));

TEST(Commands, AreSharedInASharedDirectoryOnly) {
  EXPECT_EQ(fault_in("step: {name: s, do: {shared: true, _: echo}}\n"), "in.yaml:1:39: conflict");
  EXPECT_EQ(fault_in("step: {name: s, shared: d, procs: 2, do: {shared: true, _: echo}}\n"),
            "in.yaml:1:60: conflict");
  EXPECT_EQ(fault_in("step: {name: s, shared: d, procs: 1, do: {shared: true, _: echo}}\n"),
            "(no error)");
}

TEST(Batch, HasEitherTheSameNodesOrNamedOnes) {
  EXPECT_EQ(fault_in("step: {name: s, batch: {nodelist: n1, same_nodes: true}, do: x}\n"),
            "in.yaml:1:51: no-effect");
}

TEST(Parameters, ReadTheirModes) {
  const auto set = *benchmark_of(
                        "parameterset:\n  name: p\n  parameter:\n"
                        "    - {name: a, mode: tag, update_mode: always, _: fast}\n"
                        "    - {name: b, selection: ' 2 ', mode: python, _: '1,2'}\n"
                        "step: {name: s, use: p}\n")
                        .parameter_set("p");
  EXPECT_EQ(set.parameters.at(0).mode, evaluate::Mode::tag);
  EXPECT_EQ(set.parameters.at(0).update_mode, UpdateMode::always);
  EXPECT_EQ(set.parameters.at(1).values, std::vector<std::string>{"2"});
  EXPECT_EQ(set.parameters.at(1).mode, evaluate::Mode::text);
}

TEST(Retry, IsForFaultsOfTheMachineInItsShortForm) {
  const Retry retry = step_of("retry: 3").retry.value();
  EXPECT_EQ(retry.times, 3);
  EXPECT_THAT(retry.on, ElementsAre(Outcome::node_fail, Outcome::boot_fail, Outcome::preempted));
  EXPECT_EQ(retry.time_limit_factor, 1);
}

TEST(Retry, IsForWhatTheLongFormSays) {
  const Retry retry =
      step_of("retry: {on: [timeout, 'failed, lost'], times: 2, timelimit_factor: 1.5}")
          .retry.value();
  EXPECT_EQ(retry.times, 2);
  EXPECT_THAT(retry.on, ElementsAre(Outcome::timeout, Outcome::failed, Outcome::lost));
  EXPECT_EQ(retry.time_limit_factor, 1.5);
}

TEST(Retry, IsMadeOnceUnlessToldOtherwise) {
  EXPECT_EQ(step_of("retry: {on: timeout}").retry->times, 1);
  EXPECT_EQ(step_of("retry: {timelimit_factor: 2}").retry->on.size(), 3U);
  EXPECT_EQ(step_of("retry: 0").retry->times, 0);
}

TEST(Retry, IsNoneUnlessAsked) {
  EXPECT_FALSE(step_of("do: echo").retry);
}

}  // namespace
}  // namespace bench::model
