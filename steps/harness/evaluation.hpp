#pragma once

#include "harness/clock.hpp"
#include "harness/interruption.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace bench::steps {

/// Results of an evaluation, over the samples of all ranks.
struct Evaluated {
  double seconds = 0;
  std::vector<double> means;  ///< Of the numbers of each batch.
};

/// Sums the numbers of evaluated batches on the device.
class EvaluationSums {
 public:
  /// @param numbers (n), the same n for each batch
  void add(const torch::Tensor& numbers);
  /// Waits for the device. All ranks call it.
  /// @param steps batches of each rank
  /// @returns nothing if a signal asked a rank to end meanwhile: it then has fewer batches
  std::optional<std::vector<double>> means(const TrainingContext& context,
                                           std::int64_t steps) const;

 private:
  torch::Tensor sums_;  // (n), fp64
};

/// Passes batches of every rank through a model, without gradients. The first one is passed once
/// more before, which is not measured: LibTorch chooses algorithms in it. Begin and end wait for
/// the device.
/// @param steps batches of each rank, at least one
/// @param next returns the next batch
/// @param pass returns the numbers of a batch whose means are wanted, (n)
/// @returns nothing if a signal asked a rank to end meanwhile
template <typename Next, typename Pass>
std::optional<Evaluated> evaluate(const TrainingContext& context, std::int64_t steps,
                                  const Next& next, const Pass& pass) {
  const torch::NoGradGuard no_gradient;
  auto batch = next();
  pass(batch);
  const std::unique_ptr<Clock> clock = make_clock(context.device);
  EvaluationSums sums;
  clock->wait();
  clock->mark();
  for (std::int64_t i = 0; i < steps && !is_interrupted(); ++i) {
    if (i > 0)
      batch = next();
    sums.add(pass(batch));
  }
  clock->mark();
  clock->wait();
  const double begin_s = clock->take_oldest();
  const double seconds = clock->take_oldest() - begin_s;
  const auto means = sums.means(context, steps);
  if (!means)
    return std::nullopt;
  return Evaluated{.seconds = seconds, .means = *means};
}

}  // namespace bench::steps
