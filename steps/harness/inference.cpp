#include "harness/inference.hpp"

#include "data/field_samples.hpp"
#include "data/fields.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/evaluation.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/program.hpp"
#include "harness/session.hpp"
#include "harness/timers.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::steps {

torch::Tensor of_all_ranks(Session& session, const std::vector<double>& samples) {
  const torch::Tensor own = torch::tensor(samples, torch::kDouble).to(session.device());
  return session.ranks().all_gather(own).to(torch::kCPU);
}

void log_latency(const std::string& name, const torch::Tensor& samples_s) {
  const std::vector<double> samples = numbers_of(samples_s.flatten());
  const Statistics s = statistics(samples);
  log_value(name + "_min_s", s.min);
  log_value(name + "_mean_s", s.mean);
  for (const int percent : {50, 95, 99})
    log_value(fmt::format("{}_p{}_s", name, percent), quantile(samples, percent / 100.0));
  log_value(name + "_max_s", s.max);
}

namespace {

constexpr const char* options_of_training_alone[] = {
    "--profile",     "--save-weights", "--mllog",         "--micro-batches", "--eval-interval",
    "--eval-epochs", "--eval-samples", "--eval-path",     "--learning-rate", "--lr-warmup",
    "--lr-first",    "--lr-schedule",  "--lr-milestones", "--lr-factor",     "--lr-decay-start",
    "--lr-decay",    "--lr-end",       "--lr-power"};

/// Batches of this rank until its samples come again.
std::int64_t batches_per_pass(const Session& session, const FieldSource& source,
                              const BatchShare& share) {
  const CommonArguments& arguments = session.arguments();
  const auto samples = static_cast<std::int64_t>(source.samples());
  const std::int64_t all = (samples + share.global_batch() - 1) / share.global_batch();
  return arguments.epochs > 0 ? all : std::min(all, arguments.steps);
}

/// Keeps this rank's samples in memory.
std::shared_ptr<const FieldSource> read_all(Session& session, const LoaderOptions& options,
                                            const std::shared_ptr<const FieldSource>& source) {
  const auto kept = std::make_shared<SampleCache>(source);
  const BatchShare share{.batch_size = session.arguments().batch_size,
                         .rank = session.ranks().rank(),
                         .ranks = session.ranks().size()};
  const int threads = loader_threads(options, session.find_ranks(), session.device());
  BatchLoader loader(field_makers(kept, std::nullopt, threads),
                     {.share = share, .prefetch = options.prefetch});
  for (std::int64_t i = batches_per_pass(session, *source, share); i > 0; --i)
    loader.next();
  return kept;
}

/// The samples to pass. Each `batches` begins with the first of them.
class Samples {
 public:
  Samples(Session& session, const LoaderOptions& options, const SampleFormat& format)
      : session_(session), options_(options), format_(format) {
    if (options.path.empty())
      log_value("dataset", "synthetic_" + options.synthetic);
    else
      source_ = open_data(session, options, format);
    if (options.cache)
      source_ = read_all(session, options, source_);
  }

  std::unique_ptr<Batches> batches() const {
    return evaluation_batches(session_, options_, format_, source_);
  }

 private:
  Session& session_;
  const LoaderOptions& options_;
  const SampleFormat& format_;
  std::shared_ptr<const FieldSource> source_;  ///< Empty: synthetic samples.
};

/// This rank's share of the samples of an evaluation: those of an epoch, or of all steps if the run
/// has no epochs.
EvaluationShare share_of(Session& session, std::int64_t global_batch) {
  const CommonArguments& arguments = session.arguments();
  return {.samples = arguments.steps_per_epoch > 0 ? arguments.samples_per_epoch
                                                   : arguments.steps * global_batch,
          .batch_size = arguments.batch_size,
          .rank = session.ranks().rank(),
          .ranks = session.ranks().size()};
}

/// Batches that are passed through the network, and what they gave.
class Passes {
 public:
  /// @param batches the first of which is `first`
  Passes(Session& session, const Samples& samples, std::unique_ptr<Batches> batches,
         const Batch& first, const EvaluationShare& share,
         const std::function<torch::Tensor(const Batch&)>& loss_of)
      : session_(session),
        samples_(samples),
        batches_(std::move(batches)),
        first_(&first),
        share_(share),
        loss_of_(loss_of),
        losses_(session.context()) {}

  /// The first batch, before it is measured.
  void warm_up() {
    session_.timers().aside("warmup", [&] {
      for (std::int64_t i = 0; i < session_.arguments().warmup && !is_interrupted(); ++i)
        loss_of_(*first_);
    });
  }

  void run() {
    begin_ = std::chrono::steady_clock::now();
    for (const std::int64_t steps = session_.arguments().steps; steps_ < steps && !ended_;) {
      session_.timers().begin_epoch();
      if (steps_ > 0)
        batches_ = samples_.batches();
      for (std::int64_t i = 0; i < share_.steps() && steps_ < steps && !ended_; ++i)
        pass(i);
      session_.timers().end_epoch();
    }
  }

  std::int64_t steps() const { return steps_; }
  std::int64_t whole_epochs() const { return steps_ / share_.steps(); }
  std::int64_t samples() const { return passed_; }  ///< Of all ranks.
  /// Of all samples; nothing after a signal.
  std::optional<double> mean_loss() {
    const auto means = losses_.means();
    return means ? std::optional(means->at(0)) : std::nullopt;
  }
  void log_loader() const { steps::log_loader(*batches_); }

 private:
  void pass(std::int64_t step) {
    Timers& timers = session_.timers();
    const std::int64_t count = share_.count(step);
    timers.begin_batch();
    const Batch* batch = std::exchange(first_, nullptr);
    if (!batch)
      batch = timers.timed(Region::io, [&] { return &batches_->next(); });
    const torch::Tensor loss =
        count > 0 ? timers.timed(Region::forward, [&] { return loss_of_(batch->first(count)); })
                  : torch::zeros({1}, torch::TensorOptions(session_.device()));
    losses_.add(loss.reshape({1}), count);
    timers.end_batch();
    ++steps_;
    const std::int64_t at_once = share_.batch_size * share_.ranks;
    passed_ += std::min(at_once, share_.samples - step * at_once);
    ended_ = losses_.must_end(time_is_over());
  }

  bool time_is_over() const {
    const std::chrono::duration<double> most(session_.arguments().time_limit_s);
    return most.count() > 0 && std::chrono::steady_clock::now() - begin_ >= most;
  }

  Session& session_;
  const Samples& samples_;
  std::unique_ptr<Batches> batches_;
  const Batch* first_;
  EvaluationShare share_;
  const std::function<torch::Tensor(const Batch&)>& loss_of_;
  EvaluationSums losses_;
  std::chrono::steady_clock::time_point begin_;
  std::int64_t steps_ = 0;
  std::int64_t passed_ = 0;
  bool ended_ = false;
};

double sum(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0);
}

/// Of the rank with the largest.
double most(Session& session, double number) {
  return of_all_ranks(session, {number}).max().item<double>();
}

void report(Session& session, const Passes& passes, const ReportedWork& work) {
  const Timers& timers = session.timers();
  const double loading_s = most(session, sum(timers.asides_s("data_loading")));
  const double inference_s = most(session, sum(timers.samples_s(Region::epoch)));
  const double wait_s = most(session, sum(timers.samples_s(Region::io)));
  const auto samples = static_cast<double>(passes.samples());
  log_value("measured_steps", passes.steps());
  log_value("inference_samples", passes.samples());
  log_value("inference_s", inference_s);
  log_epochs(timers, passes.whole_epochs());
  log_value("data_wait_s", wait_s);
  log_value("data_loading_percent", 100 * (loading_s + wait_s) / (loading_s + inference_s));
  log_latency("time_per_batch", of_all_ranks(session, timers.samples_s(Region::batch)));
  log_value("time_per_sample_s", inference_s / samples);
  log_statistics("io", "s", timers.samples_s(Region::io));
  log_statistics("forward", "s", timers.samples_s(Region::forward));
  log_rates(session, work, samples / inference_s);
}

}  // namespace

void add_inference_option(CLI::App& app, bool& enabled) {
  CLI::Option* const inference = app.add_flag(
      "--inference", enabled,
      "Only pass the samples forward through the network, without training it: all of them once "
      "with --epochs 1, in the order of the files");
  for (const char* name : options_of_training_alone)
    if (CLI::Option* const option = app.get_option_no_throw(name))
      inference->excludes(option);
}

ReportedWork inference_work(Session& session, const Cost& cost, const std::string& unit) {
  ReportedWork work = reported_work(cost, session.global_batch(), unit);
  work.flops_per_sample = 2 * static_cast<double>(cost.forward_macs_per_sample());
  return work;
}

int run_inference(Session& session, const LoaderOptions& options, const SampleFormat& format,
                  torch::nn::Module& model, const ReportedWork& work,
                  const std::function<torch::Tensor(const Batch&)>& loss_of) {
  CommonArguments& arguments = session.arguments();
  log_value("mode", "inference");
  log_value("weights", arguments.load_weights.empty() ? "initial" : arguments.load_weights);
  log_value("model_loading_s", most(session, sum(session.timers().asides_s("model_loading"))));
  std::optional<Samples> samples;
  std::unique_ptr<Batches> batches;
  const Batch* first = nullptr;
  session.timers().aside("data_loading", [&] {
    samples.emplace(session, options, format);
    batches = samples->batches();
    first = &batches->next();
  });
  log_value("data_loading_s", most(session, sum(session.timers().asides_s("data_loading"))));
  log_value("batch_size", arguments.batch_size);
  log_value("global_batch_size", work.global_batch);
  set_epoch_length(arguments, work.global_batch, batches->samples_per_epoch());
  loop_options(arguments);  // which refuses epochs without a length

  const torch::NoGradGuard no_gradient;
  model.eval();
  session.start_training();
  Passes passes(session, *samples, std::move(batches), *first, share_of(session, work.global_batch),
                loss_of);
  passes.warm_up();
  reset_peak_memory(session.device());
  passes.run();
  const auto loss = passes.mean_loss();
  if (loss && !std::isfinite(*loss))
    throw HintedError("the loss of what the network predicts is not finite",
                      "try --precision bf16 or fp32, other weights, or data without gaps");
  report(session, passes, work);
  if (loss)
    log_value("inference_loss", *loss);
  passes.log_loader();
  session.write_timings();
  std::fflush(stdout);
  return report_outcome(session, !loss);
}

}  // namespace bench::steps
