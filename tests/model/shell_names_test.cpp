#include "model/shell_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(LoopVariables, AreThoseOfLoopsAndReads) {
  EXPECT_THAT(loop_variables("for i in a b; do echo $i; done"), ElementsAre("i"));
  EXPECT_THAT(loop_variables("for i\ndo echo $i; done"), ElementsAre("i"));
  EXPECT_THAT(loop_variables("true && for x_1 in $(seq 3); do :; done"), ElementsAre("x_1"));
  EXPECT_THAT(loop_variables("ls | while read -r name size; do :; done"),
              ElementsAre("name", "size"));
  EXPECT_THAT(loop_variables("read first second"), ElementsAre("first", "second"));
  EXPECT_THAT(loop_variables("(select s in a b; do break; done)"), ElementsAre("s"));
}

TEST(LoopVariables, AreNotWordsOfSentences) {
  EXPECT_THAT(loop_variables("echo for you"), IsEmpty());
  EXPECT_THAT(loop_variables("echo waiting for gpu to appear"), IsEmpty());
  EXPECT_THAT(loop_variables("grep -e for file in"), IsEmpty());
}

TEST(BareWords, AreThoseWithoutADollar) {
  EXPECT_THAT(bare_words("export A=$b; c=${d}x; $e1"),
              UnorderedElementsAre("export", "A", "c", "x"));
}

}  // namespace
}  // namespace bench::model
