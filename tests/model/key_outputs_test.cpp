#include "model/fixture.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/model/benchmark.hpp>
#include <bench/model/columns.hpp>

namespace bench::model {
namespace {

using testing::ElementsAre;

std::string with_result(const std::string& outputs) {
  return "step: {name: s}\nanalyser: {name: n, analyse: {step: s}}\nresult: {use: n, " + outputs +
         "}\n";
}

Result result_of(const std::string& outputs) {
  return benchmark_of(with_result(outputs)).results.at(0);
}

TEST(Syslogs, ReadTheirSettings) {
  const Syslog syslog = result_of(
                            "syslog: {name: l, host: h, port: 1514, format: '%(message)s', sort: "
                            "'b,a', filter: $a > 1, key: [a, {title: t, format: .2f, _: b}]}")
                            .syslogs.at(0);
  EXPECT_EQ(syslog.host, "h");
  EXPECT_EQ(syslog.port, 1514);
  EXPECT_EQ(syslog.format, "%(message)s");
  EXPECT_THAT(syslog.sort, ElementsAre("b", "a"));
  EXPECT_EQ(syslog.filter, "$a > 1");
  EXPECT_EQ(syslog.keys.at(0).name, "a");
  EXPECT_EQ(syslog.keys.at(1).title, "t");
  EXPECT_EQ(syslog.keys.at(1).format, ".2f");
}

TEST(Syslogs, HaveTheUsualPort) {
  EXPECT_EQ(result_of("syslog: {name: l, host: h, key: a}").syslogs.at(0).port, 514);
}

TEST(Syslogs, GoToOneAddress) {
  EXPECT_EQ(fault_in(with_result("syslog: {name: l, key: a}")), "in.yaml:3:26: invalid-value");
  EXPECT_EQ(fault_in(with_result("syslog: {name: l, host: h, address: /dev/log, key: a}")),
            "in.yaml:3:26: invalid-value");
}

TEST(Databases, ReadTheirSettings) {
  const Database database =
      result_of(
          "database: {name: d, file: ~/all.db, filter: $a > 1, key: [{primekey: true, _: "
          "a}, b]}")
          .databases.at(0);
  EXPECT_EQ(database.name, "d");
  EXPECT_EQ(database.file, "~/all.db");
  EXPECT_EQ(database.filter, "$a > 1");
  EXPECT_TRUE(database.keys.at(0).primary);
  EXPECT_FALSE(database.keys.at(1).primary);
}

TEST(Databases, KnowTheOldListOfPrimaryKeysByTitle) {
  const auto keys =
      result_of("database: {name: d, primekeys: 't, b', key: [{title: t, _: a}, b, c]}")
          .databases.at(0)
          .keys;
  EXPECT_TRUE(keys.at(0).primary);
  EXPECT_TRUE(keys.at(1).primary);
  EXPECT_FALSE(keys.at(2).primary);
}

TEST(Databases, RefuseAPrimaryKeyThatIsNone) {
  EXPECT_EQ(fault_in(with_result("database: {name: d, primekeys: szie, key: size}")),
            "in.yaml:3:49: unknown-name");
}

TEST(Keys, HaveAName) {
  EXPECT_EQ(fault_in(with_result("database: {name: d, key: {title: x}}")),
            "in.yaml:3:43: missing-key");
}

TEST(Outputs, HaveNamesOfTheirOwn) {
  EXPECT_EQ(fault_in(with_result("table: {name: x, column: a}, database: {name: x, key: a}")),
            "in.yaml:3:57: duplicate-name");
}

TEST(Tables, HaveDistributionsOfWhatTheyCanShow) {
  EXPECT_EQ(fault_in(with_result("table: {name: t, cdf: x, column: jube_wp_id}")),
            "in.yaml:3:40: unknown-name");
}

TEST(ColumnMeaning, ComesFromThePatternThatTheAnalysersUse) {
  const Benchmark benchmark = benchmark_of(
      "patternset:\n"
      "  - {name: other, pattern: {name: p, unit: s, _: x}}\n"
      "  - {name: own, pattern: {name: p, unit: m, _: x}}\n"
      "step: {name: run}\n"
      "analyser: {name: a, use: own, analyse: {step: run, file: stdout}}\n"
      "result: {use: a, table: {name: t, column: p}}\n");
  EXPECT_EQ(meaning_of(benchmark, benchmark.results.at(0), "p").unit, "m");
}

}  // namespace
}  // namespace bench::model
