#include "ap6/epoch_log.hpp"

#include "harness/progress_log.hpp"
#include "harness/timers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::ap6 {
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

}  // namespace bench::ap6
