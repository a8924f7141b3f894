#include "space/run_fixture.hpp"
#include "support/error_of.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/space/graph.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MissingTest : public RunFixture {
 protected:
  /// What a run of the first text lacks of the second one. All that it has is done.
  Graph::Missing missing(const std::string& before, const std::string& after) {
    plan(before);
    std::vector<workspace::Workpackage> known = grown().all();
    for (workspace::Workpackage& workpackage : known) {
      workpackage.state = workspace::State::done;
      workpackage.expanded = true;
    }
    const model::Benchmark benchmark = run_.benchmark;
    plan(after);
    Graph graph(run_, known, evaluator_);
    return graph.make_missing(benchmark);
  }
};

std::string sweep(const std::string& values, const std::string& step = "") {
  return "parameterset: {name: p, parameter: {n: " + values + "}}\n" + "step: {name: s, use: p" +
         step + "}\n";
}

TEST_F(MissingTest, AreTheNewValuesBehindTheOthers) {
  const auto found = missing(sweep("[1, 2]"), sweep("[3, 2, 1, 4]"));
  EXPECT_THAT(texts_of(found.made), ElementsAre("2 s() 3 i0 c2", "3 s() 4 i0 c3"));
  EXPECT_EQ(found.obsolete, 0U);
}

TEST_F(MissingTest, AreNoneOfTheSameInput) {
  const std::string same = sweep("[1, 1, 2]", ", iterations: 2");
  EXPECT_THAT(missing(same, same).made, IsEmpty());
}

TEST_F(MissingTest, AreTheNewIterationsOfTheSamePoints) {
  EXPECT_THAT(
      texts_of(
          missing(sweep("[1, 2]", ", iterations: 2"), sweep("[1, 2]", ", iterations: 3")).made),
      ElementsAre("4 s() 1 i2 c0", "5 s() 2 i2 c2"));
}

TEST_F(MissingTest, AreTheNewIterationsWhereActiveDropsTheFirst) {
  const std::string active = ", active: '$jube_wp_iteration > 0', iterations: ";
  EXPECT_THAT(texts_of(missing(sweep("1", active + "3"), sweep("1", active + "4")).made),
              ElementsAre("2 s() 1 i3 c0"));
}

TEST_F(MissingTest, CountWhatIsNoLongerThere) {
  const auto found = missing(sweep("[1, 2, 3]"), sweep("[2]"));
  EXPECT_THAT(found.made, IsEmpty());
  EXPECT_EQ(found.obsolete, 2U);
}

/// `date` gives another value at each call.
std::string scripted(const std::string& values, const std::string& script = "date +%N") {
  return "parameterset: {name: p, parameter: [{name: n, _: '" + values +
         "'}, {name: when, mode: shell, _: '" + script +
         "'}, {name: log, _: $when.log}]}\nstep: {name: s, use: p, iterations: 2}\n";
}

TEST_F(MissingTest, AreNoneWhereOnlyAScriptGivesAnotherValue) {
  const auto found = missing(scripted("1,2"), scripted("1,2"));
  EXPECT_THAT(found.made, IsEmpty());
  EXPECT_EQ(found.obsolete, 0U);
  EXPECT_THAT(found.kept, ElementsAre("log", "when"));
}

TEST_F(MissingTest, AreTheNewPointsBesideAScriptThatGivesAnotherValue) {
  const auto found = missing(scripted("1,2"), scripted("1,2,3"));
  EXPECT_EQ(found.made.size(), 2U);
  EXPECT_EQ(found.obsolete, 0U);
}

TEST_F(MissingTest, AreAllPointsOfAScriptThatIsAnotherOne) {
  const auto found = missing(scripted("1,2"), scripted("1,2", "date +1%N"));
  EXPECT_EQ(found.made.size(), 4U);
  EXPECT_EQ(found.obsolete, 4U);
  EXPECT_THAT(found.kept, IsEmpty());
}

TEST_F(MissingTest, AreThePiecesThatAScriptListsAnew) {
  const std::string list = directory_.write("list", "a,b").string();
  const std::string text = scripted("1", "cat " + list);
  plan(text);
  const auto known = grown().all();
  directory_.write("list", "b,c");
  Graph graph(run_, known, evaluator_);
  const auto found = graph.make_missing(run_.benchmark);
  EXPECT_EQ(found.made.size(), 2U);
  EXPECT_EQ(found.obsolete, 2U);
}

TEST_F(MissingTest, DoNotDependOnParametersThatNameTheWorkpackage) {
  const auto text = [](const char* values) {
    return std::string("parameterset: {name: p, parameter: [{n: ") + values +
           "}, {name: log, _: log_$jube_wp_id}, {name: file, _: $log.txt}]}\n"
           "step: {name: s, use: p}\n";
  };
  EXPECT_THAT(texts_of(missing(text("[1, 2]"), text("[1, 2, 3]")).made),
              ElementsAre("2 s() 3/log_2/log_2.txt i0 c2"));
}

TEST_F(MissingTest, AreChildrenOfOldParentsWithNewValues) {
  const auto text = [](const char* values) {
    return std::string(
               "parameterset: [{name: p, parameter: {n: [1, 2]}}, {name: q, parameter: "
               "{m: ") +
           values + "}}]\nstep: [{name: a, use: p}, {name: b, use: q, depend: a}]\n";
  };
  EXPECT_THAT(texts_of(missing(text("[x]"), text("[x, y]")).made),
              ElementsAre("4 b(0) y/1 i0 c4", "5 b(1) y/2 i0 c5"));
}

TEST_F(MissingTest, AreTheWorkpackagesOfANewStep) {
  const std::string before = sweep("[1, 2]");
  const std::string after =
      "parameterset: {name: p, parameter: {n: [1, 2]}}\n"
      "step: [{name: s, use: p}, {name: t, depend: s}, {name: u}]\n";
  EXPECT_THAT(texts_of(missing(before, after).made),
              ElementsAre("2 u()  i0 c2", "3 t(0) 1 i0 c3", "4 t(1) 2 i0 c4"));
}

TEST_F(MissingTest, AreCountedAgainstTheLimitWithoutTheKnownOnes) {
  run_.metadata.max_workpackages = 4;
  plan(sweep("[1, 2, 3]"));
  std::vector<workspace::Workpackage> known = grown().all();
  plan(sweep("[1, 2, 3, 4]"));
  run_.metadata.max_workpackages = 4;
  EXPECT_EQ(Graph(run_, known, evaluator_).make_missing(run_.benchmark).made.size(), 1U);
  plan(sweep("[1, 2, 3, 4, 5]"));
  run_.metadata.max_workpackages = 4;
  Graph graph(run_, known, evaluator_);
  EXPECT_THAT(support::error_of([&] { graph.make_missing(run_.benchmark); }),
              testing::HasSubstr("more than 4"));
}

TEST_F(MissingTest, AreNotWhatASearchHasTried) {
  const std::string text = sweep("1", ", search: {parameter: n, for: max(v), between: [2, 8]}") +
                           "patternset: {name: f, pattern: {name: v, _: v}}\n"
                           "analyser: {name: a, use: f, analyse: {step: s, file: stdout}}\n";
  plan(text);
  Graph graph = grown();
  graph.make_variant(0, {{"n", "4"}});
  const std::vector<workspace::Workpackage> known = graph.all();
  EXPECT_THAT(texts_of(known), ElementsAre("0 s() 2 i0 c0", "1 s() 4 i0 c1"));
  const auto found = Graph(run_, known, evaluator_).make_missing(run_.benchmark);
  EXPECT_THAT(found.made, IsEmpty());
  EXPECT_EQ(found.obsolete, 0U);
}

TEST_F(MissingTest, AreNotTheIterationsThatARepetitionHasAdded) {
  const std::string text =
      sweep("[1, 2]", ", iterations: {min: 2, max: 9, until: ci_halfwidth(v) < 1%}") +
      "patternset: {name: f, pattern: {name: v, type: float, _: v}}\n"
      "analyser: {name: a, use: f, analyse: {step: s, file: stdout}}\n";
  plan(text);
  Graph graph = grown();
  graph.make_iterations(0, 2, 4);
  const std::vector<workspace::Workpackage> known = graph.all();
  EXPECT_EQ(known.size(), 6U);
  const auto found = Graph(run_, known, evaluator_).make_missing(run_.benchmark);
  EXPECT_THAT(found.made, IsEmpty());
  EXPECT_EQ(found.obsolete, 0U);
}

class VariantTest : public RunFixture {};

TEST_F(VariantTest, HasWhatFollowsFromTheValueAndTheOtherParameters) {
  plan(
      "parameterset: {name: p, parameter: [{n: [1, 2]}, {m: [3, 4]}, {name: sum, mode: python, "
      "_: $n + $m}]}\n"
      "step: {name: s, use: p, iterations: 2}\n");
  Graph graph(run_, {}, evaluator_);
  graph.make_first();
  EXPECT_THAT(texts_of(graph.make_variant(2, {{"n", "9"}})),
              ElementsAre("8 s() 9/4/13 i0 c8", "9 s() 9/4/13 i1 c8"));
}

TEST_F(VariantTest, IsNoneWhereItIsDropped) {
  plan("parameterset: {name: p, parameter: {n: [1, 2]}}\nstep: {name: s, use: p, where: $n < 5}\n");
  Graph graph(run_, {}, evaluator_);
  graph.make_first();
  EXPECT_THAT(graph.make_variant(0, {{"n", "9"}}), IsEmpty());
}

TEST_F(VariantTest, IsOneCombination) {
  plan(
      "parameterset: {name: p, parameter: [{n: 1}, {name: m, _: '$n,2'}]}\n"
      "step: {name: s, use: p}\n");
  Graph graph(run_, {}, evaluator_);
  graph.make_first();
  EXPECT_THAT(support::error_of([&] {
                graph.make_variant(0, {{"n", "9"}});
              }),
              testing::HasSubstr("has 2 combinations with n=9, and needs one"));
}

class IterationsTest : public RunFixture {};

TEST_F(IterationsTest, AreMadeOfOneCombinationWithItsValues) {
  plan(
      "parameterset: {name: p, parameter: [{n: [1, 2]}, {name: log, _: log_$jube_wp_id}]}\n"
      "step: {name: s, use: p, iterations: 2}\n");
  Graph graph(run_, {}, evaluator_);
  graph.make_first();
  EXPECT_THAT(texts_of(graph.make_iterations(2, 2, 4)),
              ElementsAre("4 s() 2/log_4 i2 c2", "5 s() 2/log_5 i3 c2"));
}

TEST_F(IterationsTest, HaveTheParentsOfTheOthers) {
  plan(
      "parameterset: [{name: p, parameter: {n: [1, 2]}}, {name: q, parameter: {m: [3, 4]}}]\n"
      "step: [{name: a, use: p}, {name: b, use: q, depend: a}]\n");
  Graph graph = grown();
  EXPECT_THAT(texts_of(graph.make_iterations(5, 1, 2)), ElementsAre("6 b(1) 4/2 i1 c5"));
}

/// A script that gives another value each time must not make another combination.
TEST_F(IterationsTest, KeepWhatAScriptHasGiven) {
  plan(
      "parameterset: {name: p, parameter: {stamp: {mode: shell, _: date +%N}}}\n"
      "step: {name: s, use: p}\n");
  Graph graph(run_, {}, evaluator_);
  const auto first = graph.make_first();
  EXPECT_EQ(graph.make_iterations(0, 1, 2).front().parameters, first.front().parameters);
}

}  // namespace
}  // namespace bench::space
