#pragma once

#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace bench::transformer {

/// What a line of the log tells of the iterations since the last one.
struct IterationLine {
  std::int64_t iteration = 0;
  std::int64_t iterations = 0;  ///< Of the whole run.
  std::int64_t consumed_samples = 0;
  double iteration_s = 0;  ///< Mean.
  double learning_rate = 0;
  std::int64_t global_batch = 0;
  std::optional<double> loss;  ///< Mean of those that changed the weights; empty without any.
  double loss_scale = 1;
  double gradient_norm = 0;  ///< Of the last one.
  std::int64_t skipped = 0;
  std::int64_t not_finite = 0;
  double samples_per_second = 0;
  double tflops = 0;           ///< Per device.
  double tflops_megatron = 0;  ///< By that of Megatron-LM.
};

/// The line as the Megatron-LM prints it that CARAML runs, with its newline, so that the patterns
/// for it fit.
std::string iteration_line(const IterationLine& line);

/// Operations of a training step per token, for the log.
struct TokenFlops {
  double of_step = 0;   ///< By the formula of the column `TFLOPs`.
  double megatron = 0;  ///< By that of Megatron-LM.
};

/// Prints a line for every `log_interval` measured iterations, as they become known.
class IterationLog : public steps::ProgressLog {
 public:
  /// Options and trainer must outlive this object.
  /// @param sequence tokens of a sample
  IterationLog(const TrainingOptions& options, const steps::Trainer& trainer, std::int64_t sequence,
               const TokenFlops& flops)
      : options_(options), trainer_(trainer), sequence_(sequence), flops_(flops) {}

  void begin() override;
  void add(const steps::LoggedStep& step) override;
  void paused(double seconds) override { clock_.skip(seconds); }
  void end(double epoch_s) override;

 private:
  void print();

  const TrainingOptions& options_;
  const steps::Trainer& trainer_;
  std::int64_t sequence_;
  TokenFlops flops_;
  std::int64_t iterations_ = 0;
  std::int64_t pending_ = 0;  ///< Iterations since the last line.
  std::int64_t skipped_ = 0;
  std::int64_t not_finite_ = 0;
  double loss_sum_ = 0;
  steps::StepResult last_;
  steps::StepClock clock_;
};

/// Costs of a language model, for `--describe`.
struct ModelCost {
  std::int64_t parameters = 0;
  std::int64_t embedding_parameters = 0;  ///< Of the table of tokens.
  std::int64_t forward_macs_per_sample = 0;
  std::int64_t sequence = 0;  ///< Tokens per sample.
};

/// Prints the lines `trainable_parameters=` to `sample_shape=`.
void log_cost(const ModelCost& cost);

/// Prints the options that decide the result, those of every language model.
void log_training(const TrainingOptions& options);

/// The lines of `--mllog` that say how is trained.
/// @param sequence tokens of a sample
void mllog_options(const TrainingOptions& options, std::int64_t sequence);

/// Prints the measured times, rates and losses, with `tflops_per_device` and MFU by the causal
/// formula.
/// @param flops_per_token of a training step, by that formula
/// @returns tokens per second of one device; 0 if nothing was measured
double report_measured(steps::Session& session, const steps::Loop& loop,
                       const TrainingOptions& options, std::int64_t sequence,
                       double flops_per_token);

}  // namespace bench::transformer
