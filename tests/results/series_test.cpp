#include "results/work_directory.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>

namespace bench::results {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class SeriesTest : public WorkDirectory {
 protected:
  auto series() {
    evaluate::Evaluator evaluator;
    return GroupAnalyser(evaluator).series(group_);
  }
};

TEST_F(SeriesTest, HasEveryNumberOfARepeatedPatternInOrder) {
  scan("loss=3 loss=1.5 loss=nan loss=x\n",
       {pattern("loss", "loss=(\\S+)", ValueType::real), pattern("text", "loss=(\\d)")});
  scan("loss=2\n", {pattern("other", "loss=(\\S+)")});
  const auto found = series();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found.at("loss"), ElementsAre(3, 1.5, testing::NanSensitiveDoubleEq(NAN)));
  EXPECT_THAT(found.at("text"), ElementsAre(3, 1));
}

TEST_F(SeriesTest, LeavesOutTextsAndSingleValues) {
  scan("word=1 word=two once=7\n",
       {pattern("word", "word=(\\w+)"), pattern("once", "once=(\\d)", ValueType::integer)});
  EXPECT_THAT(series(), IsEmpty());
}

TEST_F(SeriesTest, GoesThroughSeveralFiles) {
  const auto* n = pattern("n", "n=(\\d)", ValueType::integer);
  scan("n=1\n", {n});
  scan("n=2 n=3\n", {n});
  EXPECT_THAT(series(), ElementsAre(Pair("n", ElementsAre(1, 2, 3))));
}

}  // namespace
}  // namespace bench::results
