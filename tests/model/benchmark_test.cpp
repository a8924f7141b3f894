#include "model/fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/document/read.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/build.hpp>

namespace bench::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Use, TakesTheSetsOfAllKindsWithAName) {
  const auto benchmark = benchmark_of(
      "parameterset: {name: x}\nfileset: {name: x}\nsubstituteset: {name: x}\n"
      "step: {name: s, use: x}\n");
  EXPECT_NE(benchmark.parameter_set("x"), nullptr);
  EXPECT_NE(benchmark.file_set("x"), nullptr);
  EXPECT_NE(benchmark.substitute_set("x"), nullptr);
  EXPECT_THAT(benchmark.steps.at(0).use, ElementsAre("x"));
}

TEST(Use, OfANameWithParametersMayBeNoSet) {
  EXPECT_EQ(fault_in("step: {name: s, use: set$n}\n"), "(no error)");
}

TEST(Use, OfANameWithParametersMayMeanWhatBeginsAlike) {
  EXPECT_TRUE(may_name("set$n", "set1"));
  EXPECT_TRUE(may_name("set${n}_x", "set1_x"));
  EXPECT_FALSE(may_name("set$n", "other"));
  EXPECT_FALSE(may_name("set", "set1"));
}

TEST(Use, OfANameWithParametersCountsForWarnings) {
  Diagnostics diagnostics;
  build(document::read_yaml(
            "parameterset: [{name: a1, parameter: {x: 1}}, {name: a2, parameter: {x: 2}}]\n"
            "step: {name: s, use: a$n}\nanalyser: {name: n, analyse: {step: s}}\n"
            "result: {use: n, table: {name: t, column: x}}\n",
            "in.yaml", diagnostics),
        diagnostics);
  EXPECT_THAT(diagnostics.warnings(), IsEmpty());
}

TEST(Use, FileAndSubstituteSetsAreWarnedOfWhereUnused) {
  Diagnostics diagnostics;
  build(document::read_yaml("fileset: {name: f}\nsubstituteset: {name: u}\nstep: {name: s}\n",
                            "in.yaml", diagnostics),
        diagnostics);
  ASSERT_EQ(diagnostics.warnings().size(), 2U);
  EXPECT_EQ(diagnostics.warnings()[0].message, "file set 'f' is not used by any step");
  EXPECT_EQ(diagnostics.warnings()[1].message, "substitute set 'u' is not used by any step");
}

}  // namespace
}  // namespace bench::model
