// What the marks of a figure say about its values, and which values its points have.
#include "pages/csv_source.hpp"
#include "pages/figure_plan.hpp"
#include "pages/figure_source.hpp"
#include "support/case_name.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/value.hpp>
#include <bench/pages/figure.hpp>

namespace bench::pages {
namespace {

using testing::HasSubstr;
using testing::Not;

struct IdealCase {
  std::string name;
  std::string table;  ///< Model, nodes and speed-up.
  std::vector<std::size_t> baselines;
  std::string ideal;  ///< Its first point; empty: none is drawn.
};

class IdealOfASpeedUp : public testing::TestWithParam<IdealCase> {};

TEST_P(IdealOfASpeedUp, IsOneAtTheBaseline) {
  Source source = source_from("model*,nodes*,speedup\n" + GetParam().table);
  for (const std::size_t row : GetParam().baselines)
    source.columns[2].is_baseline[row] = true;
  const Figure figure =
      draw(source, {.x = 1, .y = {2}, .color = {0}, .ideal = Ideal::proportional});
  const std::string& drawn = figure.panels[0].specification;
  const auto note = testing::Contains("no ideal: the figure has no baseline, or several");
  if (GetParam().ideal.empty()) {
    EXPECT_THAT(drawn, Not(HasSubstr("\"ideal\"")));
    EXPECT_THAT(figure.notes, note);
  } else {
    EXPECT_THAT(drawn, HasSubstr("\"values\":[" + GetParam().ideal));
    EXPECT_THAT(figure.notes, Not(note));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Report, IdealOfASpeedUp,
    testing::Values(
        IdealCase{
            "TheSmallest", "a,1,1\na,2,1.9\na,4,3.5", {0}, R"({"c0":1.0,"c2":1.0,"name":"ideal"})"},
        IdealCase{"TheSmallestThatIsDone",
                  "a,1,OOM\na,2,1\na,4,2\na,8,4",
                  {1},
                  R"({"c0":1.0,"c2":0.5,"name":"ideal"})"},
        IdealCase{
            "ALargerOne", "a,1,0.55\na,2,1\na,4,1.8", {1}, R"({"c0":1.0,"c2":0.5,"name":"ideal"})"},
        IdealCase{"TheSameOfEachLine",
                  "a,1,1\na,2,1.9\nb,1,1\nb,2,1.8",
                  {0, 2},
                  R"({"c0":1.0,"c2":1.0,"name":"ideal"})"},
        IdealCase{"DifferentOnesOfTheLines", "a,1,1\na,2,1.9\nb,1,OOM\nb,2,1", {0, 3}, ""},
        IdealCase{"OneThatIsNotShown", "a,2,1.9\na,4,3.5", {}, ""},
        IdealCase{
            "MeasuredSpeedUps", "a,1,1\na,2,1.9", {}, R"({"c0":1.0,"c2":1.0,"name":"ideal"})"}),
    support::case_name);

struct Failures {
  std::string name;
  std::string table;
  Plan plan;
  std::vector<std::optional<Value>> values;  ///< Of the first measure.
};

class ValuesOfFailures : public testing::TestWithParam<Failures> {};

TEST_P(ValuesOfFailures, DoNotCount) {
  const Failures& one = GetParam();
  const Figure figure = draw(source_from(one.table), one.plan);
  const std::size_t measure = one.plan.mark == Mark::stack ? 2 : 1;
  EXPECT_EQ(figure.columns[measure].values, one.values);
}

INSTANTIATE_TEST_SUITE_P(Report, ValuesOfFailures,
                         testing::Values(Failures{"BesideDoneRows",
                                                  "size*,time[s]\n1,200\n1,9000!\n2,300\n2,400",
                                                  {.x = 0, .y = {1}},
                                                  {Value(200.0), Value(350.0)}},
                                         Failures{"OfAPointWithoutDoneRows",
                                                  "size*,time[s]\n1,200\n2,9000!\n2,8000!",
                                                  {.x = 0, .y = {1}},
                                                  {Value(200.0), std::nullopt}},
                                         Failures{"InBars",
                                                  "kind*,time[s]\na,1\na,7!\nb,3",
                                                  {.mark = Mark::bar, .x = 0, .y = {1}},
                                                  {Value(1.0), Value(3.0)}},
                                         Failures{"InStacks",
                                                  "n*,io[s],compute[s]\n1,1,2\n1,8!,9!\n2,5!,6!",
                                                  {.mark = Mark::stack, .x = 0, .y = {1, 2}},
                                                  {Value(1.0), Value(2.0), std::nullopt}}),
                         support::case_name);

TEST(ValuesOfFailuresTest, AreNotInTheDescription) {
  EXPECT_EQ(
      draw(source_from("size*,time[s]\n1,100.5\n2,120\n4,9000!"), {.x = 0, .y = {1}}).description,
      "Lines of time [s], over size. time [s]: from 100.5 (size=1) to 120 (size=2). 1 point: "
      "failed.");
}

TEST(ValuesOfFailuresTest, DoNotMakeAConstantWorthAFigure) {
  EXPECT_TRUE(default_plans(source_from("n*,size\n1,7\n2,7\n4,9!")).empty());
}

TEST(ValuesOfFailuresTest, DoNotDecideWhetherTimesAreParts) {
  const std::vector<Plan> plans =
      default_plans(source_from("n*,total[s],io[s],compute[s]\n1,10,2,7\n2,6,2,3.5\n4,1!,2!,3!"));
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(plans.front().mark, Mark::stack);
}

}  // namespace

}  // namespace bench::pages
