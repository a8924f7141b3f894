#include "space/fixture.hpp"
#include "support/error_of.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;

/// A step that uses `use` over three sets `set1` to `set3` and `main`.
model::Benchmark choosing(const std::string& main, const std::string& use) {
  return benchmark_of("parameterset:\n  - {name: main, parameter: " + main +
                      "}\n"
                      "  - {name: set1, parameter: {v: one}}\n"
                      "  - {name: set2, parameter: {v: 'x,y', w: $v!}}\n"
                      "  - {name: set3, parameter: {i: 4}}\n"
                      "step: {name: s, use: '" +
                      use + "'}\n");
}

TEST(SetsByName, ComeInPerCombination) {
  EXPECT_THAT(combinations_of(choosing("{i: '1,2', k: [a, b]}", "main,set$i")),
              ElementsAre("1/a/one", "1/b/one", "2/a/x/x!", "2/a/y/y!", "2/b/x/x!", "2/b/y/y!"));
}

TEST(SetsByName, ThatDoNotExistMeanNothing) {
  EXPECT_THAT(combinations_of(choosing("{i: '1,9'}", "main,set$i")), ElementsAre("1/one", "9"));
  EXPECT_THAT(combinations_of(choosing("{i: 1}", "main,set$nothing")), ElementsAre("1"));
}

TEST(SetsByName, AreWaitedForByWhatNeedsThem) {
  EXPECT_THAT(
      combinations_of(choosing("{i: 1, a: {mode: python, _: \"'$v'.upper()\"}}", "main,set$i")),
      ElementsAre("1/ONE/one"));
}

TEST(SetsByName, GiveUpWhatWaitsForASetThatDoesNotCome) {
  EXPECT_THAT(combinations_of(choosing("{i: 9, a: <$v>}", "main,set$i")), ElementsAre("9/<$v>"));
}

TEST(SetsByName, MayNameFurtherSets) {
  const auto benchmark = benchmark_of(
      "parameterset:\n  - {name: main, parameter: {i: 1}}\n"
      "  - {name: a1, parameter: {j: 2}}\n  - {name: b2, parameter: {k: 3}}\n"
      "step: {name: s, use: 'main,b$j,a$i'}\n");
  EXPECT_THAT(combinations_of(benchmark), ElementsAre("1/2/3"));
}

TEST(SetsByName, AreKnownAtOnceFromInheritedParameters) {
  const auto benchmark = benchmark_of(
      "parameterset:\n  - {name: p, parameter: {i: 2}}\n  - {name: q2, parameter: {a: [x, y]}}\n"
      "  - {name: r, parameter: {b: '1,2'}}\nstep: [{name: s, use: p}, {name: t, depend: s, use: "
      "'q$i,r'}]\n");
  const Origin origin{{{&benchmark.parameter_set("p")->parameters[0], "2"}}};
  EXPECT_THAT(texts_of(expansion_of(benchmark, "t", {}, {origin})),
              ElementsAre("x/1/2", "x/2/2", "y/1/2", "y/2/2"));
}

TEST(SetsByName, MustDefineSharedParametersAlike) {
  EXPECT_EQ(support::fault_of([] { combinations_of(choosing("{i: 3}", "main,set$i")); }),
            "in.yaml:5:33: conflict");
}

}  // namespace
}  // namespace bench::space
