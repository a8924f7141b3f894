#include <deque>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bench/base/text.hpp>
#include <bench/insight/difference.hpp>
#include <bench/insight/match.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using workspace::Workpackage;

/// The workpackages of a step, numbered from 0 on, each of so many iterations.
class Made {
 public:
  /// @param points such as `n=1 m=2; n=2 m=2`
  explicit Made(const std::string& points, int iterations = 1) {
    for (const std::string& point : split_names(points, ";"))
      for (int iteration = 0; iteration < iterations; ++iteration) {
        Workpackage& one = all_.emplace_back();
        one.id = static_cast<long long>(all_.size()) - 1;
        one.iteration = iteration;
        for (const std::string& assignment : split_names(point, " ")) {
          const auto equals = assignment.find('=');
          one.parameters.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
        }
      }
  }
  Members members() const {
    Members members;
    for (const Workpackage& one : all_)
      members.push_back(&one);
    return members;
  }

 private:
  std::deque<Workpackage> all_;
};

/// `0-1 2-0 |a n=3 |b n=4 |n: x / y`: pairs, points that only one has, parameters left out.
std::string text_of(const Matching& matching) {
  std::string text;
  for (const Pair& pair : matching.pairs)
    text += fmt::format("{}-{} ", pair.a, pair.b);
  for (const LonePoint& point : matching.lone) {
    text += point.in_a ? "|a" : "|b";
    for (const auto& [name, value] : point.parameters)
      text += fmt::format(" {}={}", name, value);
    text += fmt::format(" x{} ", point.workpackages);
  }
  for (const TextDifference& one : matching.parameters)
    text += fmt::format("|{}: {} / {} ", one.name, one.a, one.b);
  return text;
}

std::string matched(const Made& a, const Made& b) {
  return text_of(match("s", a.members(), b.members()));
}

TEST(Match, GoesByValuesAndNotByNumbers) {
  EXPECT_EQ(matched(Made("n=1; n=2; n=3"), Made("n=2; n=1; n=4")), "0-1 1-0 |a n=3 x1 |b n=4 x1 ");
}

TEST(Match, TakesTheIterationsOfAPointInOrder) {
  EXPECT_EQ(matched(Made("n=1", 3), Made("n=1", 2)), "0-0 1-1 |a n=1 x1 ");
}

TEST(Match, LeavesOutWhatIsAnotherEverywhere) {
  EXPECT_EQ(matched(Made("n=1 id=7 v=x; n=2 id=8 v=x"), Made("n=1 id=3 v=y; n=2 id=4 v=y")),
            "0-0 1-1 |id: 7, 8 / 3, 4 |v: x / y ");
}

TEST(Match, KeepsWhatTellsPointsApart) {
  EXPECT_EQ(matched(Made("n=1; n=2"), Made("n=3; n=4")),
            "|a n=1 x1 |a n=2 x1 |b n=3 x1 |b n=4 x1 ");
}

TEST(Match, NamesAParameterThatOnlyOneHas) {
  EXPECT_EQ(matched(Made("n=1"), Made("n=1 extra=x")), "0-0 |extra:  / x ");
}

TEST(Match, GivesTheWholePointOfAStepThatOnlyOneHas) {
  EXPECT_EQ(matched(Made("n=1 m=2; n=2 m=2"), Made("")), "|a n=1 m=2 x1 |a n=2 m=2 x1 ");
}

}  // namespace
}  // namespace bench::insight
