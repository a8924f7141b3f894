#include <set>

#include <gtest/gtest.h>

#include <bench/document/elements.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

TEST(Styles, OfInputFilesAreThoseThatHaveAWriter) {
  const auto words = document::element("table").attribute("style")->words;
  const auto names = style_names(Styles::text);
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()),
            std::set<std::string>(names.begin(), names.end()));
}

}  // namespace
}  // namespace bench::results
