#include "mlperf/written_log.hpp"
#include "support/deep_json.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/mlperf/log.hpp>

namespace bench::mlperf {
namespace {

using testing::ElementsAre;

struct LineCase {
  std::string line;
  std::string expected;  ///< `RULE: MESSAGE`
};

TEST(MlperfLog, NamesLinesThatAreNoneOfTheFormat) {
  const std::string good =
      R"({"namespace": "", "time_ms": 5, "event_type": "POINT_IN_TIME", "key": "seed", )"
      R"("value": 1, "metadata": {"file": "a", "lineno": 1}})";
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    return line.replace(line.find(from), from.size(), to);
  };
  const LineCase cases[] = {
      {"{", "line_format: the line is not a JSON object"},
      {"[1]", "line_format: the line is not a JSON object"},
      {changed(R"("namespace": "", )", ""),
       "line_format: keys are time_ms, event_type, key, value, metadata, expected namespace, "
       "time_ms, event_type, key, value, metadata"},
      {changed("5", "5.5"), "line_format: time_ms is not an integer: 5.5"},
      {changed("5", "-1"), "line_format: time_ms is no time since 1970: -1"},
      {changed("5", "9223372036854775808"),
       "line_format: time_ms is no time since 1970: 9223372036854775808"},
      {changed(R"("seed")", "7"), "line_format: key is not a text: 7"},
      {changed(R"("lineno")", R"("line")"), "line_format: metadata has no file and lineno"},
      {changed("POINT_IN_TIME", "INTERVAL_END"),
       R"(event_type: seed has the type "INTERVAL_END", expected "POINT_IN_TIME")"}};
  for (const LineCase& one : cases) {
    const Log log = parse_log("output\n:::MLLOG " + one.line + "\n");
    ASSERT_EQ(log.violations.size(), 1U) << one.line;
    EXPECT_EQ(log.violations[0].line, 2U);
    EXPECT_EQ(log.violations[0].rule + ": " + log.violations[0].message, one.expected);
  }
  const Log log = parse_log(":::MLLOG " + good + "\r\n:::MLLOG " + changed("5", "3"));
  ASSERT_EQ(log.events.size(), 2U);
  ASSERT_EQ(log.violations.size(), 1U);
  EXPECT_EQ(log.violations[0].message, "seed is 2 ms before the line above");
}

TEST(MlperfLog, ALineOfAnyDepthIsRead) {
  const Log log = parse_log(R"(:::MLLOG {"namespace": "", "time_ms": )" + support::deep_json() +
                            R"(, "event_type": "", "key": "", "value": 1, "metadata": 1})");
  ASSERT_EQ(log.violations.size(), 1U);
  EXPECT_THAT(log.violations[0].message, testing::StartsWith("time_ms is not an integer: [["));
}

TEST(MlperfLog, HasTheValuesOfItsLines) {
  const Log log = parse_log(text_of_lines({{"a", "null"},
                                           {"b", "true"},
                                           {"c", "0.5"},
                                           {"d", R"("x")"},
                                           {"e", "[1, 2]"},
                                           {"f", R"({"g": 1})", R"("epoch_num": 3)"}}));
  std::vector<std::string> texts;
  for (const Event& event : log.events)
    texts.push_back(event.key + " " + text_of(event.value));
  EXPECT_THAT(texts, ElementsAre("a null", "b true", "c 0.5", "d \"x\"", "e [1, 2]",
                                 "f an object or list"));
  EXPECT_EQ(log.events[5].metadata.at("epoch_num"), Value(3.0));
}

}  // namespace
}  // namespace bench::mlperf
