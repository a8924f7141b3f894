#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <bench/space/metadata.hpp>

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

}  // namespace
}  // namespace bench::space
