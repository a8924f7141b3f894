#include "harness/progress_log.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <fmt/core.h>

namespace bench::steps {

bool has_line(std::int64_t step, std::int64_t offset) {
  const std::int64_t interval = step <= 1000 ? 10 : step <= 10'000 ? 100 : 1000;
  return step == 1 || step % interval == offset;
}

void StepClock::skip(double seconds) {
  since_ += std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

double StepClock::take_s() {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(now - std::exchange(since_, now)).count();
}

void StepLines::begin() {
  clock_.begin();
}

void StepLines::add(const LoggedStep& step) {
  ++step_;
  loss_ = step.result.loss;
  if (has_line(step_))
    print();
}

void StepLines::end(double) {
  if (printed_ < step_)
    print();
}

void StepLines::print() {
  const double step_s = clock_.take_s() / static_cast<double>(step_ - printed_);
  fmt::print("step {}/{} | loss {:.6g} | {:.4g} samples/s | {:.4g} s/step\n", step_, steps_, loss_,
             static_cast<double>(global_batch_) / step_s, step_s);
  std::fflush(stdout);  // whoever waits for hours wants to see it
  printed_ = step_;
}

}  // namespace bench::steps
