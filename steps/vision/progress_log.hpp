#pragma once

#include <span>
#include <string>

namespace bench::vision {

/// What the columns of the log show, one value for each step.
struct ProgressColumns {
  std::span<const double> time_s;  ///< Of the whole step, in which it waits `data_s` for its batch.
  std::span<const double> data_s;
  std::span<const double> losses;
  std::span<const double> top1_percent;
  std::span<const double> top5_percent;
};

/// The progress of one epoch as the ImageNet example of PyTorch prints it: the first and every
/// tenth step after it, each value followed by the mean of the steps so far:
/// `Epoch: [0][ 11/100]\tTime  0.123 ( 0.456)\tData  0.000 ( 0.001)\tLoss 6.9e+00 (7.0e+00)\t...`,
/// with four digits behind the point of the loss, then `Acc@1` and `Acc@5` in percent.
std::string progress_lines(const ProgressColumns& columns);

}  // namespace bench::vision
