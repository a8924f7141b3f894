#include "support/deep_json.hpp"
#include "support/error_of.hpp"

#include <string>

#include <gmock/gmock.h>

#include <bench/run/make_run.hpp>

namespace bench::run {
namespace {

TEST(AddPointTest, ListsOfAnyDepthAreRefused) {
  for (const std::string& list : {std::string("[1]"), support::deep_json()})
    EXPECT_THAT(support::error_of([&] { point_from_json(R"({"x": )" + list + "}"); }),
                testing::HasSubstr("must be a text, a number or a boolean, not a list\n"));
}

}  // namespace
}  // namespace bench::run
