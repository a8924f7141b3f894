#include "harness/timers.hpp"

#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

/// Time goes on when a test says so, and may be read only behind a wait, as on a GPU.
class ManualClock : public Clock {
 public:
  explicit ManualClock(double* now_s) : now_s_(now_s) {}
  std::size_t mark() override {
    marks_s_.push_back(*now_s_);
    return marks_s_.size() - 1;
  }
  void wait() override { readable_ = marks_s_.size(); }
  bool has_reached(std::size_t mark) const override { return mark < readable_; }
  double seconds_between(std::size_t from, std::size_t to) const override {
    if (from >= readable_ || to >= readable_)
      throw std::logic_error("read without waiting for the device");
    return marks_s_[to] - marks_s_[from];
  }
  void clear() override { marks_s_.clear(); }

 private:
  double* now_s_;
  std::size_t readable_ = 0;
  std::vector<double> marks_s_;
};

class TimersTest : public testing::Test {
 protected:
  void step(double forward_s, double rest_s) {
    timers_.timed(Region::batch, [&] {
      timers_.timed(Region::forward, [&] { now_s_ += forward_s; });
      now_s_ += rest_s;
    });
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

TEST_F(TimersTest, ReturnsWhatTheWorkReturns) {
  EXPECT_EQ(timers_.timed(Region::io, [] { return 7; }), 7);
}

TEST_F(TimersTest, TakesNoSampleOfWorkThatThrows) {
  timers_.begin_epoch();
  EXPECT_THROW(timers_.timed(Region::io, [] { throw std::runtime_error("lost"); }),
               std::runtime_error);
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

TEST(HostClock, MeasuresTheTimeBetweenItsMarks) {
  const auto clock = make_clock(torch::Device(torch::kCPU));
  const std::size_t from = clock->mark();
  torch::rand({1000, 1000});
  const std::size_t to = clock->mark();
  EXPECT_GT(clock->seconds_between(from, to), 0);
  EXPECT_LT(clock->seconds_between(from, to), 60);
}

}  // namespace
}  // namespace bench::steps
