#pragma once

#include "harness/batches.hpp"
#include "harness/evaluation.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace bench::steps {

/// What MLPerf HPC's rules want to know of a run beside its training. Keys and values are those of
/// its compliance checker, round 3.0: github.com/mlcommons/logging,
/// mlperf_logging/compliance_checker/hpc_3.0.0.
struct SubmissionOptions {
  std::string organisation = "MLPerf-style, unofficial";
  std::string platform;             ///< Empty: the name of the device.
  std::string division = "open";    ///< open, closed.
  std::string status = "research";  ///< cloud, onprem, preview, research.
};

/// Adds `--submission-org`, `--submission-platform`, `--submission-division` and
/// `--submission-status`.
void add_submission_options(CLI::App& app, SubmissionOptions& options);

/// What the rules call the run.
struct Submission {
  std::string benchmark;  ///< `cosmoflow`, `deepcam`
  std::int64_t global_batch = 1;
  bool synthetic = true;  ///< Then nothing of it can be official, and it says so.
};

/// Prints the batch size, and the first lines of `--mllog` after `init_start`: who runs what, seed,
/// ranks and devices, and the global batch size. To be called after `Session::begin`.
void mllog_submission(Session& session, const Submission& submission,
                      const SubmissionOptions& options);

/// Prints the sizes of the data set, the last lines of `--mllog` before `init_stop`.
void mllog_samples(std::int64_t train_samples, std::int64_t eval_samples);

/// The quality that a training is for: it ends as soon as an evaluation reaches it, as MLPerf's
/// rules have it.
struct QualityOptions {
  std::string metric;            ///< MLPerf's key: `eval_error`, `eval_accuracy`.
  bool lower_is_better = false;  ///< An error.
  double target = 0;
  std::int64_t eval_samples = 0;   ///< Of an evaluation; 0: none.
  std::int64_t eval_interval = 0;  ///< Measured steps between evaluations; 0: an epoch.

  bool reached_by(double quality) const {
    return lower_is_better ? quality <= target : quality >= target;
  }
  /// Every quality is better than NaN, that of a network that is lost.
  bool is_better(double quality, double than) const {
    if (std::isnan(than))
      return true;
    return lower_is_better ? quality < than : quality > than;
  }
};

/// Adds `--target`, `--eval-samples` and `--eval-interval`.
/// @param options holds metric, direction and defaults, and afterwards what the user wrote
void add_quality_options(CLI::App& app, QualityOptions& options);

/// @throws UsageError if an option is for evaluations, and there are none
void check_quality_options(const CLI::App& app, const QualityOptions& options);

/// Evaluates a model while it is trained, and ends the training at its target.
///
///     QualityRun quality(session, trainer, loop, options, samples_per_epoch);
///     quality.evaluate(*model, make_batches, qualities_and_losses);
///     while (loop.next()) ...
///     quality.report();
class QualityRun {
 public:
  /// All must outlive this object.
  /// @param epoch_samples samples of an epoch
  QualityRun(Session& session, const Trainer& trainer, Loop& loop, QualityOptions options,
             std::int64_t epoch_samples);

  /// From now on evaluates the model after each interval of the options, in evaluation mode. Prints
  /// the mean quality and loss, and the lines of `--mllog`.
  /// @param make_batches of the samples of an evaluation, from the first on
  /// @param pass returns quality and loss of each sample of a batch, (B, 2)
  void evaluate(torch::nn::Module& model, std::function<std::unique_ptr<Batches>()> make_batches,
                std::function<torch::Tensor(const Batch&)> pass);

  /// Ends MLPerf's run, and prints what MLPerf HPC's paper reports of one (Farrell et al., MLPerf
  /// HPC: A Holistic Benchmark Suite for Scientific Machine Learning on HPC Systems,
  /// arXiv:2110.11466, section 4):
  ///
  ///     run_s                          from the start of the training, evaluations included
  ///     compute_budget_device_hours    of that time on all devices
  ///     evaluations, best_<metric>, target_<metric>, target_reached (with evaluations)
  ///     evaluation_samples_per_second_per_device, evaluation_mean_s
  ///     time_to_solution_s, epochs_to_solution (if the target was reached)
  void report();

 private:
  void evaluate_once(torch::nn::Module& model, Batches& batches,
                     const std::function<torch::Tensor(const Batch&)>& pass);
  void take(const Evaluated& evaluated);
  double epochs() const;  ///< Trained so far, warm-up included.

  Session& session_;
  const Trainer& trainer_;
  Loop& loop_;
  QualityOptions options_;
  std::int64_t epoch_samples_;
  std::vector<double> evaluations_s_;
  std::optional<double> best_;
  /// Seconds of training and epochs at which the target was reached.
  std::optional<std::pair<double, double>> solution_;
};

}  // namespace bench::steps
