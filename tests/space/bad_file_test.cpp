#include "space/fixture.hpp"
#include "support/bad_files.hpp"
#include "support/error_of.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/document/read.hpp>
#include <bench/model/build.hpp>

namespace bench::space {
namespace {

class BadSpaceFileTest : public testing::TestWithParam<std::string> {};

TEST_P(BadSpaceFileTest, IsReportedAsExpected) {
  std::filesystem::current_path(support::bad_files);  // so that messages hold the bare file name
  Diagnostics diagnostics;
  const auto benchmark =
      model::build(document::read_file(GetParam(), diagnostics), diagnostics).at(0);
  EXPECT_THAT(support::faults_of_bad(GetParam()), testing::ElementsAre(support::fault_of([&] {
                combinations_of(benchmark, benchmark.steps.at(0).name);
              })));
}

INSTANTIATE_TEST_SUITE_P(Files, BadSpaceFileTest, testing::ValuesIn(support::bad_names("expand_")),
                         [](const auto& file) {
                           return std::filesystem::path(file.param).stem().string();
                         });

}  // namespace
}  // namespace bench::space
