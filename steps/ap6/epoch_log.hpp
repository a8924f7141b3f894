#pragma once

#include "harness/arguments.hpp"
#include "harness/cost.hpp"
#include "harness/device.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "harness/timers.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace bench::ap6 {

/// Times a part of a step that is not one of the harness's regions.
class PartTimer {
 public:
  explicit PartTimer(const torch::Device& device) : clock_(steps::make_clock(device)) {}

  /// Calls `work`, and returns what it returns.
  template <typename Work>
  auto timed(const Work& work) {
    ++parts_;
    clock_->mark();
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      clock_->mark();
    } else {
      auto result = work();
      clock_->mark();
      return result;
    }
  }

  /// Mean time of the parts since the last call, in seconds; 0 if there were none. Waits for the
  /// device.
  double take_mean_s();

 private:
  std::unique_ptr<steps::Clock> clock_;
  std::int64_t parts_ = 0;
};

/// Names of the work aside, between the steps.
inline constexpr const char* embeddings_name = "embeddings";
inline constexpr const char* clustering_name = "clustering";

/// The lines of MAELSTROM's AP6 about each epoch, which the patterns of its benchmark match, beside
/// the lines of `StepLines`:
///
///     Cluster step time: 0.41 s
///     Starting epoch 0
///     Epoch time: 35.2 s
///     batch time avg: 1.2
///     data load time avg: 0.001
///     forward time avg: 0.4
///     loss time avg: 0.002
///     backward time avg: 0.7
///     embeddings time avg: 0.0001
///     loss avg: 2.34
///
/// An epoch begins with its clustering, which is part of its time here, but not of the harness's
/// `epoch_s`.
class EpochLog : public steps::ProgressLog {
 public:
  /// @param timers of the session; must outlive this object
  /// @param steps of the whole run
  EpochLog(const steps::Timers& timers, const torch::Device& device, std::int64_t steps,
           std::int64_t global_batch)
      : timers_(timers),
        lines_(steps, global_batch),
        loss_timer_(device),
        embeddings_timer_(device) {}

  /// The computation of the loss, in the forward pass.
  PartTimer& loss_timer() { return loss_timer_; }
  /// What keeps the features of a step.
  PartTimer& embeddings_timer() { return embeddings_timer_; }

  void begin() override;
  void add(const steps::LoggedStep& step) override;
  void paused(double seconds) override { lines_.paused(seconds); }
  void end(double epoch_s) override;

  /// Of all epochs with their clusterings.
  double training_s() const { return training_s_; }
  /// Times of these clusterings.
  const std::vector<double>& clusterings_s() const { return clusterings_s_; }

 private:
  double take_mean_s(steps::Region region);

  const steps::Timers& timers_;
  steps::StepLines lines_;
  PartTimer loss_timer_;
  PartTimer embeddings_timer_;
  std::array<std::size_t, steps::region_count> taken_{};  ///< Samples of each region so far.
  std::vector<double> losses_;                            ///< Of this epoch.
  std::vector<double> clusterings_s_;
  std::int64_t epochs_ = 0;  ///< That have begun.
  double training_s_ = 0;
};

// The results that every program prints, and the lines that the patterns of AP6's benchmark match.

/// Prints the numbers of parameters and the sizes of an epoch.
void log_run(const steps::Cost& cost, const steps::CommonArguments& arguments);

/// As `steps::report_measured`. Also prints the times of the embeddings that fill the memory banks
/// at first, and of the clusterings:
///
///     embeddings_s, clustering_min_s, clustering_mean_s, ...
void report_measured(steps::Session& session, const steps::Loop& loop, const steps::Cost& cost,
                     const EpochLog& log);

/// As `steps::report_outcome`.
int report_outcome(steps::Session& session, const steps::Loop& loop);

}  // namespace bench::ap6
