#include "harness/quality.hpp"

#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/evaluation.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/ranks.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::steps {

void add_submission_options(CLI::App& app, SubmissionOptions& options) {
  app.add_option("--submission-org", options.organisation, "Organisation, for --mllog");
  app.add_option("--submission-platform", options.platform, "Name of the system, for --mllog")
      ->default_str("name of the device");
  app.add_option("--submission-division", options.division, "Division of MLPerf, for --mllog")
      ->check(CLI::IsMember({"closed", "open"}));
  app.add_option("--submission-status", options.status, "Status of the system, for --mllog")
      ->check(CLI::IsMember({"cloud", "onprem", "preview", "research"}));
}

void mllog_submission(Session& session, const Submission& submission,
                      const SubmissionOptions& options) {
  if (submission.synthetic)
    log_value("mlperf", "MLPerf-style, unofficial");
  const Ranks& ranks = session.find_ranks();
  const std::int64_t node_ranks = ranks.local_size.value_or(ranks.size);
  const torch::Device& device = session.device();
  mllog("submission_benchmark", submission.benchmark);
  mllog("submission_org", options.organisation);
  mllog("submission_division", options.division);
  mllog("submission_status", options.status);
  mllog("submission_platform", options.platform.empty() ? device_name(device) : options.platform);
  mllog("seed", static_cast<std::int64_t>(session.arguments().seed));
  mllog("number_of_ranks", std::int64_t{ranks.size});
  mllog("number_of_nodes", std::int64_t{ranks.size} / node_ranks);
  mllog("accelerators_per_node", device.is_cuda() ? node_ranks : 0);
  mllog("global_batch_size", submission.global_batch);
}

void mllog_samples(std::int64_t train_samples, std::int64_t eval_samples) {
  mllog("train_samples", train_samples);
  mllog("eval_samples", eval_samples);
}

namespace {

constexpr std::int64_t most_samples = std::int64_t{1} << 40;

}  // namespace

void add_quality_options(CLI::App& app, QualityOptions& options) {
  CLI::Option* const target =
      app.add_option("--target", options.target,
                     fmt::format("{} that ends the training", options.metric))
          ->check(not_negative());
  app.add_option("--eval-samples", options.eval_samples,
                 "Samples of an evaluation, in evaluation mode; 0: no evaluation")
      ->check(CLI::Range(std::int64_t{0}, most_samples));
  app.add_option("--eval-interval", options.eval_interval,
                 "Measured steps between evaluations; 0: one at the end of each epoch")
      ->check(CLI::Range(std::int64_t{0}, most_samples))
      ->needs("--eval-samples");
  target->needs("--eval-samples");
}

void check_quality_options(const CLI::App& app, const QualityOptions& options) {
  for (const char* option : {"--target", "--eval-interval"})
    if (app.count(option) > 0 && options.eval_samples == 0)
      throw UsageError(fmt::format("there is no evaluation for {}", option),
                       "give --eval-samples more than 0");
}

QualityRun::QualityRun(Session& session, const Trainer& trainer, Loop& loop, QualityOptions options,
                       std::int64_t epoch_samples)
    : session_(session),
      trainer_(trainer),
      loop_(loop),
      options_(std::move(options)),
      epoch_samples_(epoch_samples) {}

double QualityRun::epochs() const {
  return static_cast<double>(trainer_.samples()) / static_cast<double>(epoch_samples_);
}

void QualityRun::evaluate(torch::nn::Module& model,
                          std::function<std::unique_ptr<Batches>()> make_batches,
                          std::function<torch::Tensor(const Batch&)> pass) {
  if (options_.eval_samples == 0)
    return;
  loop_.after("evaluation", options_.eval_interval,
              [this, &model, make_batches = std::move(make_batches), pass = std::move(pass)] {
                if (loop_.ended_well())
                  evaluate_once(model, *make_batches(), pass);
              });
}

void QualityRun::evaluate_once(torch::nn::Module& model, Batches& batches,
                               const std::function<torch::Tensor(const Batch&)>& pass) {
  const MlMetadata epoch{{"epoch_num", loop_.epochs()}};
  mllog("eval_start", {}, epoch);
  average_running_statistics(model, session_.ranks());
  model.eval();
  const TrainingContext& context = trainer_.context();
  const EvaluationShare share{.samples = options_.eval_samples,
                              .batch_size = micro_batch_size(session_.arguments()),
                              .rank = context.ranks.rank(),
                              .ranks = context.ranks.size()};
  const auto evaluated = steps::evaluate(
      context, share, [&] { return batches.next(); },
      [&](const Batch& batch, std::int64_t count) {
        const Autocast autocast = trainer_.autocast();
        return pass(batch).narrow(0, 0, count).mean(0);  // (B, 2) -> (2)
      });
  model.train();
  if (evaluated) {
    mllog(options_.metric, evaluated->means.at(0), epoch);
    take(*evaluated);
  } else {
    loop_.set_interrupted();
  }
  mllog("eval_stop", {}, epoch);
}

void QualityRun::take(const Evaluated& evaluated) {
  const double quality = evaluated.means.at(0);
  log_value("evaluation_s", evaluated.seconds);
  log_value("evaluation_loss", evaluated.means.at(1));
  log_value(options_.metric, quality);
  evaluations_s_.push_back(evaluated.seconds);
  if (!best_ || options_.is_better(quality, *best_))
    best_ = quality;
  if (!options_.reached_by(quality))
    return;
  solution_ = {session_.training_seconds(), epochs()};
  loop_.finish();
}

void QualityRun::report() {
  const double run_s = session_.training_seconds();
  end_mllog(solution_.has_value());
  const auto devices = static_cast<double>(session_.ranks().size());
  constexpr double seconds_per_hour = 3600;
  log_value("run_s", run_s);
  log_value("compute_budget_device_hours", run_s * devices / seconds_per_hour);
  if (evaluations_s_.empty())
    return;
  const double evaluation_s = statistics(evaluations_s_).mean;
  log_value("evaluations", evaluations_s_.size());
  log_value("evaluation_mean_s", evaluation_s);
  log_value("evaluation_samples_per_second_per_device",
            static_cast<double>(options_.eval_samples) / evaluation_s / devices);
  log_value(fmt::format("best_{}", options_.metric), *best_);
  log_value(fmt::format("target_{}", options_.metric), options_.target);
  log_value("target_reached", solution_.has_value());
  if (!solution_)
    return;
  log_value("time_to_solution_s", solution_->first);
  log_value("epochs_to_solution", solution_->second);
}

}  // namespace bench::steps
