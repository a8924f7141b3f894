// What the marks of a figure say about its values.
#include "pages/figure_draw.hpp"

#include "pages/csv_source.hpp"
#include "pages/figure_plan.hpp"
#include "pages/figure_source.hpp"
#include "support/case_name.hpp"

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

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
void PrintTo(const IdealCase& one, std::ostream* out) {
  *out << one.name;
}

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

}  // namespace
}  // namespace bench::pages
