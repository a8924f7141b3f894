#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/results/table.hpp>

namespace bench::results {
namespace {

Cell number(long long value) {
  return {.value = value};
}
Cell missing(const std::string& reason = "") {
  return {.absent_reason = reason};
}

/// Rows whose workpackages are done, failed with a value, failed without one, open, and one of five
/// iterations failed.
Table table_of_states() {
  Table table;
  table.name = "s";
  table.headings = {{"n", "", 0, {}}, {"v", "", 0, {}}};
  table.rows = {{number(1), number(1)},
                {number(2), number(2)},
                {number(3), missing()},
                {number(4), missing("no match in stdout")},
                {number(5), number(5)}};
  table.sources = {
      {},
      {.done = 0, .not_done = {{1, true, "exit code 1"}}},
      {.done = 0, .not_done = {{2, true, "exit code 1"}}},
      {.done = 0, .not_done = {{3, false, ""}}},
      {.iterations = 5, .done = 4, .not_done = {{7, true, "exit code 1"}}},
  };
  return table;
}

TEST(Notes, NameTheRowsThatAreNotDone) {
  EXPECT_EQ(notes_of(table_of_states()),
            (std::vector<std::string>{"n/a in v: 1 row, workpackage 2: exit code 1",
                                      "n/a in v: 1 row, workpackage 3: has not ended",
                                      "4 of 5 iterations count: 1 row, workpackage 7: exit code 1",
                                      "failed: 1 row, workpackage 1: exit code 1"}));
}

TEST(Notes, CountTheLinesOfADistributionAsOneRow) {
  Table table = table_of_states();
  table.rows = {{number(1), number(1)}, {number(1), number(2)}, {number(2), number(3)}};
  const RowSource some_failed{
      .iterations = 5, .done = 4, .not_done = {{7, true, "exit code 1"}}, .row = 0};
  RowSource other = some_failed;
  other.row = 1;
  table.sources = {some_failed, some_failed, other};
  EXPECT_EQ(
      notes_of(table),
      (std::vector<std::string>{"4 of 5 iterations count: 2 rows, workpackage 7: exit code 1"}));
}

TEST(Notes, NameWhatWasSkippedAndWhy) {
  Table table;
  table.headings = {{"v", "", 0, {}}};
  table.rows = {{missing()}, {number(1)}};
  const NotDone skipped{.workpackage = 3, .reason = "OOM (implied by 512)", .skipped = true};
  table.sources = {{.done = 0, .not_done = {{4, false, ""}, skipped}},
                   {.done = 0, .not_done = {skipped}}};
  EXPECT_EQ(notes_of(table),
            (std::vector<std::string>{"n/a in v: 1 row, workpackage 3: OOM (implied by 512)",
                                      "skipped: 1 row, workpackage 3: OOM (implied by 512)"}));
  EXPECT_THAT(render(table, "json"),
              testing::HasSubstr("\"status\": \"skipped\",\n      \"status_reason\": \"workpackage "
                                 "3 was skipped: OOM (implied by 512)\""));
}

TEST(Notes, JsonHasTheStatusOfEveryRow) {
  Table table = table_of_states();
  table.headings[0].title = "status";  // which takes the name of the member
  table.rows.erase(table.rows.begin() + 1, table.rows.begin() + 3);
  table.sources.erase(table.sources.begin() + 1, table.sources.begin() + 3);
  EXPECT_EQ(render(table, "json"), R"({
  "s": [
    {
      "status": 1,
      "v": 1,
      "status_2": "done"
    },
    {
      "status": 4,
      "v": null,
      "v_absent": "workpackage 3 has not ended",
      "status_2": "unfinished",
      "status_2_reason": "workpackage 3 has not ended"
    },
    {
      "status": 5,
      "v": 5,
      "status_2": "failed",
      "status_2_reason": "4 of 5 iterations count; workpackage 7 failed: exit code 1"
    }
  ]
}
)");
}

/// Rows without a value, the workpackage of each failed for its own reason.
Table table_of_failures(int count, std::string (*reason)(int)) {
  Table table;
  table.headings = {{"v", "", 0, {}}};
  for (int k = 0; k < count; ++k) {
    table.rows.push_back({missing()});
    table.sources.push_back({.done = 0, .not_done = {{10 + k, true, reason(k)}}});
  }
  return table;
}

TEST(Notes, NameTheRowsWhoseValuesAreToBeDoubted) {
  Table table;
  table.headings = {{"v", "", 0, {}}};
  table.rows = {{number(1)}, {number(2)}, {number(3)}};
  const Remark busy{.what = "not quiet", .workpackages = {0, 1}, .reason = "others: 1 of 2"};
  const Remark shorter{.what = "too short", .workpackages = {2}, .reason = "at least 2 s"};
  table.sources = {{.remarks = {busy}}, {}, {.remarks = {busy, shorter}}};
  EXPECT_EQ(notes_of(table),
            (std::vector<std::string>{"not quiet: 2 rows, workpackages 0-1: others: 1 of 2",
                                      "too short: 1 row, workpackage 2: at least 2 s"}));
}

TEST(Notes, TellEqualReasonsOnce) {
  EXPECT_EQ(notes_of(table_of_failures(50, [](int) { return std::string("exit code 1"); })),
            std::vector<std::string>{"n/a in v: 50 rows, workpackages 10-59: exit code 1"});
}

TEST(Notes, LeaveOutWhatMakesManyReasonsDiffer) {
  EXPECT_EQ(notes_of(table_of_failures(
                50, [](int k) { return "exit code 1: no luck with " + std::to_string(k); })),
            std::vector<std::string>{"n/a in v: 50 rows, workpackages 10-59: exit code 1"});
}

TEST(Notes, TellManyReasonsInFiveLines) {
  const auto notes =
      notes_of(table_of_failures(50, [](int k) { return "exit code " + std::to_string(k); }));
  ASSERT_EQ(notes.size(), 5U);
  EXPECT_EQ(notes[0], "n/a in v: 1 row, workpackage 10: exit code 0");
  EXPECT_EQ(notes[4],
            "n/a in v: 46 rows, workpackages 14-59: other reasons; `bench why ID` shows each");
}

}  // namespace
}  // namespace bench::results
