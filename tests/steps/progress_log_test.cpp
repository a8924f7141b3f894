#include "harness/loop.hpp"
#include "steps/paused.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

/// The steps that have a line.
std::vector<std::int64_t> with_lines(std::int64_t first, std::int64_t last, std::int64_t offset) {
  std::vector<std::int64_t> found;
  for (std::int64_t step = first; step <= last; ++step)
    if (has_line(step, offset))
      found.push_back(step);
  return found;
}

TEST(ProgressLog, HasLinesOfEachTenthStepAndFewerInLongRuns) {
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(with_lines(1, 25, 0), (Steps{1, 10, 20}));
  EXPECT_EQ(with_lines(1, 25, 1), (Steps{1, 11, 21}));
  EXPECT_EQ(with_lines(985, 1205, 0), (Steps{990, 1000, 1100, 1200}));
  EXPECT_EQ(with_lines(9850, 12500, 1), (Steps{9901, 10001, 11001, 12001}));
}

TEST(StepLines, EndsWithTheLastStep) {
  testing::internal::CaptureStdout();
  StepLines log(12, 4);
  log.begin();
  for (int i = 0; i < 12; ++i)
    log.add({.result = {.loss = 0.5}});
  log.end(1);
  EXPECT_THAT(
      testing::internal::GetCapturedStdout(),
      testing::MatchesRegex("step 1/12 \\| loss 0.5 \\| [^\n]*\n"
                            "step 10/12 \\| loss 0.5 \\| [^\n]*\n"
                            "step 12/12 \\| loss 0.5 \\| [^\n]* samples/s \\| [^\n]* s/step\n"));
}

TEST(StepLines, CountNoPause) {
  StepLines log(1, 4);
  const PausedStep step = paused_step(log, {});
  EXPECT_LE(number_behind(step.printed, "samples/s | "), 1.001 * step.most_s) << step.printed;
}

}  // namespace
}  // namespace bench::steps
