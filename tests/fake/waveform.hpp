#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>

namespace bench::fake {

/// The power of an invented device as a function of the seconds t since `start`, with its exact
/// integral and the faults that real devices have. Read by `start` from environment variables, here
/// without their prefix (`FAKE_NVML` and so on):
///
///   SHAPE        constant: POWER_W; ramp: 100 W + 50 W/s * t; square: 100 W and 300 W for 100 ms
///                each; spike: 100 W, and 1000 W in the last 10 ms of every second; late: 50 W, and
///                500 W from 0.5 s on
///   POWER_W      of the constant shape (250)
///   COUNTER_J    what the energy counter shows at t = 0 (1e6: a driver loaded long ago)
///   COUNTER_RATE the counter runs so many times as fast as it should (1)
///   WRAP_J       it starts again at 0 whenever it reaches this
///   RESET_J      it is set to 0 once, when it has counted so much since t = 0
///   FAIL_AFTER   after so many readings the device answers FAIL_CODE
///   GONE_MS      after so many milliseconds the device is gone
///   STEP_S       the counter moves only every so many seconds (all the time)
///   BLIND_FROM_MS, BLIND_MS   from then on, and for so long, readings answer FAIL_CODE
///   HANG_MS      after so many milliseconds a call does not return any more
///   CALL_US      how long every call takes
///
/// With CLOCK_S, read at every look, t is that number and not the time since `start`.
class Waveform {
 public:
  /// @param lost_code default of FAIL_CODE, and what a device that is gone answers
  Waveform(std::string prefix, int lost_code) : prefix_(std::move(prefix)), lost_code_(lost_code) {}

  void start() {
    start_ = std::chrono::steady_clock::now();
    readings_ = 0;
    const char* const shape = std::getenv((prefix_ + "_SHAPE").c_str());
    shape_ = shape ? shape : "constant";
    level_w_ = setting("POWER_W", 250);
  }

  /// A number of the fake's own.
  double setting(const char* name, double otherwise) const {
    const char* const value = std::getenv((prefix_ + "_" + name).c_str());
    return value ? std::atof(value) : otherwise;
  }

  double seconds() const {
    if (const char* const clock = std::getenv((prefix_ + "_CLOCK_S").c_str()))
      return std::atof(clock);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  double power_w(double t) const {
    if (shape_ == "ramp")
      return 100 + 50 * t;
    if (shape_ == "late")
      return t < 0.5 ? 50 : 500;
    const Pulse p = pulse();
    return std::fmod(t, p.period_s) < p.period_s - p.high_s ? p.low_w : p.high_w;
  }

  double energy_j(double t) const {
    if (shape_ == "ramp")
      return 100 * t + 25 * t * t;
    if (shape_ == "late")
      return 50 * std::min(t, 0.5) + 500 * std::max(t - 0.5, 0.0);
    const Pulse p = pulse();
    const double rest_s = std::fmod(t, p.period_s);
    const double high_s =
        (t - rest_s) * p.high_s / p.period_s + std::max(0.0, rest_s - (p.period_s - p.high_s));
    return (t - high_s) * p.low_w + high_s * p.high_w;
  }

  /// When the counter moved last.
  double moved_s(double t) const {
    const double step_s = setting("STEP_S", 0);
    return step_s > 0 ? step_s * std::floor(t / step_s) : t;
  }

  /// What the energy counter shows.
  double counter_j(double t) const {
    t = moved_s(t);
    const double counted_j = setting("COUNTER_RATE", 1) * energy_j(t);
    const double reset_j = setting("RESET_J", HUGE_VAL);
    if (counted_j >= reset_j)
      return counted_j - reset_j;
    return std::fmod(setting("COUNTER_J", 1e6) + counted_j, setting("WRAP_J", HUGE_VAL));
  }

  /// The code of the next reading; 0 while all is well.
  int next_code() {
    const double limit = setting("FAIL_AFTER", -1);
    if (limit >= 0 && static_cast<double>(readings_++) >= limit)
      return static_cast<int>(setting("FAIL_CODE", lost_code_));
    if (is_blind())
      return static_cast<int>(setting("FAIL_CODE", lost_code_));
    return is_gone() ? lost_code_ : 0;
  }

  bool is_blind() const {
    const double since_ms = seconds() * 1000 - setting("BLIND_FROM_MS", HUGE_VAL);
    return since_ms >= 0 && since_ms < setting("BLIND_MS", 0);
  }

  /// The driver does what it does: takes its time, or does not come back.
  void call() const {
    const double takes_us =
        seconds() * 1000 >= setting("HANG_MS", HUGE_VAL) ? 1e9 : setting("CALL_US", 0);
    if (takes_us > 0)
      std::this_thread::sleep_for(std::chrono::microseconds(static_cast<long>(takes_us)));
  }

  bool is_gone() const { return seconds() * 1000 >= setting("GONE_MS", HUGE_VAL); }

 private:
  /// Low, and high in the last part of every period.
  struct Pulse {
    double low_w;
    double high_w;
    double period_s;
    double high_s;
  };

  Pulse pulse() const {
    if (shape_ == "square")
      return {100, 300, 0.2, 0.1};
    if (shape_ == "spike")
      return {100, 1000, 1, 0.01};
    return {level_w_, level_w_, 1, 0};
  }

  std::string prefix_;
  int lost_code_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string shape_ = "constant";
  double level_w_ = 250;
  long readings_ = 0;
};

}  // namespace bench::fake
