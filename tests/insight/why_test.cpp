#include "run/store_fixture.hpp"
#include "space/run_fixture.hpp"
#include "support/case_name.hpp"
#include "support/error_of.hpp"

#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/hash.hpp>
#include <bench/base/outcome.hpp>
#include <bench/insight/why.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

class TagAlternativesTest : public space::RunFixture {
 protected:
  /// A run that was made from a file with this text.
  void made_from(const std::string& text) {
    const auto file = directory_.write("in.yaml", text);
    run_.metadata.input_file = file.string();
    run_.metadata.input_sha256 = sha256(text);
  }
  std::vector<std::string> giving(const std::string& parameter,
                                  const std::optional<std::string>& value = std::nullopt) const {
    return tags_giving(run_, parameter, value);
  }
};

constexpr const char* sizes =
    "parameterset:\n"
    "  name: p\n"
    "  tag: gpu\n"
    "  parameter:\n"
    "    - {name: n, tag: small, _: \"1,2\"}\n"
    "    - {name: n, tag: large, _: \"64,128\"}\n"
    "    - {name: m, _: 3}\n";

TEST_F(TagAlternativesTest, TheTagsOnTheWayAreJoined) {
  made_from(sizes);
  EXPECT_THAT(giving("n", "128"), ElementsAre("gpu + large"));
}

TEST_F(TagAlternativesTest, WithoutAValueEveryDefinitionCounts) {
  made_from(sizes);
  EXPECT_THAT(giving("n"), ElementsAre("gpu + small", "gpu + large"));
}

TEST_F(TagAlternativesTest, AValueThatNoTagGivesHasNone) {
  made_from(sizes);
  EXPECT_THAT(giving("n", "3"), IsEmpty());
  EXPECT_THAT(giving("other"), IsEmpty());
}

TEST_F(TagAlternativesTest, ThoseOfOneConditionAreToldOnce) {
  made_from(
      "parameterset:\n"
      "  - {name: p, tag: a, parameter: {name: n, _: 1}}\n"
      "  - {name: q, tag: a, parameter: {name: n, _: 1}}\n");
  EXPECT_THAT(giving("n", "1"), ElementsAre("a"));
}

TEST_F(TagAlternativesTest, AListOfValuesAndAnotherSeparatorAreUnderstood) {
  made_from(
      "parameterset:\n"
      "  - {name: p, tag: list, parameter: {n: [4, 8]}}\n"
      "  - {name: q, tag: text, parameter: {name: n, separator: ';', _: 4;8}}\n");
  EXPECT_THAT(giving("n", "8"), ElementsAre("list", "text"));
}

// It would tell of another benchmark.
TEST_F(TagAlternativesTest, AFileThatHasChangedIsNotLookedAt) {
  made_from(sizes);
  directory_.write("in.yaml", std::string(sizes) + "# later\n");
  EXPECT_THAT(giving("n"), IsEmpty());
}

TEST_F(TagAlternativesTest, AFileThatTakesInOthersIsNotLookedAt) {
  made_from(std::string("include-path: {path: .}\n") + sizes);
  EXPECT_THAT(giving("n"), IsEmpty());
}

}  // namespace

}  // namespace bench::insight
