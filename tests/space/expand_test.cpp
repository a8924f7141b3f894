#include "space/fixture.hpp"
#include "support/case_name.hpp"
#include "support/environment_variable.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {
namespace {

using support::case_name;
using testing::ElementsAre;
using testing::SizeIs;

struct ExpandCase {
  std::string name;
  std::string parameters;
  std::vector<std::string> expected;
};

class ExpandTest : public testing::TestWithParam<ExpandCase> {};

TEST_P(ExpandTest, GivesTheCombinationsInOrder) {
  EXPECT_EQ(combinations_of(with_parameters(GetParam().parameters)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Order, ExpandTest,
    testing::Values(
        ExpandCase{
            "LastDefinedFastest",
            "    - {name: a, _: '1,2'}\n    - {name: b, _: 'x,y'}\n    - {name: c, _: 'p,q'}\n",
            {"1/x/p", "1/x/q", "1/y/p", "1/y/q", "2/x/p", "2/x/q", "2/y/p", "2/y/q"}},
        ExpandCase{"ScriptTemplatesInside",
                   "    - {name: d, mode: python, _: \"'%d,%d' % ($a, $a*10)\"}\n"
                   "    - {name: a, _: '1,2'}\n    - {name: b, _: 'x,y'}\n",
                   {"1/1/x", "10/1/x", "1/1/y", "10/1/y", "2/2/x", "20/2/x", "2/2/y", "20/2/y"}},
        ExpandCase{"SplitBeforeSubstitution",
                   "    - {name: b, _: '$a-1,$a-2'}\n    - {name: a, _: 'x,y'}\n",
                   {"x-1/x", "y-1/y", "x-2/x", "y-2/y"}},
        ExpandCase{"TemplatesOutOfSubstitutionInside",
                   "    - {name: b, separator: ';', _: '1;2'}\n    - {name: a, _: '$b,$b$b'}\n"
                   "    - {name: c, separator: ':', _: $a:0}\n",
                   {"1/1/1", "1/1/0", "1/11/11", "1/11/0", "2/2/2", "2/2/0", "2/22/22", "2/22/0"}},
        // The shape of CARAML's resnet50: two dicts that give templates, then a plain template.
        ExpandCase{
            "PlainTemplatesOutsideOfScripts",
            "    - {name: nodes, mode: python, separator: ';', _: \"{'a': '1;2'}['a']\"}\n"
            "    - {name: tasks, mode: python, separator: ';', _: \"{'a': '1;4'}['a']\"}\n"
            "    - {name: batch, _: '16,32'}\n",
            {"1/1/16", "1/4/16", "2/1/16", "2/4/16", "1/1/32", "1/4/32", "2/1/32", "2/4/32"}},
        ExpandCase{"ReplacedParameterKeepsItsPlace",
                   "    - {name: a, _: 0}\n    - {name: b, _: 'x,y'}\n    - {name: a, _: '1,2'}\n",
                   {"1/x", "1/y", "2/x", "2/y"}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Splitting, ExpandTest,
    testing::Values(
        ExpandCase{"PiecesAreStripped", "    - {name: a, _: ' 1 , 2 '}\n", {"1", "2"}},
        ExpandCase{"EmptyPiecesCount", "    - {name: a, _: '1,,2'}\n", {"1", "", "2"}},
        ExpandCase{"TrailingSeparator", "    - {name: a, _: '1,'}\n", {"1", ""}},
        ExpandCase{
            "LongSeparator", "    - {name: a, separator: '::', _: '1::2:3'}\n", {"1", "2:3"}},
        ExpandCase{
            "NewlineSeparator", "    - {name: a, separator: \"\\n\", _: \"1\\n2\"}\n", {"1", "2"}},
        ExpandCase{
            "EmptySeparatorNeverSplits", "    - {name: a, separator: '', _: '1,2'}\n", {"1,2"}},
        ExpandCase{"Equal", "    - {name: a, _: '1,1'}\n", {"1", "1"}},
        ExpandCase{"PythonListIsSplit",
                   "    - {name: a, mode: python, _: '[1,2,3]'}\n",
                   {"[1", "2", "3]"}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Lists, ExpandTest,
    testing::Values(
        ExpandCase{"AreTemplates", "    {a: [1, 2], b: [x, y]}\n", {"1/x", "1/y", "2/x", "2/y"}},
        ExpandCase{"WithOneItem", "    {a: [1], b: $a}\n", {"1/1"}},
        ExpandCase{"ItemsAreNotSplit", "    {a: ['1,2', '3']}\n", {"1,2", "3"}},
        ExpandCase{"ItemsAreSubstituted",
                   "    {a: [$b, 2$b], b: [x, y]}\n",
                   {"x/x", "y/y", "2x/x", "2y/y"}},
        ExpandCase{"SubstitutedItemsAreNotSplit",
                   "    {a: [$b], b: {separator: '', _: '1,2'}}\n",
                   {"1,2/1,2"}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Dependencies, ExpandTest,
    testing::Values(
        ExpandCase{"InAnyOrder", "    {a: $b!, b: '${c}x', c: $d, d: 1}\n", {"1x!/1x/1/1"}},
        ExpandCase{
            "OfScripts",
            "    - {name: c, mode: python, _: $b+1}\n    - {name: b, mode: python, _: $a*2}\n"
            "    - {name: a, _: '1,5'}\n",
            {"3/2/1", "11/10/5"}},
        ExpandCase{
            "BuiltNames", "    {a: '${p$n}', n: [1, 2], p1: X, p2: Y}\n", {"X/1/X/Y", "Y/2/X/Y"}},
        ExpandCase{"UnknownNamesStay", "    {a: '$HOME/$b', b: 1}\n", {"$HOME/1/1"}},
        ExpandCase{"DoubledDollarsStay", "    {a: '$$b', b: 1, c: $a}\n", {"$b/1/$b"}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Scripts, ExpandTest,
    testing::Values(
        ExpandCase{
            "ShellKeepsItsNewline", "    {a: {mode: shell, _: echo 2024.01}}\n", {"2024.01\n"}},
        ExpandCase{
            "ShellTemplatesAreStripped", "    {a: {mode: shell, _: 'echo 1, 2'}}\n", {"1", "2"}},
        ExpandCase{"PythonKeepsItsBlanks",
                   "    - {name: a, mode: python, _: \"'  pad  '\"}\n",
                   {"  pad  "}},
        ExpandCase{"ResultsAreNotSubstituted",
                   "    - {name: a, mode: python, _: \"'$' + 'b'\"}\n    - {name: b, _: 1}\n",
                   {"$b/1"}},
        ExpandCase{"TemplatesOfResultsAreNotSubstituted",
                   "    - {name: a, mode: python, _: \"'$' + 'b,2'\"}\n    - {name: b, _: 1}\n",
                   {"$b/1", "2/1"}}),
    case_name);

TEST(Expand, ReadsTheEnvironment) {
  const support::EnvironmentVariable variable("BENCH_TEST_SIZES", "8, 16");
  EXPECT_THAT(combinations_of(with_parameters("    {a: {mode: env, _: BENCH_TEST_SIZES}}\n")),
              ElementsAre("8", "16"));
}

TEST(Expand, TakesSetsInTheOrderOfUse) {
  const auto benchmark = benchmark_of(
      "parameterset: [{name: p, parameter: {a: [1, 2]}}, {name: q, parameter: {b: [x, y]}}]\n"
      "step: [{name: s, use: [q, p]}, {name: t, use: 'p,q'}]\n");
  EXPECT_THAT(combinations_of(benchmark, "s"), ElementsAre("x/1", "x/2", "y/1", "y/2"));
  EXPECT_THAT(combinations_of(benchmark, "t"), ElementsAre("1/x", "1/y", "2/x", "2/y"));
}

TEST(Expand, GivesAStepWithoutParametersOneCombination) {
  EXPECT_THAT(combinations_of(benchmark_of("step: {name: s}\n")), ElementsAre(""));
}

TEST(Expand, PrefersInternalVariablesToParameters) {
  const auto benchmark = with_parameters("    {a: $jube_step_name, jube_step_name: mine}\n");
  EXPECT_THAT(combinations_of(benchmark, "s", {{"jube_step_name", "s"}}), ElementsAre("s/mine"));
}

TEST(Expand, TakesASharedParameterOfEqualSetsOnce) {
  const auto benchmark = benchmark_of(
      "parameterset: [{name: p, parameter: {a: '1,2'}}, {name: q, parameter: {a: '1,2', b: x}}]\n"
      "step: {name: s, use: [p, q]}\n");
  EXPECT_THAT(combinations_of(benchmark), ElementsAre("1/x", "2/x"));
}

TEST(Expand, ExpandsLargeSpaces) {
  std::string list = "    {a: [0";
  for (int k = 1; k < 300; ++k)
    list += ", " + std::to_string(k);
  EXPECT_THAT(
      combinations_of(with_parameters(list + "], b: {mode: python, _: $a % 7}, c: 'x,y,z'}\n")),
      SizeIs(900));
}

TEST(Where, DropsCombinationsAndCountsThem) {
  auto benchmark = with_parameters("    {a: [1, 2, 3], b: [1, 2]}\n");
  benchmark.steps[0].where = "$a * $b <= 3";
  benchmark.steps[0].active = "$a != 3";
  const auto expansion = expansion_of(benchmark);
  EXPECT_THAT(texts_of(expansion), ElementsAre("1/1", "1/2", "2/1"));
  EXPECT_EQ(expansion.dropped_by_where, 2U);
  EXPECT_EQ(expansion.dropped_by_active, 1U);
}

TEST(Where, MayDropEverything) {
  auto benchmark = with_parameters("    {a: [1, 2]}\n");
  benchmark.steps[0].where = "False";
  EXPECT_THAT(combinations_of(benchmark), SizeIs(0));
}

TEST(DefinitionOf, LooksInTheStepThenInWhatItDependsOn) {
  const auto benchmark = benchmark_of(
      "parameterset: [{name: p, parameter: {a: 1, b: 2}}, {name: q, parameter: {a: 3}}]\n"
      "step: [{name: s, use: p}, {name: t, depend: s, use: q}, {name: u, depend: t}]\n");
  const auto text = [&](const char* step, const char* name) {
    const auto* definition = definition_of(benchmark, *benchmark.step(step), name);
    return definition ? definition->text : "(none)";
  };
  EXPECT_EQ(text("t", "a"), "3");
  EXPECT_EQ(text("u", "a"), "3");
  EXPECT_EQ(text("u", "b"), "2");
  EXPECT_EQ(text("s", "c"), "(none)");
}

}  // namespace
}  // namespace bench::space
