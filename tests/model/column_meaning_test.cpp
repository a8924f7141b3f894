#include "model/fixture.hpp"

#include <gtest/gtest.h>

#include <bench/model/calculate.hpp>

namespace bench::model {
namespace {

TEST(ColumnMeaning, ComesFromThePatternThatTheAnalysersUse) {
  const Benchmark benchmark = benchmark_of(
      "patternset:\n"
      "  - {name: other, pattern: {name: p, unit: s, _: x}}\n"
      "  - {name: own, pattern: {name: p, unit: m, _: x}}\n"
      "step: {name: run}\n"
      "analyser: {name: a, use: own, analyse: {step: run, file: stdout}}\n"
      "result: {use: a, table: {name: t, column: p}}\n");
  EXPECT_EQ(meaning_of(benchmark, benchmark.results.at(0), "p").unit, "m");
}

}  // namespace
}  // namespace bench::model
