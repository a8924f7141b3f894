#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/base/failures.hpp>

namespace bench {
namespace {

TEST(Failures, KeepEachErrorOnce) {
  Failures failures;
  failures.attempt([] {});
  EXPECT_TRUE(failures.empty());
  for (const char* message : {"b", "a", "b"})
    attempt(&failures, [&] { throw Error(Id::invalid_value, message); });
  failures.attempt([] { throw Error(Id::invalid_value, "b", "", {"file", 1, 1}); });
  std::vector<std::string> messages;
  for (const Error& error : failures.errors())
    messages.push_back(error.message());
  EXPECT_THAT(messages, testing::ElementsAre("b", "a", "b"));
}

TEST(Failures, AreThrownWhereNobodyKeepsThem) {
  EXPECT_THROW(attempt(nullptr, [] { throw Error(Id::invalid_value, "a"); }), Error);
}

}  // namespace
}  // namespace bench
