#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/read.hpp>
#include <bench/model/build.hpp>

namespace bench::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> warnings_of(const std::string& yaml, bool whole_file = true) {
  Diagnostics diagnostics;
  build(document::read_yaml(yaml, "in.yaml", diagnostics), diagnostics, whole_file);
  std::vector<std::string> texts;
  for (const Warning& warning : diagnostics.warnings())
    texts.push_back(render(Severity::warning, warning.message, warning.hint, warning.place));
  return texts;
}

TEST(Steps, ABenchmarkMayHaveNone) {
  EXPECT_THAT(warnings_of("name: demo\n"),
              ElementsAre("in.yaml:1:1: warning: benchmark 'demo' has no step, so nothing runs\n"
                          "hint: add `step: {name: ..., do: ...}`, or choose other tags"));
}

TEST(Steps, ALogOfTheCommandsOfABatchStepIsWarnedOf) {
  EXPECT_THAT(
      warnings_of("step: {name: s, batch: true, do_log_file: true, do: 'true'}\n"),
      ElementsAre("in.yaml:1:7: warning: `do_log_file` of the batch step 's' has no effect\n"
                  "hint: its `job.sh` shows what is executed"));
}

TEST(Steps, ATimeLimitBelowAMinuteIsNoted) {
  for (const auto& [limit, notes] : std::vector<std::pair<std::string, std::size_t>>{
           {"59s", 1}, {"\"00:30\"", 1}, {"1m", 0}, {"$limit", 0}}) {
    Diagnostics diagnostics;
    build(document::read_yaml("step: {name: s, batch: {time_limit: " + limit + "}, do: 'true'}\n",
                              "in.yaml", diagnostics),
          diagnostics);
    EXPECT_EQ(diagnostics.notes().size(), notes) << limit;
    EXPECT_THAT(diagnostics.warnings(), IsEmpty());
  }
}

TEST(Unused, SetsAndAnalysersAreWarnedOf) {
  EXPECT_THAT(warnings_of("parameterset: {name: p}\npatternset: {name: q}\nstep: {name: s}\n"
                          "analyser: [{name: a, analyse: {step: s, file: f}}, {name: b}]\n"
                          "result: {use: b}\n"),
              ElementsAre("in.yaml:1:15: warning: parameter set 'p' is not used by any step",
                          "in.yaml:2:13: warning: pattern set 'q' is not used by any analyser",
                          "in.yaml:4:12: warning: analyser 'a' is not used by any result"));
}

TEST(Unused, AnalysersAreNotWithoutAResultSinceTidyDataNeedsNone) {
  EXPECT_THAT(warnings_of("step: {name: s}\nanalyser: {name: a, analyse: {step: s, file: f}}\n"),
              IsEmpty());
}

const std::string two_benchmarks =
    "parameterset: [{name: p}, {name: q}]\n"
    "benchmark:\n"
    "  - {name: a, step: {name: s, use: p}}\n"
    "  - {name: b, step: {name: s}, fileset: {name: f}}\n";

TEST(Unused, ASetOfAllBenchmarksIsUsedByOneOfThem) {
  EXPECT_THAT(warnings_of(two_benchmarks),
              ElementsAre("in.yaml:1:27: warning: parameter set 'q' is not used by any step",
                          "in.yaml:4:41: warning: file set 'f' is not used by any step"));
}

TEST(Unused, ASetOfAllBenchmarksMayBeUsedByOneThatWasLeftOut) {
  EXPECT_THAT(warnings_of(two_benchmarks, false),
              ElementsAre("in.yaml:4:41: warning: file set 'f' is not used by any step"));
}

TEST(Unused, APatternSetOfAFileIsUsed) {
  EXPECT_THAT(warnings_of("patternset: {name: q, pattern: {name: v, _: x}}\nstep: {name: s}\n"
                          "analyser: {name: a, analyse: {step: s, file: {use: q, _: f}}}\n"
                          "result: {use: a, table: {name: t, column: v}}\n"),
              IsEmpty());
}

TEST(Values, APatternThatALaterOneReplacesIsWarnedOf) {
  EXPECT_THAT(warnings_of("patternset: {name: q, pattern: [{name: v, _: x}, {name: v, _: y}]}\n"
                          "step: {name: s}\n"
                          "analyser: {name: a, use: q, analyse: {step: s, file: f}}\n"
                          "result: {use: a, table: {name: t, column: v}}\n"),
              ElementsAre("in.yaml:1:46: warning: pattern 'v' is defined twice in pattern set 'q'\n"
                          "hint: the last definition is used, in line 1"));
}

TEST(Values, AnEmptyPatternIsWarnedOf) {
  EXPECT_THAT(warnings_of("patternset: {name: q, pattern: {name: v, _: ''}}\nstep: {name: s}\n"
                          "analyser: {name: a, use: q, analyse: {step: s, file: f}}\n"
                          "result: {use: a, table: {name: t, column: v}}\n"),
              ElementsAre("in.yaml:1:45: warning: pattern 'v' is empty and matches nothing"));
}

TEST(Values, IntegersWithAFractionAreWarnedOf) {
  EXPECT_THAT(warnings_of("parameterset: {name: p, parameter: [{name: n, type: int, _: '1, 1.5'},\n"
                          "  {name: m, type: int, _: '2.0'}, {name: r, type: float, _: '1.5'},\n"
                          "  {name: k, type: int, mode: python, _: 3/2}]}\n"
                          "step: {name: s, use: p}\n"),
              ElementsAre("in.yaml:1:61: warning: parameter 'n' has type int and the value '1.5'\n"
                          "hint: tables show 1; use type float"));
}

/// Warnings for one table column over a file that has everything.
std::vector<std::string> warnings_of_column(const std::string& column, bool energy = false) {
  return warnings_of(
      "parameterset: [{name: p, parameter: {size: 1}}, {name: q, parameter: {nodes: 2}}]\n"
      "patternset: {name: pats, pattern: {name: rate, _: x}}\n"
      "step:\n  - {name: build, use: p}\n  - {name: go, depend: build}\n"
      "  - {name: other, use: q" +
      std::string(energy ? ", batch: true, energy: true" : "") +
      "}\nanalyser: {name: a, use: pats, analyse: {step: go, file: stdout}}\n"
      "result: {use: a, table: {name: t, column: " +
      column + "}}\n");
}

class FillableColumnTest : public testing::TestWithParam<std::string> {};

TEST_P(FillableColumnTest, IsNotWarnedOf) {
  EXPECT_THAT(warnings_of_column(GetParam()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Names, FillableColumnTest,
                         testing::Values("rate", "rate_avg", "rate_sum2", "rate_cnt", "size",
                                         "size_build", "size_go", "jube_wp_id",
                                         "jube_wp_id_build"));

TEST(Columns, ThatNothingFillsAreWarnedOf) {
  EXPECT_THAT(warnings_of_column("szie"),
              ElementsAre("in.yaml:8:43: warning: column 'szie' is not a parameter or pattern of "
                          "this result\nhint: did you mean 'size'?"));
  EXPECT_THAT(
      warnings_of_column("nodes"),
      ElementsAre(
          "in.yaml:8:43: warning: column 'nodes' is not a parameter or pattern of this result"));
}

TEST(Columns, OfTheMeterNeedAStepThatMeasures) {
  EXPECT_THAT(warnings_of_column("energy_wh", true), IsEmpty());
  EXPECT_THAT(warnings_of_column("power_max_w_avg", true), IsEmpty());
  EXPECT_THAT(warnings_of_column("energy_wh"),
              ElementsAre("in.yaml:8:43: warning: column 'energy_wh' is not a parameter or pattern "
                          "of this result"));
}

TEST(Columns, OfTheMeterHaveTheNamesThatItTells) {
  for (const char* name :
       {"energy_uncertainty_wh_avg", "machine_gpu_clock_mhz", "machine_disturbance",
        "energy_quality", "energy_recovered", "energy_net_wh_std", "duration_s", "power_idle_w",
        "energy_nvml_0_gpu_wh", "energy_region_epoch_wh_avg", "power_region_epoch_w",
        "duration_region_epoch_s_max"})
    EXPECT_THAT(warnings_of_column(name, true), IsEmpty());
  EXPECT_THAT(warnings_of_column("energy_qualty", true),
              ElementsAre("in.yaml:8:43: warning: column 'energy_qualty' is not a parameter or "
                          "pattern of this result\nhint: did you mean 'energy_quality'?"));
  EXPECT_THAT(warnings_of_column("power_epoch_w", true),
              ElementsAre(testing::HasSubstr("'power_epoch_w' is not a parameter or pattern")));
}

}  // namespace
}  // namespace bench::model
