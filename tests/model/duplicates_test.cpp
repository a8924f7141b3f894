#include "model/fixture.hpp"
#include "support/case_name.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {
namespace {

using support::case_name;
using testing::ElementsAre;

std::string with_set(const std::string& settings, const std::string& parameters) {
  return "parameterset:\n  name: p\n" + settings + "  parameter:\n" + parameters +
         "step: {name: s, use: p}\n";
}

struct DuplicateCase {
  std::string name;
  std::string settings;
  std::string parameters;
  std::string expected;
};

class DuplicateTest : public testing::TestWithParam<DuplicateCase> {};

/// `a=text` for every parameter of the set.
std::string texts_of(const std::string& yaml) {
  std::string text;
  const Benchmark benchmark = benchmark_of(yaml);
  for (const Parameter& parameter : benchmark.parameter_sets.at(0).parameters)
    text += (text.empty() ? "" : " ") + parameter.name + "=" + parameter.text;
  return text;
}

TEST_P(DuplicateTest, LeavesOneDefinition) {
  EXPECT_EQ(texts_of(with_set(GetParam().settings, GetParam().parameters)), GetParam().expected);
}

const std::string two = "    - {name: a, _: 1}\n    - {name: b, _: 0}\n    - {name: a, _: 2}\n";

INSTANTIATE_TEST_SUITE_P(
    OfASet, DuplicateTest,
    testing::Values(
        DuplicateCase{"ReplaceByDefault", "", two, "a=2 b=0"},
        DuplicateCase{"Replace", "  duplicate: replace\n", two, "a=2 b=0"},
        DuplicateCase{"Concat", "  duplicate: concat\n", two, "a=1,2 b=0"},
        DuplicateCase{"ConcatSortsAsTextAndKeepsEachOnce", "  duplicate: concat\n",
                      "    - {name: a, _: 3}\n    - {name: a, _: 20}\n    - {name: a, _: '1, 3'}\n",
                      "a=1,20,3"},
        DuplicateCase{"ConcatOfEqualTexts", "  duplicate: concat\n",
                      "    - {name: a, _: 3}\n    - {name: a, _: 3}\n", "a=3"},
        DuplicateCase{"ConcatWithAListIsAList", "  duplicate: concat\n",
                      "    - {name: a, _: [1, 2]}\n    - {name: a, _: 3}\n", "a="},
        DuplicateCase{"ConcatUsesTheSeparator", "  duplicate: concat\n",
                      "    - {name: a, separator: ;, _: 2}\n    - {name: a, separator: ;, _: 1}\n",
                      "a=1;2"},
        DuplicateCase{"ErrorWithoutDuplicates", "  duplicate: error\n",
                      "    - {name: a, _: '1,2'}\n", "a=1,2"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    OfAParameter, DuplicateTest,
    testing::Values(
        DuplicateCase{"ReplaceInAnErrorSet", "  duplicate: error\n",
                      "    - {name: a, duplicate: replace, _: 1}\n"
                      "    - {name: a, duplicate: replace, _: 2}\n",
                      "a=2"},
        DuplicateCase{
            "ConcatInAReplaceSet", "",
            "    - {name: a, duplicate: concat, _: 2}\n    - {name: a, duplicate: concat, _: 1}\n",
            "a=1,2"},
        DuplicateCase{"NoneLeavesItToTheSet", "  duplicate: concat\n",
                      "    - {name: a, duplicate: none, _: 2}\n    - {name: a, _: 1}\n", "a=1,2"},
        // JUBE repeats the check when it expands a parameter, and never ends.
        DuplicateCase{"ConcatOfATemplateAlone", "",
                      "    - {name: a, duplicate: concat, _: '2,1,2'}\n", "a=2,1,2"},
        DuplicateCase{"ErrorOfATemplateAlone", "", "    - {name: a, duplicate: error, _: '2,1'}\n",
                      "a=2,1"}),
    case_name);

TEST(Duplicates, ConcatTakesScriptsAsText) {
  const auto set = benchmark_of(with_set("  duplicate: concat\n",
                                         "    - {name: a, mode: python, _: 2+2}\n"
                                         "    - {name: a, mode: python, _: 1+1}\n"))
                       .parameter_sets.at(0);
  EXPECT_EQ(set.parameters.at(0).text, "1+1,2+2");
  EXPECT_EQ(set.parameters.at(0).mode, evaluate::Mode::text);
}

TEST(Duplicates, ConcatOfListsIsAList) {
  const auto set = benchmark_of(with_set("  duplicate: concat\n",
                                         "    - {a: [3, 1]}\n    - {name: a, _: '2,3'}\n"))
                       .parameter_sets.at(0);
  EXPECT_THAT(set.parameters.at(0).values, ElementsAre("1", "2", "3"));
}

TEST(Duplicates, ConcatWithoutASeparatorIsAList) {
  const auto set = benchmark_of(with_set("  duplicate: concat\n",
                                         "    - {name: a, separator: '', _: 'x,y'}\n"
                                         "    - {name: a, separator: '', _: b}\n"))
                       .parameter_sets.at(0);
  EXPECT_THAT(set.parameters.at(0).values, ElementsAre("b", "x,y"));
}

class DuplicateErrorTest : public testing::TestWithParam<DuplicateCase> {};

TEST_P(DuplicateErrorTest, HasMessagePlaceAndHint) {
  EXPECT_EQ(fault_in(with_set(GetParam().settings, GetParam().parameters)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Definitions, DuplicateErrorTest,
    testing::Values(
        DuplicateCase{"OfAnErrorSet", "  duplicate: error\n", two, "in.yaml:7:20: duplicate-name"},
        DuplicateCase{
            "OfAnErrorParameter", "",
            "    - {name: a, duplicate: error, _: 1}\n    - {name: a, duplicate: error, _: 1}\n",
            "in.yaml:5:38: duplicate-name"},
        DuplicateCase{"ThatDisagree", "",
                      "    - {name: a, duplicate: concat, _: 1}\n    - {name: a, _: 2}\n",
                      "in.yaml:5:20: conflict"},
        DuplicateCase{"OfTwoTypes", "  duplicate: concat\n",
                      "    - {name: a, type: int, _: 1}\n    - {name: a, _: 2}\n",
                      "in.yaml:6:20: conflict"},
        DuplicateCase{"OfTwoSeparators", "  duplicate: concat\n",
                      "    - {name: a, separator: ;, _: 1}\n    - {name: a, _: 2}\n",
                      "in.yaml:6:20: conflict"},
        DuplicateCase{"OfTwoUpdateModes", "  duplicate: concat\n",
                      "    - {name: a, update_mode: use, _: 1}\n    - {name: a, _: 2}\n",
                      "in.yaml:6:20: conflict"}),
    case_name);

}  // namespace
}  // namespace bench::model
