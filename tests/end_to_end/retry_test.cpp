#include "bench_program.hpp"

#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::end_to_end {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A step whose command fails until it has been called as often as `calls` says.
std::string flaky(int calls, const std::string& retry) {
  return "name: flaky\noutpath: runs\n"
         "step:\n"
         "  name: go\n"
         "  retry: " +
         retry +
         "\n"
         "  do:\n"
         "    - echo call >> $jube_benchmark_home/calls; echo attempt=$jube_wp_attempts\n"
         "    - 'grep -c call $jube_benchmark_home/calls | grep -q " +
         std::to_string(calls) +
         " || { echo no luck >&2; exit 3; }'\n"
         "patternset: {name: p, pattern: {name: attempt, type: int, _: attempt=$jube_pat_int}}\n"
         "analyser: {name: a, use: p, analyse: {step: go, file: stdout}}\n"
         "result: {use: a, table: {name: t, style: csv, column: [jube_wp_attempts, attempt]}}\n";
}

/// The rows of a query over the database of the run, their columns joined by blanks.
std::vector<std::string> rows(const Playground& here, const std::string& query) {
  const SQLite::Database database((here.path() / "runs/000000/workspace.db").string());
  SQLite::Statement select(database, query);
  std::vector<std::string> all;
  while (select.executeStep()) {
    std::string row;
    for (int k = 0; k < select.getColumnCount(); ++k)
      row += (k > 0 ? " " : "") + select.getColumn(k).getString();
    all.push_back(row);
  }
  return all;
}

const std::string attempts = "SELECT number, outcome, exit_code, reason FROM attempt ORDER BY 1";

TEST(RetryTest, AFailedWorkpackageIsMadeAgainUntilItSucceeds) {
  const Playground here;
  here.run("f.yaml", flaky(3, "{on: failed, times: 2}"));
  EXPECT_THAT(rows(here, attempts),
              ElementsAre("1 failed 3 command 2 of 2: exit code 3: no luck",
                          "2 failed 3 command 2 of 2: exit code 3: no luck", "3 done 0 "));
  EXPECT_THAT(rows(here, "SELECT state, retries, timeouts FROM workpackage"),
              ElementsAre("done 2 0"));
  EXPECT_EQ(here.read("runs/000000/retried/000000_go.1/work/stdout"), "attempt=1\n");
  EXPECT_EQ(here.read("runs/000000/retried/000000_go.1/work/stderr"), "no luck\n");
  EXPECT_EQ(here.read("runs/000000/retried/000000_go.2/work/stdout"), "attempt=2\n");
  EXPECT_EQ(here.read("runs/000000/000000_go/work/stdout"), "attempt=3\n");
  EXPECT_EQ(here.bench({"result", "runs"}).standard_output, "jube_wp_attempts,attempt\n3,3\n\n");
}

TEST(RetryTest, AWorkpackageFailsOnceItsTriesAreUsedUp) {
  const Playground here;
  const auto run = here.run("f.yaml", flaky(3, "{on: failed, times: 1}"), {}, 1);
  EXPECT_THAT(run.standard_error,
              HasSubstr("workpackage 0 (go) failed: command 2 of 2: exit code 3: no luck\n"));
  EXPECT_EQ(rows(here, attempts).size(), 2U);
  EXPECT_TRUE(here.has("runs/000000/retried/000000_go.1"));
  EXPECT_FALSE(here.has("runs/000000/retried/000000_go.2"));
}

TEST(RetryTest, ATimeoutIsMadeAgainWhereTheStepSaysSo) {
  const Playground here;
  here.run("f.yaml",
           "name: slow\noutpath: runs\n"
           "step: {name: go, timeout: 2s, retry: {on: timeout},\n"
           "       do: 'test $jube_wp_attempts = 2 || sleep 1000'}\n");
  EXPECT_THAT(rows(here, "SELECT outcome FROM attempt ORDER BY number"),
              ElementsAre("timeout", "done"));
  EXPECT_THAT(rows(here, "SELECT retries, timeouts FROM workpackage"), ElementsAre("1 1"));
}

TEST(RetryTest, AWorkpackageThatTheUserRemovedHasAllItsTriesAgain) {
  const Playground here;
  here.write("f.yaml", flaky(4, "{on: failed, times: 1}"));
  here.bench({"run", "f.yaml"});
  here.bench({"remove", "runs", "--workpackage", "0", "--force"});
  EXPECT_EQ(here.bench({"continue", "runs"}).status.code, 0);
  EXPECT_THAT(rows(here, "SELECT state, retries FROM workpackage"), ElementsAre("done 1"));
}

}  // namespace
}  // namespace bench::end_to_end
