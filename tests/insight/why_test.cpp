#include "run/store_fixture.hpp"
#include "support/case_name.hpp"
#include "support/error_of.hpp"

#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/insight/why.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using testing::HasSubstr;

/// `about: text` of each remark, a line each, and the remedy.
std::string text_of(const Explanation& explanation) {
  std::string text;
  for (const Remark& remark : explanation.remarks)
    text += remark.about + ": " + remark.text + "\n";
  switch (explanation.remedy) {
    case Remedy::none:
      break;
    case Remedy::go_on:
      text += "=> continue\n";
      break;
    case Remedy::make_again:
      text += "=> remove it and continue\n";
      break;
    case Remedy::make_parent_again:
      text += "=> remove its parent and continue\n";
      break;
  }
  return text;
}

class WhyTest : public run::StoreFixture {
 protected:
  std::string why(long long id) {
    write();
    return text_of(explain(run_, RunView(run_, *workspace_), id));
  }
};

TEST_F(WhyTest, OneThatHasNotStartedWaitsForABench) {
  begin("step: {name: a, do: x}\n");
  EXPECT_EQ(why(0),
            "attempts: none yet\nbench: no bench process is working on the run\n=> continue\n");
}

TEST_F(WhyTest, OneThatWasCutOffTellsWhy) {
  begin("step: {name: a, do: x}\n");
  start_all();
  interrupt(0);
  EXPECT_THAT(why(0), HasSubstr("before: attempt 1 was interrupted: cut off\n"));
}

TEST_F(WhyTest, OneThatIsRetriedTellsHowOften) {
  begin("step: {name: a, do: x, retry: {times: 2, on: timeout}}\n");
  start_all();
  store_->apply(workspace::Retried{
      .workpackage = 0, .attempt = {.outcome = Outcome::timeout, .reason = "timeout after 3 s"}});
  EXPECT_THAT(why(0), HasSubstr("attempt 1 failed: timeout after 3 s\n"
                                "`retry` repeats it (1 of 2)\n"));
}

TEST_F(WhyTest, OneThatRanWhenItsBenchEndedIsTakenIn) {
  begin("step: {name: a, do: x}\n");
  start_all();
  EXPECT_THAT(why(0), HasSubstr("=> continue\n"));
}

TEST_F(WhyTest, AFailureTellsItsReasonAndCanBeRepeated) {
  begin("step: [{name: a, do: x}, {name: b, depend: a}]\n");
  start_all();
  store_->apply(workspace::Ended{
      .workpackage = 0,
      .attempt = {.outcome = Outcome::failed, .exit_code = 3, .reason = "exit code 3: no file"},
      .environment = {}});
  const std::string text = why(0);
  EXPECT_THAT(text, HasSubstr("reason: exit code 3: no file\n"));
  EXPECT_THAT(text, HasSubstr("=> remove it and continue\n"));
}

TEST_F(WhyTest, AChildNamesItsParents) {
  begin("step: [{name: a, do: x}, {name: b, depend: a}]\n");
  start_all();
  end(0);
  release();
  EXPECT_THAT(why(1), HasSubstr("parents: workpackage 0 (a), done\n"));
}

TEST_F(WhyTest, AWorkpackageThatDoesNotExistIsAnError) {
  begin("step: {name: a}\n");
  EXPECT_THAT(support::error_of([&] { why(7); }), HasSubstr("no workpackage 7"));
}

struct Point {
  std::string name;
  workspace::Parameters values;
  std::string found;  ///< `step: ids`, `step: why not`
};
class PointTest : public WhyTest, public testing::WithParamInterface<Point> {};

TEST_P(PointTest, IsFoundOrItsAbsenceExplained) {
  begin(
      "parameterset: {name: p, parameter: {n: [1, 2, 4], m: [a, b]}}\n"
      "step: [{name: s, use: p, where: '$n < 4'}, {name: t}]\n");
  write();
  std::string text;
  for (const PointInStep& step :
       find_point(run_, RunView(run_, *workspace_), GetParam().values, "")) {
    text += step.step + ":";
    for (const long long id : step.workpackages)
      text += " " + std::to_string(id);
    for (const Remark& remark : step.absence)
      text += " " + remark.about;
    text += "\n";
  }
  EXPECT_EQ(text, GetParam().found);
}

INSTANTIATE_TEST_SUITE_P(
    Points, PointTest,
    testing::Values(Point{"One", {{"n", "2"}, {"m", "a"}}, "s: 2\n"},
                    Point{"Several", {{"n", "2"}}, "s: 2 3\n"},
                    Point{"ByAnotherTextOfTheNumber", {{"n", "2.0"}, {"m", "b"}}, "s: 3\n"},
                    Point{"DroppedByWhere", {{"n", "4"}}, "s: values `where`\n"}),
    support::case_name);

}  // namespace
}  // namespace bench::insight
