#include "share/mlperf_lines.hpp"
#include "support/deep_json.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/share/mlperf.hpp>

namespace bench::mlperf {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

struct LineCase {
  std::string line;
  std::string expected;
};

const std::string good =
    R"({"namespace": "", "time_ms": 5, "event_type": "POINT_IN_TIME", "key": "seed", )"
    R"("value": 1, "metadata": {"file": "a", "lineno": 1}})";

std::string changed(const std::string& from, const std::string& to) {
  std::string line = good;
  return line.replace(line.find(from), from.size(), to);
}

TEST(MlperfLog, NamesLinesThatTheCheckerCannotRead) {
  const LineCase cases[] = {{"{", "the line is not a JSON object"},
                            {"[1]", "the line is not a JSON object"},
                            {changed(R"("time_ms": 5, )", ""), "the line has no time_ms"},
                            {changed(R"("key": "seed", )", ""), "the line has no key"},
                            {changed(R"("value": 1, )", ""), "the line has no value"},
                            {changed(R"(, "metadata")", R"(, "meta")"), "the line has no metadata"},
                            {changed("5", R"("soon")"), R"(time_ms is not a number: "soon")"},
                            {changed("5", support::deep_json()), "time_ms is not a number: [["}};
  for (const LineCase& one : cases) {
    const Log log = parse_log("output\n:::MLLOG " + one.line + "\n");
    ASSERT_EQ(log.violations.size(), 1U) << one.line;
    EXPECT_EQ(log.violations[0].line, 2U);
    EXPECT_EQ(log.violations[0].rule, "line_format");
    EXPECT_THAT(log.violations[0].message, StartsWith(one.expected));
  }
}

/// Each line has the value of `seed`.
TEST(MlperfLog, ReadsWhatTheCheckerReads) {
  const LineCase cases[] = {
      {":::MLLOG " + good, "1"},
      {"  0: :::MLLOG " + good, "1"},  // of srun -l
      {"2026-11-28 12:00:00 :::MLLOG x :::MLLOG " + good, "1"},
      {"progress\r:::MLLOG " + good + "\r\n", "1"},
      {":::MLLOG " + changed(R"("namespace": "", )", ""), "1"},
      {":::MLLOG " + changed("POINT_IN_TIME", "PERIODIC"), "1"},
      {":::MLLOG " + changed("5", "-1.5"), "1"},
      {":::MLLOG " + changed("5", R"("7")"), "1"},
      {":::MLLOG " + changed(R"({"file": "a", "lineno": 1})", "null"), "1"},
      {":::MLLOG " + changed(": 1,", ": NaN,"), "nan"},
      {":::MLLOG " + changed(": 1,", ": [-Infinity, Infinity],"), "[-inf, inf]"},
      {":::MLLOG " + changed(": 1,", R"(: "\"NaN",)"), R"(""NaN")"},
      {":::MLLOG " + changed(": 1,", ": \"Z\xfcrich\","), "\"Z\xef\xbf\xbdrich\""}};
  for (const LineCase& one : cases) {
    const Log log = parse_log(one.line);
    EXPECT_THAT(log.violations, testing::IsEmpty()) << one.line;
    ASSERT_EQ(log.events.size(), 1U) << one.line;
    EXPECT_EQ(text_of(log.events[0].value), one.expected) << one.line;
  }
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
  EXPECT_THAT(texts,
              ElementsAre("a null", "b true", "c 0.5", "d \"x\"", "e [1, 2]", R"(f {"g":1})"));
  EXPECT_EQ(log.events[5].metadata.at("epoch_num"), Value(3.0));
}

}  // namespace
}  // namespace bench::mlperf
