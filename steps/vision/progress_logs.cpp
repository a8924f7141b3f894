#include "vision/progress_logs.hpp"

#include "harness/progress_log.hpp"
#include "vision/options.hpp"
#include "vision/step_log.hpp"

#include <cstdio>
#include <iterator>
#include <memory>
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

std::string progress_line(const ProgressColumns& columns, std::size_t steps, int epoch) {
  const std::size_t step = columns.time_s.size();
  for (const auto& column :
       {columns.data_s, columns.losses, columns.top1_percent, columns.top5_percent})
    if (column.size() != step)
      throw std::invalid_argument("a step that lacks one of its values");
  const std::size_t digits = std::to_string(steps).size();
  return fmt::format("Epoch: [{}][{:{}}/{}]", epoch, step, digits, steps) +
         with_mean("\tTime {:6.3f} ({:6.3f})", columns.time_s) +
         with_mean("\tData {:6.3f} ({:6.3f})", columns.data_s) +
         with_mean("\tLoss {:.4e} ({:.4e})", columns.losses) +
         with_mean("\tAcc@1 {:6.2f} ({:6.2f})", columns.top1_percent) +
         with_mean("\tAcc@5 {:6.2f} ({:6.2f})\n", columns.top5_percent);
}

void TfCnnLog::begin() {
  fmt::print("{}", step_log_heading);
  std::fflush(stdout);
  time_s_.clear();
  printed_ = 0;
  clock_.begin();
}

void TfCnnLog::add(const steps::LoggedStep& step) {
  time_s_.push_back(clock_.take_s());
  loss_ = step.result.loss;
  if (steps::has_line(std::ssize(time_s_)))
    print();
}

void TfCnnLog::print() {
  fmt::print("{}\n", step_line(batch_size_, time_s_, loss_));
  std::fflush(stdout);  // whoever waits for hours wants to see it
  printed_ = time_s_.size();
}

void TfCnnLog::end(double epoch_s) {
  if (printed_ < time_s_.size())
    print();
  fmt::print("{}",
             step_log_total(static_cast<double>(batch_size_) * static_cast<double>(time_s_.size()),
                            epoch_s));
}

void TorchLog::begin() {
  ++epoch_;
  for (auto* column : {&time_s_, &data_s_, &losses_, &top1_percent_, &top5_percent_})
    column->clear();
  clock_.begin();
}

void TorchLog::add(const steps::LoggedStep& step) {
  time_s_.push_back(clock_.take_s());
  data_s_.push_back(step.io_s);
  losses_.push_back(step.result.loss);
  top1_percent_.push_back(step.result.observed.at(0));
  top5_percent_.push_back(step.result.observed.at(1));
  if (!steps::has_line(std::ssize(time_s_), 1))
    return;
  fmt::print("{}", progress_line({.time_s = time_s_,
                                  .data_s = data_s_,
                                  .losses = losses_,
                                  .top1_percent = top1_percent_,
                                  .top5_percent = top5_percent_},
                                 steps_, epoch_));
  std::fflush(stdout);  // whoever waits for hours wants to see it
}

std::unique_ptr<steps::ProgressLog> make_progress_log(const Options& options) {
  if (options.log_has_accuracy())
    return std::make_unique<TorchLog>(
        options.common.steps_per_epoch > 0 ? options.common.steps_per_epoch : options.common.steps);
  return std::make_unique<TfCnnLog>(options.global_batch());
}

}  // namespace bench::vision
