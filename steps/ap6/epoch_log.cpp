#include "ap6/epoch_log.hpp"

#include "harness/arguments.hpp"
#include "harness/cost.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/timers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::ap6 {

double PartTimer::take_mean_s() {
  clock_->wait();
  const std::int64_t parts = std::exchange(parts_, 0);
  double sum_s = 0;
  for (std::int64_t i = 0; i < parts; ++i) {
    const double begin_s = clock_->take_oldest();
    sum_s += clock_->take_oldest() - begin_s;
  }
  return parts > 0 ? sum_s / static_cast<double>(parts) : 0;
}

namespace {

double mean_of(std::span<const double> numbers, std::size_t steps) {
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  return sum / static_cast<double>(std::max<std::size_t>(steps, 1));
}

}  // namespace

void EpochLog::begin() {
  const double clustering_s = timers_.asides_s(clustering_name).back();
  clusterings_s_.push_back(clustering_s);
  fmt::print("Cluster step time: {:.6g} s\n", clustering_s);
  fmt::print("Starting epoch {}\n", epochs_++);
  losses_.clear();
  // Those of the warm-up.
  loss_timer_.take_mean_s();
  embeddings_timer_.take_mean_s();
  lines_.begin();
}

void EpochLog::add(const steps::LoggedStep& step) {
  losses_.push_back(step.result.loss);
  lines_.add(step);
}

void EpochLog::end(double epoch_s) {
  lines_.end(epoch_s);
  const double whole_s = clusterings_s_.back() + epoch_s;
  training_s_ += whole_s;
  const double loss_s = loss_timer_.take_mean_s();
  fmt::print("Epoch time: {:.6g} s\n", whole_s);
  fmt::print("batch time avg: {:.6g}\n", take_mean_s(steps::Region::batch));
  fmt::print("data load time avg: {:.6g}\n", take_mean_s(steps::Region::io));
  fmt::print("forward time avg: {:.6g}\n", take_mean_s(steps::Region::forward) - loss_s);
  fmt::print("loss time avg: {:.6g}\n", loss_s);
  fmt::print("backward time avg: {:.6g}\n", take_mean_s(steps::Region::backward));
  fmt::print("embeddings time avg: {:.6g}\n", embeddings_timer_.take_mean_s());
  fmt::print("loss avg: {:.6g}\n", mean_of(losses_, losses_.size()));
  std::fflush(stdout);  // an epoch may take an hour
}

/// Of a step since the last call, which may have several samples: encoder and prototypes have a
/// backward pass each.
double EpochLog::take_mean_s(steps::Region region) {
  const std::vector<double>& samples_s = timers_.samples_s(region);
  std::size_t& taken = taken_.at(static_cast<std::size_t>(region));
  const std::size_t first = std::exchange(taken, samples_s.size());
  return mean_of(std::span(samples_s).subspan(first), losses_.size());
}

void log_run(const steps::Cost& cost, const steps::CommonArguments& arguments) {
  fmt::print("Number of trainable parameters: {}\n", cost.trainable_parameters());
  fmt::print("Number of non-trainable parameters: {}\n", cost.non_trainable_parameters());
  fmt::print("Batch size: {}\n", arguments.batch_size);
  fmt::print("Batches per epoch: {}\n", arguments.steps_per_epoch);
}

void report_measured(steps::Session& session, const steps::Loop& loop, const steps::Cost& cost,
                     const EpochLog& log) {
  const std::int64_t global_batch = session.arguments().batch_size * session.ranks().size();
  const double embeddings_s = session.timers().asides_s(embeddings_name).back();
  fmt::print("Embeddings initialization time: {:.6g} s\n", embeddings_s);
  fmt::print("Total training time: {:.6g} s\n", log.training_s());
  steps::report_measured(session, loop, steps::reported_work(cost, global_batch));
  steps::log_value("embeddings_s", embeddings_s);
  steps::log_statistics("clustering", "s", log.clusterings_s());
}

int report_outcome(steps::Session& session, const steps::Loop& loop) {
  fmt::print("Total runtime: {:.6g} s\n", session.seconds());
  return steps::report_outcome(session, loop);
}

}  // namespace bench::ap6
