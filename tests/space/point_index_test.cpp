#include "space/run_fixture.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

using testing::ElementsAre;

class PointsTest : public RunFixture {};

TEST_F(PointsTest, KeepsEqualValuesOfATemplateApart) {
  plan(
      "parameterset: {name: p, parameter: {a: '1,1', b: 'x,y'}}\n"
      "step: {name: s, use: p, iterations: 2}\n");
  EXPECT_THAT(
      texts_of(grown().all()),
      ElementsAre("0 s() 1/x i0 c0", "1 s() 1/x i1 c0", "2 s() 1/y i0 c2", "3 s() 1/y i1 c2",
                  "4 s() 1/x i0 c4", "5 s() 1/x i1 c4", "6 s() 1/y i0 c6", "7 s() 1/y i1 c6"));
}

TEST_F(PointsTest, KeepsEqualValuesOfAScriptApart) {
  plan(
      "parameterset: {name: p, parameter: {a: {mode: python, _: \"'1,1'\"}}}\n"
      "step: [{name: s, use: p}, {name: t, depend: s}]\n");
  EXPECT_THAT(texts_of(grown().all()),
              ElementsAre("0 s() 1 i0 c0", "1 s() 1 i0 c1", "2 t(0) 1 i0 c2", "3 t(1) 1 i0 c3"));
}

TEST_F(PointsTest, KeepsStepsApart) {
  plan("step: [{name: a, iterations: 2}, {name: b, depend: a}, {name: c, depend: a}]\n");
  EXPECT_THAT(texts_of(grown().all()),
              ElementsAre("0 a()  i0 c0", "1 a()  i1 c0", "2 b(0)  i0 c2", "3 c(0)  i0 c3",
                          "4 b(1)  i1 c2", "5 c(1)  i1 c3"));
}

// `b` drops the parameter in which its parents differ from nothing: it is inherited.
TEST_F(PointsTest, KeepsChildrenOfDifferentParentsApart) {
  plan(
      "parameterset: {name: p, parameter: {a: {update_mode: step, mode: python, _: \"'1,1' if "
      "'$jube_step_name' == 's' else '0'\"}}}\n"
      "step: [{name: s, use: p}, {name: t, depend: s}]\n");
  EXPECT_THAT(texts_of(grown().all()),
              ElementsAre("0 s() 1 i0 c0", "1 s() 1 i0 c1", "2 t(0) 0 i0 c2", "3 t(1) 0 i0 c3"));
}

TEST_F(PointsTest, KeepsIterationsTogetherThatNameTheirWorkpackage) {
  for (const std::string name : {"$jube_wp_id", "$jube_wp_padid", "$jube_wp_iteration",
                                 "$jube_wp_relpath", "$jube_wp_abspath"}) {
    plan("parameterset: {name: p, parameter: {n: [1, 2], log: log_" + name + "}}\n" +
         "step: {name: s, use: p, iterations: 3}\n");
    const Graph graph = grown();
    std::vector<long long> points;
    for (const workspace::Workpackage& workpackage : graph.all())
      points.push_back(workpackage.combination);
    EXPECT_THAT(points, ElementsAre(0, 0, 0, 3, 3, 3)) << name;
  }
}

TEST_F(PointsTest, KeepsEqualValuesApartWhereIterationsNameTheirWorkpackage) {
  plan(
      "parameterset: {name: p, parameter: {a: '1,1', id: $jube_wp_id}}\n"
      "step: {name: s, use: p, iterations: 2}\n");
  EXPECT_THAT(texts_of(grown().all()), ElementsAre("0 s() 1/0 i0 c0", "1 s() 1/1 i1 c0",
                                                   "2 s() 1/2 i0 c2", "3 s() 1/3 i1 c2"));
}

// A child has what its parent had, so children of siblings may differ.
TEST_F(PointsTest, JoinsChildrenOfSiblingsIfTheirValuesAreEqual) {
  plan(
      "parameterset: [{name: p, parameter: {n: [1, 2]}}, {name: q, parameter: {id: $jube_wp_id}}]\n"
      "step: [{name: s, use: p, iterations: 2}, {name: t, depend: s, iterations: 2},\n"
      "       {name: u, depend: s, use: q, iterations: 2}]\n");
  const Graph graph = grown();
  std::vector<std::string> points;
  for (const workspace::Workpackage& workpackage : graph.all())
    points.push_back(workpackage.step + std::to_string(workpackage.combination));
  EXPECT_THAT(points, ElementsAre("s0", "s0", "s2", "s2", "t4", "t4", "u6", "u6", "t4", "t4", "u10",
                                  "u10", "t12", "t12", "u14", "u14", "t12", "t12", "u18", "u18"));
}

TEST_F(PointsTest, FindsThePointsOfIterationsThatNameTheirWorkpackageAfterARestart) {
  plan(
      "parameterset: {name: p, parameter: {id: $jube_wp_id}}\n"
      "step: [{name: s, use: p, iterations: 2}, {name: t, depend: s}]\n");
  Graph before(run_, {}, evaluator_);
  before.make_first();
  Graph after(run_, before.all(), evaluator_);
  EXPECT_THAT(texts_of(children_of(after, {0, 1})),
              ElementsAre("2 t(0) 0 i0 c2", "3 t(1) 1 i1 c3"));
  EXPECT_THAT(texts_of(after.all()),
              ElementsAre("0 s() 0 i0 c0", "1 s() 1 i1 c0", "2 t(0) 0 i0 c2", "3 t(1) 1 i1 c3"));
}

TEST_F(PointsTest, FindsTheSamePointsAfterARestart) {
  plan(
      "parameterset: {name: p, parameter: {a: '1,1'}}\n"
      "step: [{name: s, use: p, iterations: 2}, {name: t, depend: s}]\n");
  Graph before(run_, {}, evaluator_);
  before.make_first();
  children_of(before, {0, 2});
  EXPECT_THAT(texts_of(before.all()),
              ElementsAre("0 s() 1 i0 c0", "1 s() 1 i1 c0", "2 s() 1 i0 c2", "3 s() 1 i1 c2",
                          "4 t(0) 1 i0 c4", "5 t(2) 1 i0 c5"));
  auto known = before.all();
  known[0].expanded = known[2].expanded = true;
  Graph after(run_, known, evaluator_);
  EXPECT_EQ(texts_of(after.all()), texts_of(before.all()));
  EXPECT_THAT(texts_of(children_of(after, {1, 3})),
              ElementsAre("6 t(1) 1 i1 c4", "7 t(3) 1 i1 c5"));
}

}  // namespace
}  // namespace bench::space
