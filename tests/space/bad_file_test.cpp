#include "space/fixture.hpp"
#include "support/bad_files.hpp"
#include "support/error_of.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/document/read.hpp>
#include <bench/model/build.hpp>

namespace bench::expand {
namespace {

class BadSpaceFileTest : public testing::TestWithParam<std::string> {};

TEST_P(BadSpaceFileTest, IsReportedAsExpected) {
  std::filesystem::current_path(support::bad_files);  // so that messages hold the bare file name
  Diagnostics diagnostics;
  const auto benchmark =
      model::build(document::read_file(GetParam() + ".yaml", diagnostics), diagnostics).at(0);
  const std::string said =
      support::error_of([&] { combinations_of(benchmark, benchmark.steps.at(0).name); });
  EXPECT_EQ(said + "\n", read_file(GetParam() + ".expected"));
}

INSTANTIATE_TEST_SUITE_P(Files, BadSpaceFileTest, testing::ValuesIn(support::bad_names("expand_")),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace bench::expand
