// Which values the points of a figure have.
#include "pages/csv_source.hpp"
#include "pages/figure_draw.hpp"
#include "pages/figure_plan.hpp"
#include "support/case_name.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/value.hpp>
#include <bench/pages/figure.hpp>

namespace bench::pages {
namespace {

struct Failures {
  std::string name;
  std::string table;
  Plan plan;
  std::vector<std::optional<Value>> values;  ///< Of the first measure.
};
void PrintTo(const Failures& one, std::ostream* out) {
  *out << one.name;
}

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
