#include "support/bad_files.hpp"
#include "support/error_of.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/document/read.hpp>
#include <bench/model/build.hpp>

namespace bench::model {
namespace {

class BadModelFileTest : public testing::TestWithParam<std::string> {};

TEST_P(BadModelFileTest, IsReportedAsExpected) {
  std::filesystem::current_path(support::bad_files);  // so that messages hold the bare file name
  Diagnostics diagnostics;
  EXPECT_THAT(support::faults_of_bad(GetParam()), testing::ElementsAre(support::fault_of([&] {
                build(document::read_file(GetParam(), diagnostics), diagnostics);
              })));
}

INSTANTIATE_TEST_SUITE_P(Files, BadModelFileTest, testing::ValuesIn(support::bad_names("model_")),
                         [](const auto& file) {
                           return std::filesystem::path(file.param).stem().string();
                         });

}  // namespace
}  // namespace bench::model
