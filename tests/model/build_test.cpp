#include "support/case_name.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
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

Benchmark build_one(const std::string& yaml) {
  return build_all(yaml).at(0);
}

struct BuildCase {
  std::string name;
  std::string yaml;
  std::string expected;
};
void PrintTo(const BuildCase& c, std::ostream* out) {
  *out << c.name;
}

std::string with_energy(const std::string& settings) {
  return "step: {name: s, batch: true, energy: {" + settings + "}}\n";
}

class BuildErrorTest : public testing::TestWithParam<BuildCase> {};

TEST_P(BuildErrorTest, HasMessagePlaceAndHint) {
  EXPECT_EQ(support::error_of([] { build_all(GetParam().yaml); }), GetParam().expected);
}

/// Below a step that makes a benchmark whole.
std::string with_step(const std::string& yaml) {
  return "step: {name: s}\n" + yaml;
}

INSTANTIATE_TEST_SUITE_P(
    Names, BuildErrorTest,
    testing::Values(
        BuildCase{"StepWithoutName", "name: d\nstep: {do: echo}\n",
                  "in.yaml:2:7: error: this step has no name\nhint: add `name: ...`"},
        BuildCase{"BlankName", "step: {name: ' ', do: echo}\n",
                  "in.yaml:1:7: error: this step has no name\nhint: add `name: ...`"},
        BuildCase{"ParameterName",
                  with_step("parameterset:\n  name: p\n  parameter:\n"
                            "    - {name: a-b, _: 1}\n"),
                  "in.yaml:5:14: error: 'a-b' is not a valid name for a parameter\n"
                  "hint: use letters, digits and underscores; do not begin with a digit"},
        BuildCase{"ParameterNameWithDigitFirst",
                  with_step("parameterset: {name: p, parameter: {name: 1a, _: 1}}\n"),
                  "in.yaml:2:43: error: '1a' is not a valid name for a parameter\n"
                  "hint: use letters, digits and underscores; do not begin with a digit"},
        BuildCase{"PatternName", with_step("patternset: {name: p, pattern: {name: a b, _: x}}\n"),
                  "in.yaml:2:39: error: 'a b' is not a valid name for a pattern\n"
                  "hint: use letters, digits and underscores; do not begin with a digit"},
        BuildCase{"StepTwice", "step:\n  - {name: s}\n  - {name: s}\n",
                  "in.yaml:3:5: error: step 's' is defined twice\n"
                  "hint: first defined at in.yaml:2"},
        BuildCase{"SetTwice", with_step("parameterset:\n  - {name: p}\n  - {name: p}\n"),
                  "in.yaml:4:5: error: parameterset 'p' is defined twice\n"
                  "hint: first defined at in.yaml:3"},
        BuildCase{"GlobalAndLocalSet",
                  "parameterset: {name: p}\nbenchmark:\n  parameterset: {name: p}\n"
                  "  step: {name: s, use: p}\n",
                  "in.yaml:3:17: error: parameterset 'p' is defined twice\n"
                  "hint: first defined at in.yaml:1"},
        BuildCase{"BenchmarkTwice", "- {name: b, step: {name: s}}\n- {name: b, step: {name: s}}\n",
                  "in.yaml:2:10: error: benchmark 'b' is defined twice\n"
                  "hint: JUBE would silently run only the last"},
        BuildCase{"TableTwice",
                  with_step("result:\n  - table: {name: t, column: x}\n"
                            "  - table: {name: t, column: x}\n"),
                  "in.yaml:4:12: error: table 't' is defined twice\n"
                  "hint: give each table, syslog and database of a benchmark a different name"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    References, BuildErrorTest,
    testing::Values(
        BuildCase{"UseOfUnknownSet", "parameterset: {name: sizes}\nstep:\n  name: s\n  use: size\n",
                  "in.yaml:4:8: error: unknown parameter, file or substitute set 'size'\n"
                  "hint: did you mean 'sizes'?"},
        BuildCase{"UseWhereNothingIsClose",
                  "parameterset: [{name: p}, {name: q}]\nstep:\n  name: s\n  use: [p, elsewhere]\n",
                  "in.yaml:4:12: error: unknown parameter, file or substitute set 'elsewhere'\n"
                  "hint: known: p, q"},
        BuildCase{"WatchedFileInABatchStep",
                  "step:\n  name: s\n  batch: true\n  do: [a, {done_file: ready, _: b}]\n",
                  "in.yaml:4:33: error: a command of the batch step 's' cannot have `done_file`\n"
                  "hint: its commands form one job script; move this command to a step of its own"},
        BuildCase{"SharedCommandInABatchStep",
                  "step:\n  name: s\n  batch: true\n  shared: all\n  do: {shared: true, _: b}\n",
                  "in.yaml:5:25: error: a command of the batch step 's' cannot have `shared`\n"
                  "hint: its commands form one job script; move this command to a step of its own"},
        BuildCase{"UseWhereNoneIsDefined", "step: {name: s, use: p}\n",
                  "in.yaml:1:22: error: unknown parameter, file or substitute set 'p'\n"
                  "hint: this file does not define any parameter, file or substitute set"},
        BuildCase{"UseTwice", "parameterset: {name: p}\nstep: {name: s, use: 'p,p'}\n",
                  "in.yaml:2:22: error: 'p' is used twice in one step"},
        BuildCase{"UseOfAPatternSet", "patternset: {name: p}\nstep: {name: s, use: p}\n",
                  "in.yaml:2:22: error: a step cannot use the pattern set 'p'\n"
                  "hint: pattern sets are for analysers"},
        BuildCase{"DependOnUnknown", "step:\n  - {name: build}\n  - {name: go, depend: biuld}\n",
                  "in.yaml:3:24: error: unknown step 'biuld'\nhint: did you mean 'build'?"},
        BuildCase{"DependOnItself", "step: {name: s, depend: s}\n",
                  "in.yaml:1:7: error: circular dependency of steps: s -> s"},
        BuildCase{"DependInACircle",
                  "step:\n  - {name: a, depend: b}\n  - {name: b, depend: c}\n"
                  "  - {name: c, depend: b}\n",
                  "in.yaml:3:5: error: circular dependency of steps: b -> c -> b"},
        BuildCase{"AnalyserOfUnknownSet", with_step("analyser:\n  name: a\n  use: p\n"),
                  "in.yaml:4:8: error: unknown pattern set 'p'\n"
                  "hint: this file does not define any pattern set"},
        BuildCase{"AnalyserOfUnknownStep",
                  with_step("analyser: {name: a, analyse: {step: t, file: f}}\n"),
                  "in.yaml:2:37: error: unknown step 't'\nhint: known: s"},
        BuildCase{
            "FileOfUnknownSet",
            with_step("analyser:\n  name: a\n  analyse:\n    step: s\n    file: {use: p, _: f}\n"),
            "in.yaml:6:23: error: unknown pattern set 'p'\n"
            "hint: this file does not define any pattern set"},
        BuildCase{"ResultOfUnknownAnalyser",
                  with_step("result: {use: nowhere, table: {name: t, column: x}}\n"),
                  "in.yaml:2:15: error: unknown analyser 'nowhere'\n"
                  "hint: this file does not define any analyser"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Words, BuildErrorTest,
    testing::Values(
        BuildCase{"ParameterMode",
                  with_step("parameterset: {name: p, parameter: {name: a, mode: pyhton, _: 1}}\n"),
                  "in.yaml:2:52: error: invalid value 'pyhton' for 'mode' in parameter\n"
                  "hint: did you mean 'python'?"},
        BuildCase{"PatternMode",
                  with_step("patternset: {name: p, pattern: {name: a, mode: env, _: 1}}\n"),
                  "in.yaml:2:48: error: invalid value 'env' for 'mode' in pattern\n"
                  "hint: known: perl, python, shell, text"},
        BuildCase{"TableStyle", with_step("result: {table: {name: t, style: pritty, column: x}}\n"),
                  "in.yaml:2:34: error: invalid value 'pritty' for 'style' in table\n"
                  "hint: did you mean 'pretty'?"},
        BuildCase{
            "ListWithAMode",
            with_step("parameterset: {name: p, parameter: {a: {mode: python, _: [1, 2]}}}\n"),
            "in.yaml:2:47: error: parameter 'a' has a list of values and a mode\n"
            "hint: list items are taken as written; with a mode, write the values as one text"},
        BuildCase{"Iterations", "step: {name: s, iterations: 0}\n",
                  "in.yaml:1:29: error: iterations must be a whole number of at least 1, not '0'"},
        BuildCase{"IterationsOfAParameter", "step: {name: s, iterations: $n}\n",
                  "in.yaml:1:29: error: iterations must be a whole number of at least 1, not '$n'"},
        BuildCase{"Procs", "step: {name: s, procs: 1.5}\n",
                  "in.yaml:1:24: error: procs must be a whole number of at least 1, not '1.5'"},
        BuildCase{"ColumnWidth",
                  with_step("result: {table: {name: t, column: {colw: -1, _: x}}}\n"),
                  "in.yaml:2:42: error: colw must be a whole number of at least 0, not '-1'"},
        BuildCase{"PublishedName",
                  with_step("result: {table: {name: t, column: {compare: 'rate[1/s', _: x}}}\n"),
                  "in.yaml:2:45: error: compare must be METRIC or METRIC[UNIT], not 'rate[1/s'"},
        BuildCase{"EmptyColumn", with_step("result: {table: {name: t, column: {title: x}}}\n"),
                  "in.yaml:2:35: error: this column is empty\n"
                  "hint: write the name of a parameter or pattern"},
        BuildCase{"Timeout", "step: {name: s, timeout: soon}\n",
                  "in.yaml:1:26: error: invalid duration 'soon'\n"
                  "hint: write seconds (90), a unit (5min, 2h) or HH:MM:SS"},
        BuildCase{"BatchWord", "step: {name: s, batch: maybe}\n",
                  "in.yaml:1:24: error: batch must be true, false or a mapping, not 'maybe'"},
        BuildCase{"EnergyWord", "step: {name: s, energy: rapl}\n",
                  "in.yaml:1:25: error: energy must be true, false or a mapping, not 'rapl'"},
        BuildCase{
            "EnergyWithoutBatch", "step: {name: s, energy: true}\n",
            "in.yaml:1:25: error: step 's' measures energy but is not a batch step\n"
            "hint: add `batch: true`; on platform local its commands run here, under the meter"},
        BuildCase{"Thermal", with_energy("thermal: cool"),
                  "in.yaml:1:48: error: thermal is stable, a temperature or a time, not 'cool'\n"
                  "hint: write it like stable, 45C or 60s"},
        BuildCase{"GpuPowerLimit",
                  "step: {name: s, batch: true, energy: true, gpu_power_limit: 300}\n",
                  "in.yaml:1:61: error: the power limit of a GPU is a number above zero with a "
                  "unit, not '300'\nhint: write it like 300W"},
        BuildCase{"GpuClock", "step: {name: s, batch: true, energy: true, gpu_clock: fast}\n",
                  "in.yaml:1:55: error: the clock of a GPU is a number above zero with a unit, not "
                  "'fast'\nhint: write it like 1410MHz"},
        BuildCase{"CpuGovernor", "step: {name: s, batch: true, energy: true, cpu_governor: 3GHz}\n",
                  "in.yaml:1:58: error: '3GHz' is not a frequency governor\n"
                  "hint: performance, powersave, schedutil ..."},
        BuildCase{"SettingWithoutEnergy", "step: {name: s, batch: true, gpu_clock: 1410MHz}\n",
                  "in.yaml:1:41: error: step 's' has a gpu_clock but does not measure energy\n"
                  "hint: add `energy: true`: the meter sets and restores it"},
        BuildCase{"SettingWithSeveralMeters",
                  "step: {name: s, batch: true, energy: {per_node: false}, gpu_clock: 1410MHz}\n",
                  "in.yaml:1:68: error: step 's' has a gpu_clock and several meters on a node\n"
                  "hint: remove `per_node: false`: one meter on each node sets and restores it"},
        BuildCase{"EnergyMethod", with_energy("methods: nvm"),
                  "in.yaml:1:48: error: unknown method 'nvm'\nhint: did you mean 'nvml'?"},
        BuildCase{"EnergyMethodAmongOthers", with_energy("methods: 'rapl, mock'"),
                  "in.yaml:1:48: error: method 'mock' needs an argument\n"
                  "hint: write mock:constant=100W"},
        BuildCase{"EnergyInterval", with_energy("interval: 1us"),
                  "in.yaml:1:49: error: interval 1us is out of range\nhint: 1ms to 10s"},
        BuildCase{"EnergyIntervalWithoutUnit", with_energy("interval: 100"),
                  "in.yaml:1:49: error: interval is a number with a unit, not '100'\n"
                  "hint: write it like 100ms or 5s"},
        BuildCase{"EnergyBaseline", with_energy("baseline: 2h"),
                  "in.yaml:1:49: error: baseline is a number with a unit, not '2h'\n"
                  "hint: write it like 100ms or 5s"},
        BuildCase{"EnergyBaselineOutOfRange", with_energy("baseline: 99ms"),
                  "in.yaml:1:49: error: baseline 99ms is out of range\nhint: 100ms to 60min"}),
    case_name);

TEST(Build, LeavesEnergySettingsWithParametersToTheirValues) {
  const Energy energy =
      *build_one(with_energy("methods: $m, interval: $i, baseline: '${b}s'")).steps.at(0).energy;
  EXPECT_EQ(energy.methods, "$m");
  EXPECT_EQ(energy.interval, "$i");
  EXPECT_EQ(energy.baseline, "${b}s");
}

TEST(Build, RefusesAFileWithoutABenchmark) {
  const document::Node root{.name = "jube", .place = {"in.yaml", 1, 1}};
  Diagnostics diagnostics;
  EXPECT_EQ(support::error_of([&] { build(root, diagnostics); }),
            "in.yaml:1:1: error: no benchmark in this file\nhint: add at least a `step`");
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
  const Step step = build_one("step: {name: s, do: echo}\n").steps.at(0);
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
      build_one(with_step("parameterset: {name: p, parameter: {name: a, _: ' 1,2 '}}\n"));
  const Parameter& parameter = benchmark.parameter_sets.at(0).parameters.at(0);
  EXPECT_EQ(parameter.text, "1,2");
  EXPECT_EQ(parameter.separator, ",");
  EXPECT_EQ(parameter.type, ValueType::string);
  EXPECT_EQ(parameter.mode, evaluate::Mode::text);
  EXPECT_FALSE(parameter.exported);
}

TEST(Build, KeepsTheListOfTheShortForm) {
  const auto benchmark =
      build_one(with_step("parameterset: {name: p, parameter: {a: [' 1', '2,3'], b: x}}\n"));
  const auto& parameters = benchmark.parameter_sets.at(0).parameters;
  EXPECT_THAT(parameters.at(0).values, ElementsAre("1", "2,3"));
  EXPECT_EQ(parameters.at(0).text, "");
  EXPECT_EQ(parameters.at(1).text, "x");
}

TEST(Build, ReplacesAParameterWhereItStood) {
  const auto set = build_one(with_step("parameterset:\n  name: p\n  parameter:\n"
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
  const auto benchmark = build_one(
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
  EXPECT_EQ(build_one("step: {name: s, timeout: '${t}min'}\n").step("s")->timeout, "${t}min");
}

TEST(Build, TakesTheLastPatternOfAName) {
  const auto benchmark = build_one(with_step(
      "patternset: {name: p, pattern: [{name: a, _: x}, {name: b, _: z}, {name: a, _: y}]}\n"));
  const PatternSet& set = *benchmark.pattern_set("p");
  ASSERT_EQ(set.patterns.size(), 2U);
  EXPECT_EQ(set.patterns[0].text, "y");
  EXPECT_EQ(set.replaced.at(0).text, "x");
}

TEST(Build, TellsAnEmptyTitleFromNone) {
  const auto benchmark =
      build_one(with_step("result: {table: {name: t, column: [a, {title: '', _: b}]}}\n"));
  const std::vector<Column>& columns = benchmark.results.at(0).tables.at(0).columns;
  EXPECT_FALSE(columns.at(0).title);
  EXPECT_EQ(columns.at(1).title, "");
}

TEST(Build, ReadsAnalysersAndTables) {
  const auto benchmark = build_one(with_step(
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

}  // namespace
}  // namespace bench::model
