#include "vision/progress_log.hpp"

#include "harness/statistics.hpp"

#include <stdexcept>

#include <fmt/core.h>

namespace bench::vision {
namespace {

constexpr std::size_t steps_between_lines = 10;

/// A value and, in brackets, the mean of all up to it, in one number format.
std::string with_mean(fmt::format_string<const double&, const double&> format,
                      std::span<const double> values) {
  const double mean = steps::statistics(values).mean;
  return fmt::format(format, values.back(), mean);
}

}  // namespace

std::string progress_lines(const ProgressColumns& columns) {
  const std::size_t steps = columns.time_s.size();
  for (const auto& column :
       {columns.data_s, columns.losses, columns.top1_percent, columns.top5_percent})
    if (column.size() != steps)
      throw std::invalid_argument("a step that lacks one of its values");
  const std::size_t digits = std::to_string(steps).size();
  std::string lines;
  for (std::size_t step = 1; step <= steps; step += steps_between_lines)
    lines += fmt::format("Epoch: [0][{:{}}/{}]", step, digits, steps) +
             with_mean("\tTime {:6.3f} ({:6.3f})", columns.time_s.first(step)) +
             with_mean("\tData {:6.3f} ({:6.3f})", columns.data_s.first(step)) +
             with_mean("\tLoss {:.4e} ({:.4e})", columns.losses.first(step)) +
             with_mean("\tAcc@1 {:6.2f} ({:6.2f})", columns.top1_percent.first(step)) +
             with_mean("\tAcc@5 {:6.2f} ({:6.2f})\n", columns.top5_percent.first(step));
  return lines;
}

}  // namespace bench::vision
