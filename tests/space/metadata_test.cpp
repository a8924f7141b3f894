#include "support/case_name.hpp"
#include "support/environment_variable.hpp"
#include "support/temp_directory.hpp"

#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <time.h>

#include <bench/base/time.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::space {
namespace {

using Facts = std::map<std::string, std::string>;

TEST(RunMetadata, ComesBackAsItWasRecorded) {
  const Facts facts{{"id", "3"},           {"uuid", "u"},
                    {"benchmark", "b"},    {"comment", "c"},
                    {"document", "{}"},    {"started", "2026-01-31 13:05:09"},
                    {"home", "/home"},     {"tags", "a,b"},
                    {"input_file", "/i"},  {"input_sha256", "abc"},
                    {"platform", "p"},     {"platform_file", "/p"},
                    {"power_source", ""},  {"bench_version", "1"},
                    {"account", ""},       {"launcher", "srun -v"},
                    {"parallel", "0"},     {"max_workpackages", "100000"},
                    {"budget_nh", "12.5"}, {"jube_platform_nodes", "4"},
                    {"cpu", "a CPU"},      {"filters", "x"},
                    {"accepted", ""},      {"started_unix_s", "1769860800.25"}};
  EXPECT_EQ(facts_of(metadata_from(facts)), facts);
}

TEST(RunMetadata, KeepsWhatIsAbsentApartFromWhatIsEmpty) {
  const RunMetadata metadata = metadata_from({{"account", ""}});
  EXPECT_EQ(metadata.account, "");
  EXPECT_EQ(metadata.partition, std::nullopt);
  EXPECT_EQ(metadata.budget_node_hours, std::nullopt);
  EXPECT_FALSE(facts_of(metadata).contains("partition"));
}

TEST(RunMetadata, HasWhatItDoesNotKnowAmongTheProvenance) {
  const RunMetadata metadata = metadata_from({{"gpu_driver", "550"}, {"jube_platform_name", "x"}});
  EXPECT_EQ(metadata.provenance, (Facts{{"gpu_driver", "550"}}));
  EXPECT_EQ(metadata.platform_variables.at("jube_platform_name"), "x");
}

class TimeZone {
 public:
  explicit TimeZone(const std::string& zone) : variable_("TZ", zone) { ::tzset(); }

 private:
  support::EnvironmentVariable variable_;
};

struct StartCase {
  std::string name;
  Facts facts;
  std::string zone;
  std::optional<double> expected_unix_s;
};

/// Whatever the time zone of the machine that asks.
class StartOfARun : public testing::TestWithParam<StartCase> {};

TEST_P(StartOfARun, IsFoundInItsFacts) {
  const TimeZone zone(GetParam().zone);
  const support::TempDirectory here;
  const auto workspace = workspace::Workspace::create(here.path(), GetParam().facts);
  EXPECT_EQ(start_unix_s(metadata_from(workspace.facts()), workspace), GetParam().expected_unix_s);
}

constexpr double noon_unix_s = 1'769'860'800;  // 2026-01-31 12:00:00 UTC
const std::string noon = "2026-01-31 12:00:00";

INSTANTIATE_TEST_SUITE_P(
    Setup, StartOfARun,
    testing::Values(
        StartCase{"UnixTime",
                  {{"started", noon}, {"started_unix_s", "1769860800.25"}},
                  "JST-9",
                  noon_unix_s + 0.25},
        StartCase{"LocalTime", {{"started", noon}}, "UTC0", noon_unix_s},
        StartCase{"LocalTimeElsewhere", {{"started", noon}}, "JST-9", noon_unix_s - 9.0 * 3600},
        StartCase{"Nothing", {}, "UTC0", std::nullopt}),
    support::case_name);

TEST(StartOfAnOldRun, IsThatOfItsFirstWorkpackage) {
  const support::TempDirectory here;
  auto workspace = workspace::Workspace::create(here.path(), {{"started", noon}});
  workspace::Workpackage first;
  first.step = "s";
  const double before_unix_s = unix_time_now();
  workspace.replay({workspace::Expanded{{}, {first}}});
  workspace.replay({workspace::Claimed{.workpackage = 0, .uuid = "u", .host = "h"}});
  const auto start = start_unix_s(metadata_from(workspace.facts()), workspace);
  ASSERT_TRUE(start);
  EXPECT_GE(*start, before_unix_s);
  EXPECT_LE(*start, unix_time_now());
}

}  // namespace
}  // namespace bench::space
