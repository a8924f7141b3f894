#include "support/bad_files.hpp"
#include "support/error_of.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/document/read.hpp>
#include <bench/model/build.hpp>

namespace bench::model {
namespace {

class BadModelFileTest : public testing::TestWithParam<std::string> {};

TEST_P(BadModelFileTest, IsReportedAsExpected) {
  std::filesystem::current_path(support::bad_files);  // so that messages hold the bare file name
  Diagnostics diagnostics;
  const std::string said = support::error_of(
      [&] { build(document::read_file(GetParam() + ".yaml", diagnostics), diagnostics); });
  EXPECT_EQ(said + "\n", read_file(GetParam() + ".expected"));
}

INSTANTIATE_TEST_SUITE_P(Files, BadModelFileTest, testing::ValuesIn(support::bad_names("model_")),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace bench::model
