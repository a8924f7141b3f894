#include "harness/device.hpp"

#include <string>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

/// Its graphs are numbered in the order in which they are made, and say what they are told.
class SayingGraphs : public GraphMaker {
 public:
  explicit SayingGraphs(std::string* said) : said_(said) {}

  std::unique_ptr<Graph> make() override { return std::make_unique<Saying>(said_, made_++); }

 private:
  class Saying : public Graph {
   public:
    Saying(std::string* said, int number) : said_(said), number_(std::to_string(number)) {}
    void begin() override { *said_ += "["; }
    void end() override { *said_ += "]"; }
    void replay() override { *said_ += "r" + number_; }

   private:
    std::string* said_;
    std::string number_;
  };

  std::string* said_;
  int made_ = 0;
};

class ReplayTest : public testing::Test {
 protected:
  /// What a step of the parts a and b does.
  std::string step(Replay& replay) {
    said_.clear();
    replay.part([&] { said_ += "a"; });
    replay.part([&] { said_ += "b"; });
    replay.end_step();
    return said_;
  }

  std::string said_;
  SayingGraphs graphs_{&said_};
};

TEST_F(ReplayTest, RecordsEachPartBehindTheWarmStepsAndThenOnlyReplays) {
  Replay replay(&graphs_);
  for (int i = 0; i < Replay::warm_steps; ++i)
    EXPECT_EQ(step(replay), "ab");
  EXPECT_EQ(step(replay), "[a]r0[b]r1") << "what is recorded is not done";
  EXPECT_EQ(step(replay), "r0r1");
  EXPECT_EQ(step(replay), "r0r1");
}

TEST_F(ReplayTest, DoesEveryPartWithoutAGraphMaker) {
  Replay replay(nullptr);
  for (int i = 0; i < Replay::warm_steps + 3; ++i)
    EXPECT_EQ(step(replay), "ab");
}

TEST_F(ReplayTest, APartReturnsWhatItReturnedWhenItWasRecorded) {
  Replay replay(&graphs_);
  int calls = 0;
  for (const int expected : {1, 2, 3, 4, 4, 4}) {
    EXPECT_EQ(replay.part([&] { return ++calls; }), expected);
    replay.end_step();
  }
}

TEST_F(ReplayTest, KeepsACopyOfWhatIsWrittenAgain) {
  const torch::Tensor result = torch::ones({}, torch::requires_grad());
  const Replay replayed(&graphs_);
  const torch::Tensor kept = replayed.kept(result);
  EXPECT_FALSE(kept.requires_grad());
  EXPECT_NE(kept.data_ptr(), result.data_ptr());
  EXPECT_EQ(kept.item<float>(), 1.0F);
  EXPECT_EQ(Replay(nullptr).kept(result).data_ptr(), result.data_ptr());
}

}  // namespace
}  // namespace bench::steps
