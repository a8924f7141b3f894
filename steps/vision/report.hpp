#pragma once

#include "harness/batches.hpp"
#include "harness/loop.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "vision/network/model.hpp"
#include "vision/network/tables.hpp"
#include "vision/options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::vision {

/// The log of tf_cnn_benchmarks, byte for byte: the heading, a line for some of the steps, the
/// total.

/// One line, without its newline: `10\timages/sec: 413.0 +/- 0.6 (jitter = 1.9)\t7.593`.
///
/// Speed is batch_size over the mean of the steps so far; behind +/- stands the standard error of
/// the speeds of single steps (deviation over n), jitter is 1.4826 times their median absolute
/// deviation, which for a normal distribution is its standard deviation.
/// @param step_s seconds of the steps up to and with this one
std::string step_line(std::int64_t batch_size, std::span<const double> step_s, double loss);

/// @param images of all steps
/// @param epoch_s time of all steps together
std::string step_log_total(double images, double epoch_s);

/// The columns of the log of PyTorch's ImageNet example, one value for each step so far.
struct ProgressColumns {
  std::span<const double> time_s;  ///< Of the whole step, in which it waits `data_s` for its batch.
  std::span<const double> data_s;
  std::span<const double> losses;
  std::span<const double> top1_percent;
  std::span<const double> top5_percent;
};

/// The line of the last of the steps, with its newline, each value followed by the mean of the
/// steps so far:
/// `Epoch: [0][ 11/100]\tTime  0.123 ( 0.456)\tData  0.000 ( 0.001)\tLoss 6.9e+00 (7.0e+00)\t...`,
/// with four digits behind the point of the loss, then `Acc@1` and `Acc@5` in percent.
/// @param steps of the whole epoch
/// @param epoch from 0
std::string progress_line(const ProgressColumns& columns, std::size_t steps, int epoch = 0);

/// The log of tf_cnn_benchmarks, see above, from its heading on in each epoch. Times are
/// those between the ends of steps as the host sees them.
class TfCnnLog : public steps::ProgressLog {
 public:
  /// @param batch_size images of a step
  explicit TfCnnLog(std::int64_t batch_size) : batch_size_(batch_size) {}

  void begin() override;
  void add(const steps::LoggedStep& step) override;
  void paused(double seconds) override { clock_.skip(seconds); }
  void end(double epoch_s) override;

 private:
  void print();

  std::int64_t batch_size_;
  steps::StepClock clock_;
  std::size_t printed_ = 0;  ///< The step of the last line.
  double loss_ = 0;
  std::vector<double> time_s_;
};

/// The log of PyTorch's ImageNet example, with means over the steps of an epoch. Its steps have
/// observed the two percentages of `accuracy_percents`.
class TorchLog : public steps::ProgressLog {
 public:
  /// @param steps of an epoch, if it does not end early
  explicit TorchLog(std::int64_t steps) : steps_(static_cast<std::size_t>(steps)) {}

  void begin() override;
  void add(const steps::LoggedStep& step) override;
  void paused(double seconds) override { clock_.skip(seconds); }
  void end(double) override {}

 private:
  std::size_t steps_;
  int epoch_ = -1;
  steps::StepClock clock_;
  std::vector<double> time_s_, data_s_, losses_, top1_percent_, top5_percent_;
};

/// The log that the options ask for.
std::unique_ptr<steps::ProgressLog> make_progress_log(const Options& options);

/// The lines of `--mllog` that say how is trained.
void mllog_options(const Options& options);

/// Prints what `--describe` promises.
void log_description(const Options& options, const Counts& counts);

/// Prints the options that decide the result.
void log_run(const Options& options, const Counts& counts, const torch::Device& device);

/// Percentages of images whose label has the highest score, and whose label is among the five
/// highest (all, where there are fewer classes): (2), fp32.
/// @param scores (B, classes)
/// @param labels (B), int64
torch::Tensor accuracy_percents(const torch::Tensor& scores, const torch::Tensor& labels);

/// Their mean over the micro-batches of a step, for the log.
class MeanAccuracy {
 public:
  /// As of `accuracy_percents`.
  void add(const torch::Tensor& scores, const torch::Tensor& labels);
  /// Both percentages become numbers of the step, if any were added.
  void observe(steps::Trainer& trainer) const;

 private:
  torch::Tensor percents_;  // (2), summed
  int count_ = 0;
};

/// The model on its device, its weights in the order of memory that suits it.
Network build_model(const Options& options, const Architecture& architecture,
                    const torch::Device& device);

struct Scored {
  torch::Tensor loss;    ///< Mean cross-entropy.
  torch::Tensor scores;  ///< (B, classes), fp32.
};

/// @param batch `image` (B, 3, S, S) and `label` (B)
Scored score(Network& model, const steps::Batch& batch, double label_smoothing);

/// Passes images of the validation part through the model, in evaluation mode, and prints loss and
/// accuracy.
/// @param epoch from 1, for `--mllog`
/// @returns false if a signal asked a rank to end meanwhile
bool evaluate(const Options& options, const Dataset& dataset, Network& model,
              const steps::Trainer& trainer, std::int64_t epoch);

}  // namespace bench::vision
