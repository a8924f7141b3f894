#include "gpt/iteration_log.hpp"

#include <string>

#include <fmt/core.h>

namespace bench::gpt {

std::string iteration_line(const IterationLine& line) {
  return fmt::format(
      " iteration {:8d}/{:8d} | consumed samples: {:12d} | elapsed time per iteration (s): {:.4f} "
      "| learning rate: {:.3E} | global batch size: {:5d} | lm loss: {:.6E} | loss scale: {:.1f} "
      "| grad norm: {:.3f} | number of skipped iterations: {:3d} | number of nan iterations: {:3d} "
      "| samples per second: {:.3f} | TFLOPs: {:.2f} | TFLOPs(megatron): {:.2f} |\n",
      line.iteration, line.iterations, line.consumed_samples, line.iteration_s, line.learning_rate,
      line.global_batch, line.loss, line.loss_scale, line.gradient_norm, line.skipped,
      line.not_finite, line.samples_per_second, line.tflops, line.tflops_megatron);
}

}  // namespace bench::gpt
