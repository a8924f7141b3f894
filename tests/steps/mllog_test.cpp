// The format of MLPerf's lines.
#include "harness/log.hpp"

#include <cmath>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::MatchesRegex;

std::string line_of(const std::string& key, const MlValue& value, const MlMetadata& more = {}) {
  return mllog_line(key, value, more, 1604000000000, std::source_location::current());
}

TEST(Mllog, WritesTheLinesOfMlperf) {
  EXPECT_THAT(line_of("run_start", {}),
              MatchesRegex(":::MLLOG \\{\"namespace\": \"\", \"time_ms\": 1604000000000, "
                           "\"event_type\": \"INTERVAL_START\", \"key\": \"run_start\", \"value\": "
                           "null, \"metadata\": \\{\"file\": \"mllog_test.cpp\", \"lineno\": "
                           "[0-9]+\\}\\}\n"));
}

struct ValueCase {
  std::string key;
  MlValue value;
  MlMetadata metadata;
  std::string expected;  ///< From `event_type` on, the place left out.
};

TEST(Mllog, WritesValuesAsPythonDoes) {
  const ValueCase cases[] = {
      {"epoch_stop",
       {},
       {{"epoch_num", 1}},
       R"("INTERVAL_END", "key": "epoch_stop", "value": null, "metadata": {"epoch_num": 1}})"},
      {"seed", 7, {}, R"("POINT_IN_TIME", "key": "seed", "value": 7, "metadata": {}})"},
      {"opt_lr", 1.0, {}, R"("POINT_IN_TIME", "key": "opt_lr", "value": 1.0, "metadata": {}})"},
      {"opt_lr", 1e-5, {}, R"("POINT_IN_TIME", "key": "opt_lr", "value": 1e-05, "metadata": {}})"},
      {"opt_name",
       "sgd",
       {},
       R"("POINT_IN_TIME", "key": "opt_name", "value": "sgd", "metadata": {}})"},
      {"opt_betas",
       std::vector{0.9, 0.95},
       {},
       R"("POINT_IN_TIME", "key": "opt_betas", "value": [0.9, 0.95], "metadata": {}})"},
      {"loss",
       std::vector{std::nan(""), HUGE_VAL, -HUGE_VAL},
       {},
       R"("POINT_IN_TIME", "key": "loss", "value": [NaN, Infinity, -Infinity], "metadata": {}})"},
  };
  for (const ValueCase& c : cases) {
    std::string line = line_of(c.key, c.value, c.metadata);
    const auto place = line.find("\"file\": ");
    const auto behind = line.find_first_of(",}", line.find("\"lineno\": "));
    line.erase(place, behind - place + (line[behind] == ',' ? 2 : 0));
    EXPECT_EQ(line.substr(line.find("\"event_type\": ") + 14), c.expected + "\n");
  }
}

}  // namespace
}  // namespace bench::steps
