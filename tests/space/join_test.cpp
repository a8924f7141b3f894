#include "space/run_fixture.hpp"

#include <ctime>
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

class JoinTest : public RunFixture {
 protected:
  /// The workpackages of the last step, all others released.
  std::vector<std::string> children(const std::string& yaml) {
    plan(yaml);
    std::vector<std::string> texts;
    const Graph graph = grown();
    for (const workspace::Workpackage& workpackage : graph.all())
      if (workpackage.step == run_.benchmark.steps.back().name)
        texts.push_back(text_of(workpackage));
    return texts;
  }

  std::string below_two(const std::string& set, const std::string& use = "") {
    return "parameterset: " + set +
           "\nstep: [{name: A, use: p}, {name: B, use: p}, {name: C, depend: 'A,B'" + use + "}]\n";
  }
};

TEST_F(JoinTest, MatchesEqualValuesOfATemplateByPosition) {
  EXPECT_THAT(children(below_two("{name: p, parameter: {a: '1,1'}}")),
              ElementsAre("4 C(0,2) 1 i0 c4", "5 C(1,3) 1 i0 c5"));
}

TEST_F(JoinTest, MatchesTheSamePositionsAfterARestart) {
  plan(below_two("{name: p, parameter: {a: '1,1', b: 'x,x'}}"));
  Graph before(run_, {}, evaluator_);
  before.make_first();
  auto known = before.all();
  for (workspace::Workpackage& workpackage : known)
    workpackage.expanded = workpackage.step == "A";
  Graph after(run_, known, evaluator_);
  EXPECT_THAT(texts_of(children_of(after, {6})), ElementsAre("8 C(2,6) 1/x i0 c8"));
}

TEST_F(JoinTest, MatchesTheSamePositionsOfInheritedValues) {
  EXPECT_THAT(children("parameterset: {name: p, parameter: {a: '1,1'}}\n"
                       "step: [{name: A, use: p}, {name: B, depend: A}, {name: C, depend: A},\n"
                       "       {name: D, depend: 'B,C'}]\n"),
              ElementsAre("6 D(2,3) 1 i0 c6", "7 D(4,5) 1 i0 c7"));
}

// Both parents own the set, so its values differ: JUBE's diamond.
TEST_F(JoinTest, MakesAChildOfDifferentValuesThatAreMadeAnew) {
  const auto diamond = [&](const std::string& mode, const std::string& use) {
    return children(
        below_two("{name: p, parameter: {a: {update_mode: " + mode + ", _: $jube_wp_id}}}", use));
  };
  EXPECT_THAT(diamond("never", ""), IsEmpty());
  EXPECT_THAT(diamond("cycle", ", use: p"), IsEmpty());
  EXPECT_THAT(diamond("use", ""), IsEmpty());
  EXPECT_THAT(diamond("use", ", use: p"), ElementsAre("2 C(0,1) 2 i0 c2"));
  EXPECT_THAT(diamond("step", ""), ElementsAre("2 C(0,1) 2 i0 c2"));
  EXPECT_THAT(diamond("always", ""), ElementsAre("2 C(0,1) 2 i0 c2"));
}

TEST_F(JoinTest, SaysWhyParentsHaveNoChild) {
  plan(
      "parameterset: [{name: p, parameter: {a: '1,2'}}, {name: q, parameter: {a: '2,3'}}]\n"
      "step: [{name: A, use: p}, {name: B, use: q}, {name: C, depend: 'A,B'}]\n");
  Graph graph = grown();
  EXPECT_EQ(graph.all().size(), 4U);
  EXPECT_THAT(graph.take_notices(),
              ElementsAre("step C: its parents A and B have no child together, because they define "
                          "'a' differently"));
}

TEST_F(JoinTest, MakesAChildOfDifferentDefinitionsThatItsOwnReplaces) {
  EXPECT_THAT(
      children("parameterset: [{name: p, parameter: {a: 1}}, {name: q, parameter: {a: 2}},\n"
               "               {name: r, parameter: {a: {update_mode: use, _: 3}}}]\n"
               "step: [{name: A, use: p}, {name: B, use: q}, {name: C, depend: 'A,B', use: r}]\n"),
      ElementsAre("2 C(0,1) 3 i0 c2"));
}

TEST_F(JoinTest, ComparesWhatSetsByNameGive) {
  EXPECT_THAT(
      children("parameterset: [{name: p, parameter: {i: '1,2'}}, {name: s1, parameter: {v: x}},\n"
               "               {name: s2, parameter: {v: y}}, {name: q, parameter: {v: x}}]\n"
               "step: [{name: A, use: [p, s$i]}, {name: B, use: q}, {name: C, depend: 'A,B'}]\n"),
      ElementsAre("3 C(0,2) 1/x i0 c3"));
}

TEST_F(JoinTest, JoinsThreeParentsInOrder) {
  EXPECT_THAT(
      children("parameterset: [{name: p, parameter: {a: '1,2'}}, {name: q, parameter: {b: 'x,y'}}]"
               "\nstep: [{name: A, use: p}, {name: B, use: q}, {name: C, use: [p, q]},\n"
               "       {name: D, depend: 'A,B,C'}]\n"),
      ElementsAre("8 D(0,2,4) 1/x i0 c8", "9 D(0,3,5) 1/y i0 c9", "10 D(1,2,6) 2/x i0 c10",
                  "11 D(1,3,7) 2/y i0 c11"));
}

// 4000 parents on each side that match one to one: comparing all pairs would take minutes.
TEST_F(JoinTest, TakesTimeInProportionToTheChildren) {
  std::string values = "0";
  for (int k = 1; k < 4000; ++k)
    values += "," + std::to_string(k);
  const std::clock_t begin = std::clock();
  EXPECT_EQ(children(below_two("{name: p, parameter: {a: '" + values + "'}}")).size(), 4000U);
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 20);
}

}  // namespace
}  // namespace bench::space
