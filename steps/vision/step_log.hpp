#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace bench::vision {

/// One line of tf_cnn_benchmarks, byte for byte, without its newline:
/// `10\timages/sec: 413.0 +/- 0.6 (jitter = 1.9)\t7.593`.
///
/// Speed is batch_size over the mean of the steps so far; behind +/- stands the standard error of
/// the speeds of single steps (deviation over n), jitter is 1.4826 times their median absolute
/// deviation, which for a normal distribution is its standard deviation.
/// @param step_s seconds of the steps up to and with this one
std::string step_line(std::int64_t batch_size, std::span<const double> step_s, double loss);

/// Heading, the lines of the first, every tenth and the last step, and the total, as
/// tf_cnn_benchmarks prints them.
/// @param epoch_s time of all steps together
/// @param losses one for each step
std::string step_table(std::int64_t batch_size, std::span<const double> step_s, double epoch_s,
                       std::span<const double> losses);

}  // namespace bench::vision
