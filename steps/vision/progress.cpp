#include "vision/progress.hpp"

#include "vision/step_log.hpp"

#include <chrono>
#include <cstdio>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace bench::vision {
namespace {

/// A value and, in brackets, the mean of all up to it, in one number format.
std::string with_mean(fmt::format_string<const double&, const double&> format,
                      std::span<const double> values) {
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return fmt::format(format, values.back(), mean);
}

}  // namespace

std::string progress_line(const ProgressColumns& columns, std::size_t steps) {
  const std::size_t step = columns.time_s.size();
  for (const auto& column :
       {columns.data_s, columns.losses, columns.top1_percent, columns.top5_percent})
    if (column.size() != step)
      throw std::invalid_argument("a step that lacks one of its values");
  const std::size_t digits = std::to_string(steps).size();
  return fmt::format("Epoch: [0][{:{}}/{}]", step, digits, steps) +
         with_mean("\tTime {:6.3f} ({:6.3f})", columns.time_s) +
         with_mean("\tData {:6.3f} ({:6.3f})", columns.data_s) +
         with_mean("\tLoss {:.4e} ({:.4e})", columns.losses) +
         with_mean("\tAcc@1 {:6.2f} ({:6.2f})", columns.top1_percent) +
         with_mean("\tAcc@5 {:6.2f} ({:6.2f})\n", columns.top5_percent);
}

bool has_line(std::size_t step, std::size_t offset) {
  // What a line costs grows with the steps before it.
  const std::size_t interval = step <= 1000 ? 10 : step <= 10'000 ? 100 : 1000;
  return step == 1 || step % interval == offset;
}

void Progress::begin() {
  if (!as_torch_)
    fmt::print("{}", step_log_heading);
  std::fflush(stdout);
  last_end_ = std::chrono::steady_clock::now();
}

void Progress::add(const Step& step) {
  const auto now = std::chrono::steady_clock::now();
  time_s_.push_back(std::chrono::duration<double>(now - last_end_).count());
  last_end_ = now;
  data_s_.push_back(step.data_s);
  losses_.push_back(step.loss);
  top1_percent_.push_back(step.top1_percent);
  top5_percent_.push_back(step.top5_percent);
  if (has_line(losses_.size(), as_torch_ ? 1 : 0))
    print();
}

void Progress::print() {
  if (as_torch_)
    fmt::print("{}", progress_line({.time_s = time_s_,
                                    .data_s = data_s_,
                                    .losses = losses_,
                                    .top1_percent = top1_percent_,
                                    .top5_percent = top5_percent_},
                                   steps_));
  else
    fmt::print("{}\n", step_line(batch_size_, time_s_, losses_.back()));
  std::fflush(stdout);  // whoever waits for hours wants to see it
  printed_ = losses_.size();
}

void Progress::end(double epoch_s) {
  if (as_torch_)
    return;
  if (printed_ < losses_.size())
    print();
  const double images = static_cast<double>(batch_size_) * static_cast<double>(losses_.size());
  fmt::print("{}", step_log_total(images, epoch_s));
}

}  // namespace bench::vision
