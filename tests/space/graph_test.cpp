#include "space/run_fixture.hpp"
#include "support/environment_variable.hpp"
#include "support/error_of.hpp"

#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/space/metadata.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(RunFixture, NumbersChildrenBehindAllFirstWorkpackages) {
  plan(
      "parameterset: [{name: b, parameter: {opt: [O2, O3]}}, {name: r, parameter: {n: [64, "
      "128]}}]\n"
      "step: [{name: go, depend: compile, use: r, iterations: 2}, {name: compile, use: b}]\n");
  EXPECT_THAT(texts_of(grown().all()),
              ElementsAre("0 compile() O2 i0 c0", "1 compile() O3 i0 c1", "2 go(0) 64/O2 i0 c2",
                          "3 go(0) 64/O2 i1 c2", "4 go(0) 128/O2 i0 c4", "5 go(0) 128/O2 i1 c4",
                          "6 go(1) 64/O3 i0 c6", "7 go(1) 64/O3 i1 c6", "8 go(1) 128/O3 i0 c8",
                          "9 go(1) 128/O3 i1 c8"));
}

TEST_F(RunFixture, MakesTheChildrenOfOneParentForItsStepsInOrder) {
  plan(
      "parameterset: {name: p, parameter: {n: [1, 2]}}\n"
      "step: [{name: a, use: p}, {name: x, depend: a}, {name: y, depend: a}]\n");
  EXPECT_THAT(texts_of(grown().all()),
              ElementsAre("0 a() 1 i0 c0", "1 a() 2 i0 c1", "2 x(0) 1 i0 c2", "3 y(0) 1 i0 c3",
                          "4 x(1) 2 i0 c4", "5 y(1) 2 i0 c5"));
}

/// Two steps with two workpackages each, and a step that depends on both.
const std::string joined =
    "parameterset: [{name: p, parameter: {a: [1, 2]}}, {name: q, parameter: {b: [x, y]}}]\n"
    "step: [{name: A, use: p}, {name: B, use: q}, {name: C, depend: 'A,B'}]\n";

TEST_F(RunFixture, JoinsEveryPairWhenItsLastMemberIsReleased) {
  plan(joined);
  Graph graph(run_, {}, evaluator_);
  graph.make_first();
  EXPECT_THAT(texts_of(children_of(graph, {0, 1})), IsEmpty());
  EXPECT_THAT(texts_of(children_of(graph, {2})),
              ElementsAre("4 C(0,2) 1/x i0 c4", "5 C(1,2) 2/x i0 c5"));
  EXPECT_THAT(texts_of(children_of(graph, {3})),
              ElementsAre("6 C(0,3) 1/y i0 c6", "7 C(1,3) 2/y i0 c7"));
}

TEST_F(RunFixture, MakesNoChildWhereOneOfThemCannotBe) {
  plan(
      "parameterset: [{name: p, parameter: {n: [1, 2]}},\n"
      "  {name: q, parameter: {name: m, mode: python, _: 1 // ($n - 2)}}]\n"
      "step: [{name: a, use: p}, {name: b, depend: a, use: q, where: $n < 3}]\n");
  Graph graph(run_, {}, evaluator_);
  graph.make_first();
  const auto parent_tuples = graph.parent_tuples_of({0, 1});
  ASSERT_EQ(parent_tuples.size(), 2U);
  EXPECT_THROW(graph.make_children(parent_tuples), Error);
  EXPECT_THAT(texts_of(graph.make_children({parent_tuples.data(), 1})),
              ElementsAre("2 b(0) -1/1 i0 c2"));
  const auto failed = graph.make_failed_child(parent_tuples[1], "why");
  EXPECT_EQ(text_of(failed), "3 b(1) 2 i0 c3");
  EXPECT_TRUE(failed.was_never_made());
  EXPECT_EQ(failed.reason, "why");
  EXPECT_THAT(graph.take_notices(), IsEmpty());
}

TEST_F(RunFixture, JoinsWithWhatAnEarlierBenchReleased) {
  plan(joined);
  Graph before(run_, {}, evaluator_);
  before.make_first();
  children_of(before, {0, 1});
  auto known = before.all();
  known[0].expanded = known[1].expanded = true;
  Graph after(run_, known, evaluator_);
  EXPECT_THAT(texts_of(children_of(after, {2})),
              ElementsAre("4 C(0,2) 1/x i0 c4", "5 C(1,2) 2/x i0 c5"));
}

TEST_F(RunFixture, JoinsOnlyParentsThatAgree) {
  plan(
      "parameterset: {name: p, parameter: {a: [1, 2]}}\n"
      "step: [{name: A, use: p}, {name: B, use: p}, {name: C, depend: 'A,B'}]\n");
  Graph graph(run_, {}, evaluator_);
  graph.make_first();
  children_of(graph, {0, 1});
  EXPECT_THAT(texts_of(children_of(graph, {2, 3})),
              ElementsAre("4 C(0,2) 1 i0 c4", "5 C(1,3) 2 i0 c5"));
}

TEST_F(RunFixture, CombinesTheIterationsOfParents) {
  plan(
      "step: [{name: B, iterations: 3}, {name: A, iterations: 2},\n"
      "       {name: C, depend: 'A,B', iterations: 2}]\n");
  Graph graph(run_, {}, evaluator_);
  graph.make_first();       // B 0 1 2, A 3 4
  children_of(graph, {4});  // A's iteration 1
  EXPECT_THAT(texts_of(children_of(graph, {0})), ElementsAre("5 C(0,4)  i6 c5", "6 C(0,4)  i7 c5"));
}

// JUBE counts the iterations that the steps of the parents have themselves, which is one each.
TEST_F(RunFixture, NumbersInheritedIterationsOfTwoParentsAsJubeDoes) {
  plan(
      "step: [{name: A, iterations: 2}, {name: B, iterations: 2}, {name: C, depend: A},\n"
      "       {name: D, depend: B}, {name: E, depend: 'C,D'}]\n");
  const Graph graph = grown();
  std::vector<std::string> children;
  for (const workspace::Workpackage& workpackage : graph.all())
    if (workpackage.step == "E")
      children.push_back(text_of(workpackage));
  EXPECT_THAT(children, ElementsAre("8 E(4,6)  i0 c8", "9 E(5,6)  i1 c8", "10 E(4,7)  i1 c8",
                                    "11 E(5,7)  i2 c8"));
}

TEST_F(RunFixture, KeepsIterationsOfOnePointTogether) {
  plan("step: [{name: a, iterations: 2}, {name: b, depend: a, iterations: 2}]\n");
  EXPECT_THAT(texts_of(grown().all()),
              ElementsAre("0 a()  i0 c0", "1 a()  i1 c0", "2 b(0)  i0 c2", "3 b(0)  i1 c2",
                          "4 b(1)  i2 c2", "5 b(1)  i3 c2"));
}

TEST_F(RunFixture, KeepsIterationsTogetherWhicheverParentIsReleasedLast) {
  plan(
      "parameterset: [{name: p, parameter: {a: 1}}, {name: q, parameter: {b: x}}]\n"
      "step: [{name: A, use: p, iterations: 2}, {name: B, use: q}, {name: C, depend: 'A,B'}]\n");
  Graph graph(run_, {}, evaluator_);
  graph.make_first();
  children_of(graph, {0});
  EXPECT_THAT(texts_of(children_of(graph, {2})), ElementsAre("3 C(0,2) 1/x i0 c3"));
  EXPECT_THAT(texts_of(children_of(graph, {1})), ElementsAre("4 C(1,2) 1/x i1 c3"));
}

TEST_F(RunFixture, GivesLateParametersTheVariablesOfTheWorkpackage) {
  plan(
      "parameterset: {name: p, parameter: {id: $jube_wp_padid-$n, n: [x, y],\n"
      "               up: {mode: python, _: '$jube_wp_iteration + 10'}}}\n"
      "step: [{name: a}, {name: b, depend: a, use: p, iterations: 2}]\n");
  EXPECT_THAT(
      texts_of(grown().all()),
      ElementsAre("0 a()  i0 c0", "1 b(0) 000001-x/x/10 i0 c1", "2 b(0) 000002-x/x/11 i1 c1",
                  "3 b(0) 000003-y/y/10 i0 c3", "4 b(0) 000004-y/y/11 i1 c3"));
}

TEST_F(RunFixture, EvaluatesLateParametersFromTheParent) {
  plan(
      "parameterset: {name: p, parameter: {from: '${jube_wp_parent_a_id}'}}\n"
      "step: [{name: first}, {name: a}, {name: b, depend: a, use: p}]\n");
  EXPECT_EQ(text_of(grown().all().at(2)), "2 b(1) 1 i0 c2");
}

/// A step whose `active` is told with the workpackage, and what there is of it.
struct ActiveCase {
  std::string name;
  std::string steps;
  std::vector<std::string> workpackages;
  std::vector<std::string> notices;
};

class LateActiveTest : public RunFixture, public testing::WithParamInterface<ActiveCase> {};

TEST_P(LateActiveTest, IsToldWhenTheWorkpackageComes) {
  plan("parameterset: {name: p, parameter: {n: [1, 2], id: $jube_wp_id}}\n" + GetParam().steps +
       "\n");
  Graph graph = grown();
  EXPECT_EQ(texts_of(graph.all()), GetParam().workpackages);
  EXPECT_EQ(graph.take_notices(), GetParam().notices);
}

INSTANTIATE_TEST_SUITE_P(
    Variables, LateActiveTest,
    testing::Values(
        ActiveCase{"Iteration",
                   "step: {name: s, use: p, iterations: 2, active: $jube_wp_iteration == 1}",
                   {"0 s() 1/0 i1 c0", "1 s() 2/1 i1 c1"},
                   {"step s: `active` dropped 2 of 4 workpackages"}},
        ActiveCase{"IdIsGivenBack",
                   "step: {name: s, use: p, iterations: 2, active: $jube_wp_id < 2}",
                   {"0 s() 1/0 i0 c0", "1 s() 1/1 i1 c0"},
                   {"step s: `active` dropped 2 of 4 workpackages"}},
        ActiveCase{"ParameterThatNamesTheWorkpackage",
                   "step: {name: s, use: p, active: '$id + $n == 1'}",
                   {"0 s() 1/0 i0 c0"},
                   {"step s: `active` dropped 1 of 2 workpackages"}},
        ActiveCase{"Directory",
                   "step: {name: s, active: \"'$jube_wp_relpath'.endswith('s/work')\"}",
                   {"0 s()  i0 c0"},
                   {}},
        ActiveCase{
            "Parent",
            "step: [{name: a, use: p}, {name: b, depend: a, active: $jube_wp_parent_a_id == 1},"
            " {name: c, depend: b}]",
            {"0 a() 1/0 i0 c0", "1 a() 2/1 i0 c1", "2 b(1) 2/1 i0 c2", "3 c(2) 2/1 i0 c3"},
            {"step b: `active` dropped 1 of 2 workpackages"}}),
    [](const auto& test) { return test.param.name; });

TEST_F(RunFixture, RefusesAnActiveThatIsNoExpression) {
  plan("step: {name: s, active: $jube_wp_id +}\n");
  EXPECT_THAT(support::error_of([&] { grown(); }),
              testing::StartsWith("in.yaml:1:7: error: step 's': invalid expression in active: "));
}

TEST_F(RunFixture, RefusesAWorkDirOfAnUnknownName) {
  const support::EnvironmentVariable unset("BENCH_TEST_SCRATCH", std::nullopt);
  plan("step: {name: s, work_dir: $BENCH_TEST_SCRATCH/x}\n");
  EXPECT_EQ(support::fault_of([&] { grown(); }), "in.yaml:1:7: unknown-name");
  const support::EnvironmentVariable set("BENCH_TEST_SCRATCH", "/scratch");
  EXPECT_THAT(texts_of(grown().all()), ElementsAre("0 s()  i0 c0"));
}

TEST_F(RunFixture, ExpandsTheEnvironmentInASuffix) {
  const support::EnvironmentVariable set("BENCH_TEST_NAME", "value");
  plan("step: {name: s, suffix: $BENCH_TEST_NAME}\n");
  EXPECT_EQ(grown().all().at(0).directory, "000000_s_value");
}

TEST_F(RunFixture, KnowsEveryVariableOfJube) {
  plan(
      "name: demo\nparameterset: {name: p, parameter: {B: {export: true, _: 'it\"s'},\n"
      "                                               a: {export: true, _: ''}, c: 1}}\n"
      "step: [{name: a}, {name: b, depend: a, use: p, iterations: 2}]\n");
  const Graph graph = grown();
  Variables variables = graph.variables_of(graph.at(2));
  for (const auto& [name, value] : platform_variables(run_.platform))
    EXPECT_EQ(variables.extract(name).mapped(), value);
  const std::string root = directory_.path().string();
  const Variables expected{{"jube_benchmark_name", "demo"},
                           {"jube_benchmark_id", "3"},
                           {"jube_benchmark_padid", "000003"},
                           {"jube_benchmark_home", root},
                           {"jube_benchmark_rundir", root + "/000003"},
                           {"jube_benchmark_start", "2026-01-31T13:05:09"},
                           {"jube_step_name", "b"},
                           {"jube_step_iterations", "2"},
                           {"jube_step_cycles", "1"},
                           {"jube_wp_id", "2"},
                           {"jube_wp_padid", "000002"},
                           {"jube_wp_iteration", "1"},
                           {"jube_wp_cycle", "0"},
                           {"jube_wp_attempts", "1"},
                           {"jube_wp_relpath", "000003/000002_b/work"},
                           {"jube_wp_abspath", root + "/000003/000002_b/work"},
                           {"jube_wp_status", "RUNNING"},
                           {"jube_wp_parent_a_id", "0"},
                           {"jube_wp_envstr", "export a=\"\"\nexport B=\"it\\\"s\"\n"},
                           {"jube_wp_envlist", "a,B"}};
  EXPECT_EQ(variables, expected);
}

TEST_F(RunFixture, NotesWhatWasLeftOut) {
  plan(
      "parameterset: [{name: p, parameter: {n: [1, 2, 3]}}, {name: q, parameter: {n: 5}}]\n"
      "step: [{name: a, use: p, where: $n < 3, active: $n != 1}, {name: b, depend: a, use: q}]\n");
  Graph graph = grown();
  EXPECT_THAT(texts_of(graph.all()), ElementsAre("0 a() 2 i0 c0"));
  EXPECT_THAT(graph.take_notices(),
              ElementsAre("step a: `where` dropped 1 of 3 combinations",
                          "step a: `active` dropped 1 of 2 combinations",
                          "step b: 1 parent has no child, because the step defines 'n' "
                          "differently"));
  EXPECT_THAT(graph.take_notices(), IsEmpty());
}

TEST_F(RunFixture, GivesNewWorkpackagesIdsBehindAGap) {
  plan("step: [{name: a, iterations: 3}, {name: b, depend: a}]\n");
  Graph before(run_, {}, evaluator_);
  before.make_first();
  auto known = before.all();
  known.erase(known.begin() + 1);
  Graph after(run_, known, evaluator_);
  EXPECT_EQ(after.at(2).iteration, 2);
  EXPECT_THAT(texts_of(children_of(after, {2, 0})), ElementsAre("3 b(2)  i2 c3", "4 b(0)  i0 c3"));
}

TEST_F(RunFixture, AppendsTheSuffixToTheDirectory) {
  plan(
      "parameterset: {name: p, parameter: {n: [1, 2], id: x$jube_wp_id, path: $jube_wp_relpath}}\n"
      "step: [{name: a, use: p, suffix: 'n${n}_$jube_step_name'}, {name: b, use: p, suffix: $id},\n"
      "       {name: c, suffix: ''}]\n");
  const Graph graph = grown();
  EXPECT_EQ(graph.at(1).directory, "000001_a_n2_a");
  EXPECT_EQ(graph.at(1).parameters.at(2).second, "000003/000001_a_n2_a/work");
  EXPECT_EQ(graph.at(2).directory, "000002_b_x2");
  EXPECT_EQ(graph.at(4).directory, "000004_c");
}

TEST_F(RunFixture, RefusesASuffixThatIsNoName) {
  plan("step: {name: a, suffix: $nothing}\n");
  EXPECT_EQ(support::fault_of([&] { grown(); }), "in.yaml:1:7: invalid-value");
  plan("step: {name: a, suffix: a/b}\n");
  EXPECT_EQ(support::fault_of([&] { grown(); }), "in.yaml:1:7: invalid-value");
}

TEST_F(RunFixture, KnowsTheWorkDirectoryOfAStep) {
  const support::EnvironmentVariable scratch("BENCH_TEST_SCRATCH", "/scratch");
  plan(
      "parameterset: {name: p, parameter: {n: 7}}\n"
      "step: [{name: a, use: p, work_dir: 'aw/$n/$jube_wp_id'},\n"
      "       {name: b, work_dir: $$BENCH_TEST_SCRATCH/b}]\n");
  const Graph graph = grown();
  const Variables own = graph.variables_of(graph.at(0));
  EXPECT_EQ(own.at("jube_wp_abspath"), (directory_.path() / "aw/7/0").string());
  EXPECT_EQ(own.at("jube_wp_relpath"), "aw/7/0");
  EXPECT_EQ(graph.variables_of(graph.at(1)).at("jube_wp_abspath"), "/scratch/b");
}

TEST_F(RunFixture, RefusesMoreWorkpackagesThanTheRunMayHave) {
  plan("step: [{name: a, iterations: 3}, {name: b, depend: a}]\n");
  run_.metadata.max_workpackages = 5;
  EXPECT_EQ(support::fault_of([&] { grown(); }), "in.yaml:1:34: too-large");
  run_.metadata.max_workpackages = 6;
  EXPECT_EQ(grown().all().size(), 6U);
}

}  // namespace
}  // namespace bench::space
