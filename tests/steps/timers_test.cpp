#include "harness/timers.hpp"

#include <deque>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

/// Time goes on when a test says so, and may be read only behind a wait, as on a GPU.
class ManualClock : public Clock {
 public:
  explicit ManualClock(double* now_s) : now_s_(now_s) {}
  Mark mark() override {
    times_s_.push_back(*now_s_);
    return marks_++;
  }
  void wait() override { reached_ = marks_; }
  bool has_reached(Mark mark) const override { return mark < reached_; }
  double take_oldest() override {
    if (taken_ == reached_)
      throw std::logic_error("read without waiting for the device");
    ++taken_;
    const double time_s = times_s_.front();
    times_s_.pop_front();
    return time_s;
  }

 private:
  double* now_s_;
  std::deque<double> times_s_;
  Mark marks_ = 0;
  Mark reached_ = 0;
  Mark taken_ = 0;
};

class TimersTest : public testing::Test {
 protected:
  void step(double forward_s, double rest_s) {
    timers_.begin_batch();
    timers_.timed(Region::forward, [&] { now_s_ += forward_s; });
    now_s_ += rest_s;
    timers_.end_batch();
  }

  double now_s_ = 100;
  Timers timers_{std::make_unique<ManualClock>(&now_s_)};
};

TEST_F(TimersTest, ForgetsTheWarmup) {
  step(64, 64);
  timers_.begin_epoch();
  step(2, 1);
  step(4, 0.5);
  timers_.end_epoch();
  EXPECT_EQ(timers_.samples_s(Region::epoch), (std::vector<double>{7.5}));
  EXPECT_EQ(timers_.samples_s(Region::batch), (std::vector<double>{3, 4.5}));
  EXPECT_EQ(timers_.samples_s(Region::forward), (std::vector<double>{2, 4}));
}

TEST_F(TimersTest, OtherIsWhatIsLeftOfABatch) {
  timers_.begin_epoch();
  step(2, 1);
  step(4, 0.5);
  timers_.end_epoch();
  EXPECT_EQ(timers_.samples_s(Region::other), (std::vector<double>{1, 0.5}));
}

// A batch of 10 s: 3 in the backward pass, of which 1 waits for other ranks, and 2 in the update.
TEST_F(TimersTest, NestedPartsAreTakenFromABatchOnce) {
  timers_.begin_epoch();
  timers_.begin_batch();
  timers_.timed(Region::backward, [&] {
    now_s_ += 2;
    timers_.timed(Region::comm, [&] { now_s_ += 1; });
  });
  timers_.timed(Region::optimizer, [&] { now_s_ += 2; });
  now_s_ += 5;
  timers_.end_batch();
  timers_.end_epoch();
  EXPECT_EQ(timers_.samples_s(Region::backward), (std::vector<double>{3}));
  EXPECT_EQ(timers_.samples_s(Region::comm), (std::vector<double>{1}));
  EXPECT_EQ(timers_.samples_s(Region::other), (std::vector<double>{5}));
}

TEST_F(TimersTest, WorkAsideCountsToNoEpoch) {
  timers_.begin_epoch();
  step(2, 1);
  timers_.aside("checkpoint", [&] { now_s_ += 64; });
  step(4, 0.5);
  timers_.end_epoch();
  EXPECT_EQ(timers_.samples_s(Region::epoch), (std::vector<double>{7.5}));
  EXPECT_EQ(timers_.asides_s("checkpoint"), (std::vector<double>{64}));
  EXPECT_TRUE(timers_.asides_s("evaluation").empty());
}

TEST_F(TimersTest, EveryEpochHasItsTime) {
  for (const double forward_s : {2.0, 4.0}) {
    timers_.begin_epoch();
    step(forward_s, 1);
    timers_.end_epoch();
    now_s_ += 64;
  }
  EXPECT_EQ(timers_.samples_s(Region::epoch), (std::vector<double>{3, 5}));
  EXPECT_EQ(timers_.samples_s(Region::batch), (std::vector<double>{3, 5}));
}

TEST_F(TimersTest, TheTimeOfTheVeryFirstBatchIsKept) {
  step(64, 1);
  step(2, 1);
  timers_.begin_epoch();
  step(2, 1);
  timers_.end_epoch();
  EXPECT_EQ(timers_.first_batch_s(), 65);
}

TEST_F(TimersTest, ReturnsWhatTheWorkReturns) {
  EXPECT_EQ(timers_.timed(Region::io, [] { return 7; }), 7);
}

TEST_F(TimersTest, TakesNoSampleOfWorkThatThrows) {
  timers_.begin_epoch();
  timers_.begin_batch();
  EXPECT_THROW(timers_.timed(Region::io, [] { throw std::runtime_error("lost"); }),
               std::runtime_error);
  timers_.end_batch();
  timers_.end_epoch();
  EXPECT_TRUE(timers_.samples_s(Region::io).empty());
}

TEST_F(TimersTest, WritesEverySampleAsCsv) {
  timers_.begin_epoch();
  step(2, 1);
  timers_.end_epoch();
  std::ostringstream csv;
  timers_.write_csv(csv);
  EXPECT_EQ(csv.str(),
            "key,index,seconds\n"
            "Epoch,0,3.000000000\n"
            "Batch,0,3.000000000\n"
            "Forward,0,2.000000000\n"
            "Other,0,1.000000000\n");
}

TEST_F(TimersTest, WritesWorkAsideBehindTheRegions) {
  timers_.aside("checkpoint", [&] { now_s_ += 64; });
  std::ostringstream csv;
  timers_.write_csv(csv);
  EXPECT_EQ(csv.str(), "key,index,seconds\ncheckpoint,0,64.000000000\n");
}

TEST(HostClock, MeasuresTheTimeBetweenItsMarks) {
  const auto clock = make_clock(torch::Device(torch::kCPU));
  clock->mark();
  torch::rand({1000, 1000});
  clock->mark();
  const double from_s = clock->take_oldest();
  const double to_s = clock->take_oldest();
  EXPECT_GT(to_s, from_s);
  EXPECT_LT(to_s - from_s, 60);
}

}  // namespace
}  // namespace bench::steps
