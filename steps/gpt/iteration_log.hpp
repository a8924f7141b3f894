#pragma once

#include <cstdint>
#include <string>

namespace bench::gpt {

/// What a line of the log tells of the iterations since the last one.
struct IterationLine {
  std::int64_t iteration = 0;
  std::int64_t iterations = 0;  ///< Of the whole run.
  std::int64_t consumed_samples = 0;
  double iteration_s = 0;  ///< Mean.
  double learning_rate = 0;
  std::int64_t global_batch = 0;
  double loss = 0;  ///< Mean.
  double loss_scale = 1;
  double gradient_norm = 0;  ///< Of the last one.
  std::int64_t skipped = 0;
  std::int64_t not_finite = 0;
  double samples_per_second = 0;
  double tflops = 0;           ///< Per device, by Narayanan's formula.
  double tflops_megatron = 0;  ///< By that of Megatron-LM.
};

/// The line as the Megatron-LM prints it that CARAML runs, with its newline, so that the patterns
/// for it fit.
std::string iteration_line(const IterationLine& line);

}  // namespace bench::gpt
