#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::vision {

/// What the columns of the log of PyTorch's ImageNet example show, one value for each step so far.
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
std::string progress_line(const ProgressColumns& columns, std::size_t steps);

/// Whether the log has a line for this step, counted from 1: for the first, each tenth, beyond
/// 1,000 each hundredth, and beyond 10,000 each thousandth.
/// @param offset of all lines behind the first, 0 or 1: 10, 20, ... or 11, 21, ...
bool has_line(std::size_t step, std::size_t offset);

/// Prints the measured steps while they are done, as tf_cnn_benchmarks or as PyTorch's ImageNet
/// example does. Their times are those between their ends as the host sees them.
class Progress {
 public:
  /// What is known of a step when it has ended.
  struct Step {
    double loss;
    double data_s;
    double top1_percent;  ///< This and the next only where the log shows them.
    double top5_percent;
  };

  /// @param as_torch the log of PyTorch's ImageNet example
  /// @param steps of the epoch, if it does not end early
  /// @param batch_size images of a step
  Progress(bool as_torch, std::int64_t steps, std::int64_t batch_size)
      : as_torch_(as_torch), steps_(static_cast<std::size_t>(steps)), batch_size_(batch_size) {}

  /// The first step begins.
  void begin();
  /// A step has ended.
  void add(const Step& step);
  /// The last one was the last.
  void end(double epoch_s);

 private:
  void print();

  bool as_torch_;
  std::size_t steps_;
  std::int64_t batch_size_;
  std::chrono::steady_clock::time_point last_end_;
  std::size_t printed_ = 0;  ///< Steps up to and with the last line's.
  std::vector<double> time_s_, data_s_, losses_, top1_percent_, top5_percent_;
};

}  // namespace bench::vision
