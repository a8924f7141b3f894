#include "vision/step_log.hpp"

#include "harness/statistics.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::vision {
namespace {

double median_absolute_deviation(const std::vector<double>& values) {
  const double middle = steps::median(values);
  std::vector<double> distances;
  for (const double value : values)
    distances.push_back(std::abs(value - middle));
  return steps::median(distances);
}

}  // namespace

std::string step_line(std::int64_t batch_size, std::span<const double> step_s, double loss) {
  const auto images = static_cast<double>(batch_size);
  const auto count = static_cast<double>(step_s.size());
  std::vector<double> speeds;
  for (const double seconds : step_s)
    speeds.push_back(images / seconds);
  const double speed = images / steps::statistics(step_s).mean;
  // Numpy's std divides by n where ours divides by n - 1.
  const double deviation =
      steps::statistics(speeds).standard_deviation * std::sqrt((count - 1) / count);
  return fmt::format("{}\timages/sec: {:.1f} +/- {:.1f} (jitter = {:.1f})\t{:.3f}", step_s.size(),
                     speed, deviation / std::sqrt(count),
                     1.4826 * median_absolute_deviation(speeds), loss);
}

std::string step_log_total(double images, double epoch_s) {
  const std::string rule(64, '-');
  return fmt::format("{}\ntotal images/sec: {:.2f}\n{}\n", rule, images / epoch_s, rule);
}

}  // namespace bench::vision
