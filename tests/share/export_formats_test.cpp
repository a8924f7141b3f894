#include "sample_run.hpp"
#include "support/golden.hpp"
#include "support/patience.hpp"
#include "support/source_directory.hpp"
#include "support/temp_directory.hpp"

#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/share/export_formats.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {
namespace {

using support::SampleRun;

std::string rendered(const std::string& name, const SampleRun& sample = SampleRun()) {
  return find_format(name)->render({.run = sample.run,
                                    .tidy = sample.tidy,
                                    .tables = "**t**\n\n| a |\n|---|\n| 1 |\n",
                                    .baseline = "passed: none of 2 rows is worse\n"});
}

struct Case {
  std::string format;
  std::string file;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.format;
}
class FormatTest : public testing::TestWithParam<Case> {};

TEST_P(FormatTest, IsTheTextThatWasReviewed) {
  support::expect_golden("export/" + GetParam().file, rendered(GetParam().format));
}

INSTANTIATE_TEST_SUITE_P(Formats, FormatTest,
                         testing::Values(Case{"junit", "junit.xml"}, Case{"summary", "summary.md"},
                                         Case{"influx", "influx.lp"},
                                         Case{"openmetrics", "openmetrics.txt"}));

/// As a counter of bytes may be.
TEST(Formats, HaveIntegersBeyond64Bits) {
  SampleRun sample;
  sample.tidy.table.rows[0][1].value = Value("36893488147419103232");
  EXPECT_THAT(rendered("influx", sample), testing::HasSubstr("=3.6893488147419103e+19,"));
  EXPECT_THAT(rendered("openmetrics", sample), testing::HasSubstr(" 3.6893488147419103e+19\n"));
}

/// Runs a program that reads the format; skips the test where it is not installed.
CommandOutput read_by(const std::string& format, std::vector<std::string> arguments,
                      const SampleRun& sample = SampleRun()) {
  const support::TempDirectory here;
  arguments.push_back(here.write("text", rendered(format, sample)).string());
  return run_command({.arguments = arguments, .directory = here.path()}, support::far_too_long_s);
}

TEST(Formats, JunitFitsTheSchemaOfItsReaders) {
  if (find_program("xmllint").empty())
    GTEST_SKIP() << "needs xmllint (libxml2-utils)";
  const auto schema = support::source_directory() / "tests/data/export/junit.xsd";
  const CommandOutput output =
      read_by("junit", {"xmllint", "--noout", "--schema", schema.string()});
  EXPECT_TRUE(output.status.success()) << output.standard_error;
}

TEST(Formats, MetricsAreReadByTheParsersOfOpenMetricsAndPrometheus) {
  const std::vector<std::string> python{"/usr/bin/python3", "-c", R"(
import sys
from prometheus_client import parser
from prometheus_client.openmetrics import parser as strict
text = open(sys.argv[1]).read()
def samples(families):
    return sorted((s.name, tuple(sorted(s.labels.items())), s.value) for f in families for s in f.samples)
strictly = samples(strict.text_string_to_metric_families(text))
assert strictly == samples(parser.text_string_to_metric_families(text))
print(len(strictly), dict(strictly[0][1]).get('size'), [s for s in strictly if s[0] == 'bench_run_time_s'][1])
)"};
  if (!run_command({.arguments = {"/usr/bin/python3", "-c", "import prometheus_client"}},
                   support::far_too_long_s)
           .status.success())
    GTEST_SKIP() << "needs python3-prometheus-client";
  SampleRun sample;
  sample.tidy.workpackages[1].state = workspace::State::done;  // it has the odd label
  const CommandOutput output = read_by("openmetrics", python, sample);
  EXPECT_TRUE(output.status.success()) << output.standard_error;
  EXPECT_THAT(output.standard_output, testing::HasSubstr(R"(('size', '2 = \\ "two"'))"));
}

/// The sample with other names and units of what was found.
std::string rendered_with(const std::string& name, const std::string& title,
                          const std::string& unit) {
  SampleRun sample;
  sample.tidy.table.headings[1].title = title;
  sample.tidy.table.headings[1].unit = unit;
  return find_format(name)->render({.run = sample.run, .tidy = sample.tidy});
}

TEST(Formats, SignsOfAUnitAreNotDropped) {
  for (const auto& [unit, word] : std::map<std::string, std::string>{{"µs", "us"},  // U+00B5
                                                                     {"μs", "us"},  // U+03BC
                                                                     {"m³", "m3"},
                                                                     {"Ω", "ohm"},
                                                                     {"°C", "degC"},
                                                                     {"€/kWh", "EUR_per_kWh"},
                                                                     {"mW", "mW"},
                                                                     {"MW", "MW"}}) {
    EXPECT_THAT(rendered_with("influx", "found", unit), testing::HasSubstr(",found_" + word + "="));
    EXPECT_THAT(rendered_with("openmetrics", "found", unit),
                testing::HasSubstr("# UNIT bench_found_" + word + " " + word + "\n"));
  }
}

TEST(Formats, FieldsOfOnePointHaveDifferentNames) {
  SampleRun sample;
  sample.tidy.table.headings[1] = {.title = "energy", .unit = "wh", .name = "energy"};
  const std::string text = influx({.run = sample.run, .tidy = sample.tidy});
  EXPECT_THAT(text, testing::HasSubstr(",energy_wh=12.5,run_time_s=1.5,energy_wh_2_Wh=0.25 "));
}

TEST(Formats, MetricsOfTheRunKeepTheirNames) {
  EXPECT_THAT(rendered_with("openmetrics", "run_info", ""),
              testing::HasSubstr("# TYPE bench_run_info_2 gauge\n"));
}

/// Nothing in a sample says that its workpackage failed.
TEST(Formats, MetricsHaveNoValuesOfWhatIsNotDone) {
  SampleRun sample;
  sample.tidy.table.rows[1][1] = {.value = 9000.0};
  const std::string text = rendered("openmetrics", sample);
  EXPECT_THAT(text, testing::HasSubstr("bench_rate_GB_per_s{"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr(R"(workpackage="1")")));
  EXPECT_THAT(text, testing::HasSubstr(R"(state="failed"} 1)"));
}

TEST(Formats, MetricsWithoutSamplesAreLeftOut) {
  SampleRun sample;
  sample.tidy.table.rows[0][1] = {};
  sample.tidy.table.rows[1][1] = {.value = 9000.0};
  EXPECT_THAT(rendered("openmetrics", sample), testing::Not(testing::HasSubstr("bench_rate")));
}

/// InfluxDB refuses a point that has a tag or field of the name of its time.
TEST(Formats, NamesThatInfluxHasForItselfAreNotUsed) {
  EXPECT_THAT(rendered_with("influx", "time", ""), testing::HasSubstr(",value_time=12.5"));
  SampleRun sample;
  sample.tidy.workpackages[0].parameters = {{"time", "1"}, {"run", "2"}, {"rate_GB_per_s", "3"}};
  const std::string text = influx({.run = sample.run, .tidy = sample.tidy});
  EXPECT_THAT(text,
              testing::HasSubstr(",parameter_rate_GB_per_s=3,parameter_run=2,parameter_time=1,"));
}

/// One point of the line protocol, read by its rules.
struct Point {
  std::string measurement;
  std::map<std::string, std::string> tags;
  std::map<std::string, std::string> fields;
  std::string time;
};

/// Takes characters up to one of `ends` that is not escaped or in quotes.
std::string take_until(const std::string& line, std::size_t& at, const std::string& ends) {
  std::string taken;
  for (bool quoted = false; at < line.size(); ++at) {
    const bool escapes = line[at] == '\\' && at + 1 < line.size();
    if (escapes && std::string(quoted ? "\"\\" : ",= ").find(line[at + 1]) != std::string::npos) {
      taken += line[++at];
      continue;
    }
    if (line[at] == '"' && ends == ", ")
      quoted = !quoted;
    if (!quoted && ends.find(line[at]) != std::string::npos)
      break;
    taken += line[at];
  }
  return taken;
}

Point read_point(const std::string& line) {
  Point point;
  std::size_t at = 0;
  point.measurement = take_until(line, at, ", ");
  while (line.at(at) == ',') {
    const std::string name = take_until(line, ++at, "=");
    point.tags[name] = take_until(line, ++at, ", ");
  }
  do {
    const std::string name = take_until(line, ++at, "=");
    point.fields[name] = take_until(line, ++at, ", ");
  } while (line.at(at) == ',');
  point.time = line.substr(at + 1);
  return point;
}

TEST(Formats, PointsOfInfluxAreReadBack) {
  std::vector<Point> points;
  for (const std::string& line : split_names(rendered("influx"), "\n"))
    points.push_back(read_point(line));
  ASSERT_EQ(points.size(), 2U);  // the others have no time
  EXPECT_EQ(points[0].measurement, "bench");
  EXPECT_EQ(points[0].tags.at("benchmark"), "sample \"x\"");
  EXPECT_EQ(points[0].tags.at("step"), "train, test");
  EXPECT_EQ(points[0].tags.at("parameter_host"), "here");
  EXPECT_EQ(points[0].fields.at("energy_wh"), "0.25");
  EXPECT_EQ(points[0].fields.at("rate_GB_per_s"), "12.5");
  EXPECT_EQ(points[0].time, "1769860801500000000");
  EXPECT_EQ(points[1].tags.at("size"), "2 = \\ \"two\"");
  EXPECT_FALSE(points[1].fields.contains("energy_wh"));
}

}  // namespace
}  // namespace bench::formats
