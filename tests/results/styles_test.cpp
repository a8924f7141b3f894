#include <set>

#include <gtest/gtest.h>

#include <bench/document/elements.hpp>
#include <bench/results/table.hpp>

namespace bench::tabulate {
namespace {

TEST(Styles, OfInputFilesAreThoseThatHaveAWriter) {
  const auto words = language::attribute_of("table", "style").words;
  const auto names = result::style_names(result::Styles::text);
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()),
            std::set<std::string>(names.begin(), names.end()));
}

}  // namespace
}  // namespace bench::tabulate
