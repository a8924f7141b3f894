#include "support/error_of.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/document/read.hpp>
#include <bench/model/build.hpp>

namespace bench::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Warning> warnings_in(const std::string& yaml, bool whole_file = true) {
  Diagnostics diagnostics;
  build(document::read_yaml(yaml, "in.yaml", diagnostics), diagnostics, whole_file);
  return diagnostics.warnings();
}

std::vector<std::string> faults_in(const std::string& yaml, bool whole_file = true) {
  std::vector<std::string> faults;
  for (const Warning& warning : warnings_in(yaml, whole_file))
    faults.push_back(support::fault(warning));
  return faults;
}

TEST(Steps, ABenchmarkMayHaveNone) {
  EXPECT_THAT(faults_in("name: demo\n"), ElementsAre("in.yaml:1:1: nothing-to-run"));
}

TEST(Steps, ALogOfTheCommandsOfABatchStepIsWarnedOf) {
  EXPECT_THAT(faults_in("step: {name: s, batch: true, do_log_file: true, do: 'true'}\n"),
              ElementsAre("in.yaml:1:7: no-effect"));
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
  EXPECT_THAT(
      faults_in("parameterset: {name: p}\npatternset: {name: q}\nstep: {name: s}\n"
                "analyser: [{name: a, analyse: {step: s, file: f}}, {name: b}]\n"
                "result: {use: b}\n"),
      ElementsAre("in.yaml:1:15: no-effect", "in.yaml:2:13: no-effect", "in.yaml:4:12: no-effect"));
}

TEST(Unused, AnalysersAreNotWithoutAResultSinceTidyDataNeedsNone) {
  EXPECT_THAT(faults_in("step: {name: s}\nanalyser: {name: a, analyse: {step: s, file: f}}\n"),
              IsEmpty());
}

const std::string two_benchmarks =
    "parameterset: [{name: p}, {name: q}]\n"
    "benchmark:\n"
    "  - {name: a, step: {name: s, use: p}}\n"
    "  - {name: b, step: {name: s}, fileset: {name: f}}\n";

TEST(Unused, ASetOfAllBenchmarksIsUsedByOneOfThem) {
  EXPECT_THAT(faults_in(two_benchmarks),
              ElementsAre("in.yaml:1:27: no-effect", "in.yaml:4:41: no-effect"));
}

TEST(Unused, ASetOfAllBenchmarksMayBeUsedByOneThatWasLeftOut) {
  EXPECT_THAT(faults_in(two_benchmarks, false), ElementsAre("in.yaml:4:41: no-effect"));
}

TEST(Unused, APatternSetOfAFileIsUsed) {
  EXPECT_THAT(faults_in("patternset: {name: q, pattern: {name: v, _: x}}\nstep: {name: s}\n"
                        "analyser: {name: a, analyse: {step: s, file: {use: q, _: f}}}\n"
                        "result: {use: a, table: {name: t, column: v}}\n"),
              IsEmpty());
}

TEST(Values, APatternThatALaterOneReplacesIsWarnedOf) {
  EXPECT_THAT(faults_in("patternset: {name: q, pattern: [{name: v, _: x}, {name: v, _: y}]}\n"
                        "step: {name: s}\n"
                        "analyser: {name: a, use: q, analyse: {step: s, file: f}}\n"
                        "result: {use: a, table: {name: t, column: v}}\n"),
              ElementsAre("in.yaml:1:46: duplicate-name"));
}

TEST(Values, AnEmptyPatternIsWarnedOf) {
  EXPECT_THAT(faults_in("patternset: {name: q, pattern: {name: v, _: ''}}\nstep: {name: s}\n"
                        "analyser: {name: a, use: q, analyse: {step: s, file: f}}\n"
                        "result: {use: a, table: {name: t, column: v}}\n"),
              ElementsAre("in.yaml:1:45: surprising-value"));
}

TEST(Values, IntegersWithAFractionAreWarnedOf) {
  EXPECT_THAT(faults_in("parameterset: {name: p, parameter: [{name: n, type: int, _: '1, 1.5'},\n"
                        "  {name: m, type: int, _: '2.0'}, {name: r, type: float, _: '1.5'},\n"
                        "  {name: k, type: int, mode: python, _: 3/2}]}\n"
                        "step: {name: s, use: p}\n"),
              ElementsAre("in.yaml:1:61: surprising-value"));
}

/// The hints of the warnings for one table column over a file that has everything.
std::vector<std::string> hints_of_column(const std::string& column, bool energy = false) {
  std::vector<std::string> hints;
  for (const Warning& warning : warnings_in(
           "parameterset: [{name: p, parameter: {size: 1}}, {name: q, parameter: {nodes: 2}}]\n"
           "patternset: {name: pats, pattern: {name: rate, _: x}}\n"
           "step:\n  - {name: build, use: p}\n  - {name: go, depend: build}\n"
           "  - {name: other, use: q" +
           std::string(energy ? ", batch: true, energy: true" : "") +
           "}\nanalyser: {name: a, use: pats, analyse: {step: go, file: stdout}}\n"
           "result: {use: a, table: {name: t, column: " +
           column + "}}\n"))
    hints.push_back(warning.hint);
  return hints;
}

class FillableColumnTest : public testing::TestWithParam<std::string> {};

TEST_P(FillableColumnTest, IsNotWarnedOf) {
  EXPECT_THAT(hints_of_column(GetParam()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Names, FillableColumnTest,
                         testing::Values("rate", "rate_avg", "rate_sum2", "rate_cnt", "size",
                                         "size_build", "size_go", "jube_wp_id",
                                         "jube_wp_id_build"));

TEST(Columns, ThatNothingFillsAreWarnedOf) {
  EXPECT_THAT(hints_of_column("szie"), ElementsAre("did you mean 'size'?"));
  EXPECT_THAT(hints_of_column("nodes"), ElementsAre(""));
}

TEST(Columns, OfTheMeterNeedAStepThatMeasures) {
  EXPECT_THAT(hints_of_column("energy_wh", true), IsEmpty());
  EXPECT_THAT(hints_of_column("power_max_w_avg", true), IsEmpty());
  EXPECT_THAT(hints_of_column("energy_wh"), ElementsAre(""));
}

TEST(Columns, OfTheMeterHaveTheNamesThatItTells) {
  for (const char* name :
       {"energy_uncertainty_wh_avg", "machine_gpu_clock_mhz", "machine_disturbance",
        "energy_quality", "energy_recovered", "energy_net_wh_std", "duration_s", "power_idle_w",
        "energy_nvml_0_gpu_wh", "energy_region_epoch_wh_avg", "power_region_epoch_w",
        "duration_region_epoch_s_max"})
    EXPECT_THAT(hints_of_column(name, true), IsEmpty());
  EXPECT_THAT(hints_of_column("energy_qualty", true),
              ElementsAre("did you mean 'energy_quality'?"));
  EXPECT_THAT(hints_of_column("power_epoch_w", true), testing::SizeIs(1));
}

}  // namespace
}  // namespace bench::model
