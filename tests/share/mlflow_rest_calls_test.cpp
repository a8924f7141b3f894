#include "share/mlflow_rest_calls.hpp"

#include "support/deep_json.hpp"

#include <string>

#include <gmock/gmock.h>

namespace bench::mlflow {
namespace {

TEST(AnswerTest, OfAnyDepthCanBeCopiedAndWritten) {
  const Json answer = parsed(R"({"message": )" + support::deep_json() + "}");
  const Json copy = answer;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_LT(text_in(copy, "message").size(), 1000U);
}

}  // namespace
}  // namespace bench::mlflow
