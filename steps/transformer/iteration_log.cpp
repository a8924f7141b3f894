#include "transformer/iteration_log.hpp"

#include "harness/progress_log.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <fmt/core.h>

namespace bench::transformer {

std::string iteration_line(const IterationLine& line) {
  const std::string loss = line.loss ? fmt::format("| lm loss: {:.6E} ", *line.loss) : "";
  return fmt::format(
      " iteration {:8d}/{:8d} | consumed samples: {:12d} | elapsed time per iteration (s): {:.4f} "
      "| learning rate: {:.3E} | global batch size: {:5d} {}| loss scale: {:.1f} "
      "| grad norm: {:.3f} | number of skipped iterations: {:3d} | number of nan iterations: {:3d} "
      "| samples per second: {:.3f} | TFLOPs: {:.2f} | TFLOPs(megatron): {:.2f} |\n",
      line.iteration, line.iterations, line.consumed_samples, line.iteration_s, line.learning_rate,
      line.global_batch, loss, line.loss_scale, line.gradient_norm, line.skipped, line.not_finite,
      line.samples_per_second, line.tflops, line.tflops_megatron);
}

void IterationLog::begin() {
  clock_.begin();
}

void IterationLog::add(const steps::LoggedStep& step) {
  last_ = step.result;
  loss_sum_ += last_.skipped ? 0 : last_.loss;
  skipped_ += last_.skipped ? 1 : 0;
  not_finite_ += std::isfinite(last_.loss) ? 0 : 1;
  ++iterations_;
  if (++pending_ == options_.log_interval)
    print();
}

void IterationLog::end(double) {
  if (pending_ > 0)
    print();
}

void IterationLog::print() {
  const auto count = static_cast<double>(pending_);
  const std::int64_t advanced = pending_ - skipped_;  // as Megatron-LM calls them
  std::optional<double> loss;
  if (advanced > 0)
    loss = loss_sum_ / static_cast<double>(advanced);
  const double iteration_s = clock_.take_s() / count;
  const double samples_per_second = static_cast<double>(options_.global_batch) / iteration_s;
  const double tera_tokens_per_second =  // of a device
      samples_per_second * static_cast<double>(sequence_) * 1e-12 /
      static_cast<double>(options_.layout.devices());
  fmt::print("{}", iteration_line({.iteration = iterations_,
                                   .iterations = options_.common.steps,
                                   .consumed_samples = trainer_.samples(),
                                   .iteration_s = iteration_s,
                                   .learning_rate = last_.learning_rate,
                                   .global_batch = options_.global_batch,
                                   .loss = loss,
                                   .loss_scale = last_.loss_scale,
                                   .gradient_norm = last_.gradient_norm.value_or(0),
                                   .skipped = skipped_,
                                   .not_finite = not_finite_,
                                   .samples_per_second = samples_per_second,
                                   .tflops = tera_tokens_per_second * flops_.of_step,
                                   .tflops_megatron = tera_tokens_per_second * flops_.megatron}));
  std::fflush(stdout);  // whoever waits for hours wants to see it
  pending_ = skipped_ = not_finite_ = 0;
  loss_sum_ = 0;
}

}  // namespace bench::transformer
