#include "harness/clock.hpp"

#include "harness/cuda.hpp"

#include <chrono>
#include <deque>
#include <memory>

namespace bench::steps {
namespace {

class HostClock : public Clock {
 public:
  Mark mark() override {
    times_.push_back(std::chrono::steady_clock::now());
    return marks_++;
  }
  void wait() override {}  // operations on the CPU are done when they return
  bool has_reached(Mark) const override { return true; }
  double take_oldest() override {
    const double time_s = std::chrono::duration<double>(times_.front() - origin_).count();
    times_.pop_front();
    return time_s;
  }

 private:
  std::chrono::steady_clock::time_point origin_ = std::chrono::steady_clock::now();
  std::deque<std::chrono::steady_clock::time_point> times_;
  Mark marks_ = 0;
};

}  // namespace

std::unique_ptr<Clock> make_clock(const torch::Device& device) {
  if (device.is_cuda())
    return make_cuda_clock(device);
  return std::make_unique<HostClock>();
}

}  // namespace bench::steps
