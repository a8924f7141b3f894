#pragma once

#include "harness/communicator.hpp"
#include "harness/device.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace bench::steps {

/// Averages running means and variances of batch normalisations over the ranks, each of which has
/// collected its own. All ranks call it, before an evaluation or a checkpoint.
void average_running_statistics(const torch::nn::Module& model, Communicator& ranks);

/// The samples of an evaluation, shared out as in training: in each step every rank has a batch.
/// The last step may have fewer samples than that.
struct EvaluationShare {
  std::int64_t samples = 1;  ///< Of all ranks, at least 1.
  std::int64_t batch_size = 1;
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  bool has_numbers = true;  ///< False if only other ranks know the numbers of these samples.

  /// Batches of each rank.
  std::int64_t steps() const;
  /// Samples in this rank's batch of a step, 0 to `batch_size`. Those behind them do not count.
  std::int64_t count(std::int64_t step) const;
};

/// Results of an evaluation, over the samples of all ranks.
struct Evaluated {
  double seconds = 0;
  std::vector<double> means;  ///< Of the numbers of each sample.
};

/// Sums the numbers of evaluated batches on the device. All ranks make the same calls.
class EvaluationSums {
 public:
  explicit EvaluationSums(const TrainingContext& context)
      : context_(context), flags_(context.device) {}
  ~EvaluationSums();
  EvaluationSums(const EvaluationSums&) = delete;
  EvaluationSums& operator=(const EvaluationSums&) = delete;

  /// @param numbers (n), means over `count` samples, the same n for each batch; their values are
  ///        ignored if `count` is 0
  void add(const torch::Tensor& numbers, std::int64_t count);

  /// Returns true if a signal asked a rank to end, or the time of one is over, on all ranks in the
  /// same call. Of several ranks that is some calls later, so that none waits for another.
  bool must_end(bool time_is_over = false);

  /// Waits for the device.
  /// @returns nothing if a signal asked a rank to end meanwhile
  std::optional<std::vector<double>> means();

 private:
  /// The sums over the ranks of two flags: a signal has come, the time is over.
  struct Asked {
    torch::Tensor flags;
    Pending sum;
  };
  Asked ask(bool time_is_over) const;

  TrainingContext context_;
  torch::Tensor sums_;  // (n + 1), fp64: of the numbers, and of the samples
  std::deque<Asked> asked_;
  LaggedNumbers flags_;  ///< Sums that are complete.
};

/// Passes batches of every rank through a model, without gradients. The first one is passed once
/// more before, which is not measured: LibTorch chooses algorithms in it. Begin and end wait for
/// the device.
/// @param next returns the next batch, which always has `batch_size` samples
/// @param pass returns the means of the wanted numbers over the first samples of a batch, (n). It
///        is called with the batch and the number of these samples. If that is 0, or the rank has
///        no numbers, it may return any.
/// @returns nothing if a signal asked a rank to end meanwhile
template <typename Next, typename Pass>
std::optional<Evaluated> evaluate(const TrainingContext& context, const EvaluationShare& share,
                                  const Next& next, const Pass& pass) {
  const torch::NoGradGuard no_gradient;
  auto batch = next();
  pass(batch, share.count(0));
  const std::unique_ptr<Clock> clock = make_clock(context.device);
  EvaluationSums sums(context);
  clock->wait();
  clock->mark();
  for (std::int64_t i = 0; i < share.steps() && !sums.must_end(); ++i) {
    if (i > 0)
      batch = next();
    sums.add(pass(batch, share.count(i)), share.has_numbers ? share.count(i) : 0);
  }
  clock->mark();
  clock->wait();
  const double begin_s = clock->take_oldest();
  const double seconds = clock->take_oldest() - begin_s;
  const auto means = sums.means();
  if (!means)
    return std::nullopt;
  return Evaluated{.seconds = seconds, .means = *means};
}

}  // namespace bench::steps
