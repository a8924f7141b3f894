#include "harness/log.hpp"

#include "harness/errors.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::steps {

namespace {

TEST(Statistics, MatchesHandComputedValues) {
  const std::vector<double> samples = {4, 1, 2, 5};
  const Statistics s = statistics(samples);
  EXPECT_EQ(s.count, 4U);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.mean, 3);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.max, 5);
  EXPECT_DOUBLE_EQ(s.standard_deviation, std::sqrt(10.0 / 3.0));
}

TEST(Statistics, TakesTheMiddleOfAnOddNumber) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{9, 1, 2}), 2);
}

TEST(Statistics, OneSampleDeviatesFromNothing) {
  const Statistics s = statistics(std::vector<double>{7});
  EXPECT_DOUBLE_EQ(s.median, 7);
  EXPECT_DOUBLE_EQ(s.standard_deviation, 0);
}

TEST(Statistics, RefusesNoSamples) {
  EXPECT_THROW(statistics({}), std::invalid_argument);
  EXPECT_THROW(median({}), std::invalid_argument);
}

TEST(Quantile, LiesBetweenSamplesOnAStraightLine) {
  const std::vector<double> samples = {40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.95), 38.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 40);
}

TEST(Quantile, IsTheOnlySample) {
  EXPECT_DOUBLE_EQ(quantile(std::vector<double>{7}, 0.99), 7);
}

TEST(Quantile, NeedsSamplesAndAShare) {
  const std::vector<double> samples = {1, 2};
  EXPECT_THROW(quantile({}, 0.5), std::invalid_argument);
  EXPECT_THROW(quantile(samples, 1.01), std::invalid_argument);
  EXPECT_THROW(quantile(samples, -0.01), std::invalid_argument);
  EXPECT_THROW(quantile(samples, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

// Results as JSON: what is written, and what is not.

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Json, KeepsNumbersAsNumbersAndQuotesTheRest) {
  EXPECT_EQ(json_value(7), "7");
  EXPECT_EQ(json_value(true), "true");
  EXPECT_EQ(json_value(0.25), "0.25");
  EXPECT_EQ(json_value(1e30), "1e+30");
  EXPECT_EQ(json_value(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(json_value("fp32"), "\"fp32\"");
  EXPECT_EQ(json_value(std::string("a \"b\" \\ \n")), R"("a \"b\" \\ \u000a")");
}

/// Runs the body as `main` does, without what it prints.
int run_quietly(const std::function<int()>& body) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_program("p", body);
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  return code;
}

TEST(MetricsFile, HoldsWhatIsLoggedWithTheNewerOfTwoValues) {
  const Folder folder;
  const std::string file = folder.file("m.json");
  EXPECT_EQ(run_quietly([&] {
              begin_metrics_file(file, 1, 2);
              log_value("steps", 3);
              log_value("loss", 0.5);
              log_value("loss", 0.25);
              log_value("result", "ok");
              return 0;
            }),
            exit_ok);
  EXPECT_FALSE(std::filesystem::exists(file));
  const std::string text = read_text(file + ".1");
  EXPECT_THAT(text, StartsWith("{\n  \"rank\": 1,\n  \"size\": 2,\n  \"host\": \""));
  EXPECT_THAT(text, EndsWith("\",\n  \"steps\": 3,\n  \"loss\": 0.25,\n  \"result\": \"ok\"\n}\n"));
}

TEST(MetricsFile, TellsWhyAProgramEnded) {
  const Folder folder;
  const std::string file = folder.file("m.json");
  EXPECT_EQ(run_quietly([&]() -> int {
              begin_metrics_file(file, 0, 1);
              throw std::bad_alloc();
            }),
            exit_out_of_memory);
  EXPECT_THAT(read_text(file), EndsWith("  \"result\": \"oom\"\n}\n"));
}

TEST(MetricsFile, IsNotLeftByAProgramThatWasCalledWrongly) {
  const Folder folder;
  EXPECT_EQ(run_quietly([&]() -> int {
              begin_metrics_file(folder.file("m.json"), 0, 1);
              throw UsageError("wrong", "do this");
            }),
            exit_usage);
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("")));
}

TEST(MetricsFile, ADeviceIsWrittenToAndStays) {
  const Folder folder;
  const std::string link = folder.file("null");
  std::filesystem::create_symlink("/dev/null", link);
  EXPECT_EQ(run_quietly([&] {
              begin_metrics_file(link, 0, 1);
              log_value("result", "ok");
              return 0;
            }),
            exit_ok);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_FALSE(std::filesystem::exists(link + ".part"));
}

TEST(MetricsFile, OfAnEarlierRunIsGoneAsSoonAsTheNextOneBegins) {
  const Folder folder;
  const std::string file = folder.file("m.json");
  std::ofstream(file) << "{\"result\": \"ok\"}\n";
  std::ofstream(file + ".1") << "{\"result\": \"ok\"}\n";
  run_quietly([&]() -> int {
    begin_metrics_file(file, 0, 2);
    EXPECT_FALSE(std::filesystem::exists(file));
    EXPECT_TRUE(std::filesystem::exists(file + ".1")) << "that is the file of another rank";
    throw UsageError("wrong", "do this");
  });
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(MetricsFile, OfAnEarlierRunStaysWhereTheNextOneCannotWrite) {
  const Folder folder;
  const std::string file = folder.file("m.json");
  std::ofstream(file) << "{}\n";
  std::filesystem::create_directory(file + ".part");
  EXPECT_THROW(begin_metrics_file(file, 0, 1), UsageError);
  EXPECT_EQ(read_text(file), "{}\n");
}

TEST(MetricsFile, IsRefusedBeforeTheRunWhereItCannotBeWritten) {
  EXPECT_THROW(begin_metrics_file("/nowhere/m.json", 0, 1), UsageError);
}

// The format of MLPerf's lines.

using testing::MatchesRegex;

std::string line_of(const std::string& key, const MlValue& value, const MlMetadata& more = {}) {
  return mllog_line(key, value, more, 1604000000000, std::source_location::current());
}

TEST(Mllog, WritesTheLinesOfMlperf) {
  EXPECT_THAT(line_of("run_start", {}),
              MatchesRegex(":::MLLOG \\{\"namespace\": \"\", \"time_ms\": 1604000000000, "
                           "\"event_type\": \"INTERVAL_START\", \"key\": \"run_start\", \"value\": "
                           "null, \"metadata\": \\{\"file\": \"log_test.cpp\", \"lineno\": "
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
