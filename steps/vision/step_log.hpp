#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace bench::vision {

/// The log of tf_cnn_benchmarks, byte for byte: the heading, a line for some of the steps, the
/// total.

inline constexpr const char* step_log_heading = "Step\tImg/sec\ttotal_loss\n";

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

}  // namespace bench::vision
