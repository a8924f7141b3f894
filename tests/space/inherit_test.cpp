#include "space/fixture.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;

/// A step `t` that uses `own`, below a step `s` that uses `p`.
model::Benchmark two_steps(const std::string& inherited, const std::string& own) {
  return benchmark_of("parameterset:\n  - {name: p, parameter: " + inherited +
                      "}\n  - {name: own, parameter: " + own +
                      "}\nstep: [{name: s, use: p}, {name: t, depend: s, use: own}]\n");
}

/// Expands `t` on top of one parent per value of the first parameter of `p`.
Expansion expand_child(const model::Benchmark& benchmark, const std::vector<std::string>& values) {
  std::vector<Origin> origins;
  for (const std::string& value : values)
    origins.push_back({{{&benchmark.parameter_set("p")->parameters[0], value}}});
  return expansion_of(benchmark, "t", {}, origins);
}

TEST(Inherited, ParametersComeAfterTheOwnOnesAndAreKnown) {
  const auto benchmark = two_steps("{a: [1, 2]}", "{b: [x, y], c: $a$b}");
  const auto expansion = expand_child(benchmark, {"1", "2"});
  EXPECT_THAT(texts_of(expansion), ElementsAre("x/1x/1", "y/1y/1", "x/2x/2", "y/2y/2"));
  EXPECT_EQ(expansion.combinations[1].origin, 0U);
  EXPECT_EQ(expansion.combinations[2].origin, 1U);
}

TEST(Inherited, ParameterOfAnEqualDefinitionIsNotExpandedAgain) {
  const auto benchmark = two_steps("{a: '1,2'}", "{a: '1,2', b: $a}");
  EXPECT_THAT(texts_of(expand_child(benchmark, {"2"})), ElementsAre("2/2"));
}

TEST(Inherited, ParameterOfAnotherDefinitionIsAConflict) {
  const auto benchmark = two_steps("{a: 1}", "{a: 2}");
  const auto expansion = expand_child(benchmark, {"1", "1"});
  EXPECT_THAT(texts_of(expansion), ElementsAre());
  EXPECT_EQ(expansion.conflicts, 2U);
  EXPECT_EQ(expansion.conflicting_parameter, "a");
}

TEST(Inherited, ValueWithASeparatorIsNotSplitAgain) {
  const auto benchmark = two_steps("{a: ['1,2']}", "{b: x}");
  EXPECT_THAT(texts_of(expand_child(benchmark, {"1,2"})), ElementsAre("x/1,2"));
}

/// A text of the parent's step, the value that it has there, what the child's step defines, and the
/// value there.
struct CompletionCase {
  std::string name;
  std::string text;
  std::string value;
  std::string own;
  std::string expected;
};

class CompletionTest : public testing::TestWithParam<CompletionCase> {};

TEST_P(CompletionTest, FillsInWhatNoStepBeforeKnew) {
  const auto benchmark = two_steps("{b: " + GetParam().text + "}", GetParam().own);
  std::string values;
  for (const Combination& combination : expand_child(benchmark, {GetParam().value}).combinations)
    values += (values.empty() ? "" : " ") + *combination.find("b");
  EXPECT_EQ(values, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Values, CompletionTest,
    testing::Values(
        CompletionCase{"Name", "'x/$a'", "x/$a", "{a: A}", "x/A"},
        CompletionCase{"Braces", "'${a}b/$c'", "${a}b/$c", "{a: A}", "Ab/$c"},
        CompletionCase{"Chain", "x/$a", "x/$a", "{a: $c!, c: C}", "x/C!"},
        CompletionCase{"Template", "x/$a", "x/$a", "{a: [1, 2]}", "x/1 x/2"},
        CompletionCase{"ChosenValue", "'x$a,y$a'", "y$a", "{a: A}", "yA"},
        CompletionCase{"ListedValue", "['x,$a', y]", "x,$a", "{a: A}", "x,A"},
        CompletionCase{"Script", "x$a", "x$a", "{a: {mode: python, _: 1 + 1}}", "x2"},
        CompletionCase{"LiteralDollarStays", "'$$a/$c'", "$a/$c", "{c: C, a: A}", "$a/C"},
        CompletionCase{"LiteralDollarsStay", "'$$$$5 $a'", "$$5 $a", "{a: A}", "$$5 A"},
        CompletionCase{"ValueOfAScriptStays", "{mode: shell, _: echo $$a}", "$a", "{a: A}", "$a"},
        CompletionCase{"UnknownStays", "x/$a", "x/$a", "{c: C}", "x/$a"},
        CompletionCase{"SameSetAgain", "x/$a", "x/$a", "{b: x/$a, a: A}", "x/A"}),
    [](const auto& test) { return test.param.name; });

TEST(Completion, ReachesWhatHoldsTheValue) {
  const auto benchmark = benchmark_of(
      "parameterset: [{name: p, parameter: {b: x/$a, c: <$b>}}, {name: q, parameter: {a: A}}]\n"
      "step: [{name: s, use: p}, {name: t, depend: s, use: q}]\n");
  const auto& parameters = benchmark.parameter_set("p")->parameters;
  const Origin origin{{{&parameters[0], "x/$a"}, {&parameters[1], "<x/$a>"}}};
  EXPECT_THAT(texts_of(expansion_of(benchmark, "t", {}, {origin})), ElementsAre("A/x/A/<x/A>"));
}

TEST(Completion, WaitsForTheWorkpackage) {
  const auto benchmark = two_steps("{b: x/$a}", "{a: $jube_wp_id}");
  EXPECT_THAT(texts_of(expand_child(benchmark, {"x/$a"})), ElementsAre("<$jube_wp_id>/<x/$a>"));
}

}  // namespace
}  // namespace bench::space
