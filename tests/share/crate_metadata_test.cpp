#include "sample_run.hpp"
#include "share/crate_package.hpp"
#include "support/golden.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench::crate {
namespace {

TEST(CrateMetadata, IsTheTextThatWasReviewed) {
  const support::SampleRun sample;
  const std::vector<EnvironmentItem> environment{{"host", "node1", ""},
                                                 {"compiler", "", "not recorded"}};
  const std::vector<PackedFile> files{{"input/sample.yaml", 10, std::string(64, 'a')},
                                      {"input/resolved.xml", 20, std::string(64, 'b')},
                                      {"run/workspace.db", 30, std::string(64, 'c')},
                                      {"run/000000_train/work/std out", 40, std::string(64, 'd')}};
  support::expect_golden("export/ro-crate-metadata.json",
                         metadata_json({.run = sample.run,
                                        .tidy = sample.tidy,
                                        .environment = environment,
                                        .files = files,
                                        .license = "https://spdx.org/licenses/CC-BY-4.0"}));
}

}  // namespace
}  // namespace bench::crate
