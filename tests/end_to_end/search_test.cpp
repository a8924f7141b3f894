#include "decisions_fixture.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;

class SearchTest : public DecisionsTest {};

/// Of each precision another batch size is the largest that fits.
std::string searched(const std::string& killing, const std::string& rate) {
  return R"(name: q
outpath: runs
parameterset: {name: p, parameter: [{batch: 1}, {bytes: [2, 4]}, {name: need, mode: python, _: $batch * $bytes}]}
step:
  name: s
  use: p
  search: {parameter: batch, for: max(rate), between: [1, 64]}
  do:
    - echo "$bytes $batch" >> $jube_benchmark_home/witness
    - ')" +
         killing + R"('
    - test $need -le 44 || { echo result=oom; exit 3; }
    - echo "rate=)" +
         rate + R"("
patternset: {name: f, pattern: {name: rate, type: float, _: rate=$jube_pat_fp}}
analyser: {name: an, use: f, analyse: {step: s, file: stdout}}
result: {use: an, table: {name: t, style: csv, column: [jube_wp_id, bytes, batch, rate, jube_wp_status]}}
)";
}

TEST_F(SearchTest, FindsTheLargestThatFitsForEachCombination) {
  here_.write("q.yaml", searched("true", "$batch"));
  const auto output = here_.bench({"run", "q.yaml"});
  EXPECT_THAT(output.standard_error,
              HasSubstr("step s, bytes=2: batch=22 is the largest that fits, with rate=22\n"));
  EXPECT_THAT(output.standard_error,
              HasSubstr("step s, bytes=4: batch=11 is the largest that fits, with rate=11\n"));
  EXPECT_EQ(take_witness().size(), 6U + 4U + 5U + 3U);
}

TEST_F(SearchTest, SaysIfItsGoalIsBetterBefore) {
  here_.write("q.yaml", searched("true", "$(($batch < 8 ? $batch :1))"));
  EXPECT_THAT(
      here_.bench({"run", "q.yaml"}).standard_error,
      HasSubstr("batch=22 is the largest that fits, with rate=1; rate is better at 4: 4\n"));
}

TEST_F(SearchTest, NothingIsComparedWithAGoalThatIsNotANumber) {
  const std::string diverges_below_4 = "$(test $batch -lt 4 && echo nan || echo $batch)";
  here_.write("q.yaml",
              replace_all(searched("true", diverges_below_4), "rate=$jube_pat_fp", "rate=(.+)"));
  EXPECT_THAT(here_.bench({"run", "q.yaml"}).standard_error,
              HasSubstr("step s, bytes=2: batch=22 is the largest that fits, with rate=22\n"));
}

TEST_F(SearchTest, IsTheSameAfterAKillAndWithManyAtATime) {
  here_.write("q.yaml", searched("true", "$batch"));
  here_.bench({"run", "q.yaml"});
  const std::string expected = here_.bench({"result", "runs"}).standard_output;
  here_.bench({"run", "q.yaml", "-j", "4"});
  EXPECT_EQ(here_.bench({"result", "runs"}).standard_output, expected);
  for (const char* moment : {"24", "216", "412"}) {
    const std::string killed = std::string("$jube_benchmark_home/killed") + moment;
    here_.write("k.yaml", searched(std::string("test $bytes$batch != ") + moment + " -o -e " +
                                       killed + " || { touch " + killed + "; kill -9 $PPID; }",
                                   "$batch"));
    here_.bench({"run", "k.yaml"});
    EXPECT_TRUE(here_.has(std::string("killed") + moment));
    EXPECT_THAT(here_.bench({"continue", "runs"}).standard_error,
                HasSubstr("batch=22 is the largest that fits"));
    EXPECT_EQ(here_.bench({"result", "runs"}).standard_output, expected);
  }
}

TEST_F(SearchTest, GoesOnAfterWhatIsSkipped) {
  here_.write("q.yaml", replace_all(searched("true", "$batch"), "  search:",
                                    "  prune: {larger: batch}\n  iterations: 2\n  search:"));
  for (const char* parallel : {"1", "4"}) {
    const auto output = here_.bench({"run", "q.yaml", "-j", parallel});
    EXPECT_THAT(output.standard_error,
                HasSubstr("step s, bytes=4: batch=11 is the largest that fits, with rate=11\n"));
    EXPECT_THAT(output.standard_output, HasSubstr("| skipped |"));
  }
}

TEST_F(SearchTest, ForgetsOutOfMemoryResultsThatAreRepeated) {
  here_.write("q.yaml", replace_all(searched("true", "$batch"), "test $need -le 44",
                                    "test $need -le 44 || test -e $jube_benchmark_home/more"));
  here_.bench({"run", "q.yaml"});
  here_.write("more", "");
  EXPECT_THAT(
      here_.bench({"continue", "runs", "--failed"}).standard_error,
      HasSubstr("step s, bytes=2: batch=64 fits, the largest of the range, with rate=64\n"));
}

TEST_F(SearchTest, DoesNotMissAGoalThatStaysTheSame) {
  here_.write("q.yaml", searched("true", "7"));
  EXPECT_THAT(here_.bench({"run", "q.yaml"}).standard_error,
              HasSubstr("batch=22 is the largest that fits, with rate=7\n"));
}

TEST_F(SearchTest, EndsWithAnotherFailureAndResumesAfterIt) {
  here_.write("q.yaml",
              searched("test $bytes$batch != 28 -o -e $jube_benchmark_home/go", "$batch"));
  EXPECT_THAT(here_.bench({"run", "q.yaml"}).standard_error,
              HasSubstr("step s, bytes=2: the search ended early: workpackage 6 failed"));
  here_.write("go", "");
  EXPECT_THAT(here_.bench({"continue", "runs", "--failed"}).standard_error,
              HasSubstr("step s, bytes=2: batch=22 is the largest that fits, with rate=22\n"));
}

}  // namespace
}  // namespace bench::end_to_end
