// ap6: trains the network of MAELSTROM's application 6 and reports how fast. See README.md.

#include "ap6/data.hpp"
#include "ap6/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/timers.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "harness/training.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap6 {
namespace {

constexpr std::int64_t default_synthetic_samples = 1024;

struct Options {
  Grid grid;
  Heads heads;
  std::int64_t frozen_steps = PrototypeTraining::default_frozen_steps;
  DatasetOptions dataset;
  steps::LoaderOptions loader;
  steps::RateSchedule schedule = default_schedule();
};

void add_options(CLI::App& app, Options& options) {
  constexpr std::int64_t most = std::int64_t{1} << 14;
  const CLI::Range side(std::int64_t{2}, most);
  app.add_option("--height", options.grid.height, "Grid points along a meridian")->check(side);
  app.add_option("--width", options.grid.width, "Grid points along a parallel")->check(side);
  app.add_option("--heads", options.heads.count, "Ways in which the samples are clustered")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 10));
  app.add_option("--clusters", options.heads.clusters, "Clusters of each head")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 20));
  app.add_option("--freeze-prototypes", options.frozen_steps,
                 "Steps in which only the clustering moves the prototypes")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--variables", options.dataset.variables,
                 "Variables of the data set, 1, 5 or 25 names with commas; 25 fields in all")
      ->delimiter(',')
      ->needs("--data-path")
      ->default_str("q,t,u,v,z");
}

/// Reads the command line, and completes what follows from it: the schedule ends with the epochs
/// that the user wants, and synthetic data sets have a size. Returns false if it asked for help.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  steps::CommonArguments& arguments = session.arguments();
  arguments.batch_size = 64;
  steps::add_batch_size_option(session.app(), arguments);
  steps::add_data_options(session.app(), options.loader);
  add_options(session.app(), options);
  steps::add_schedule_options(session.app(), options.schedule, "epochs");
  if (!session.parse(argc, argv))
    return false;
  check_dataset_options(options.dataset);
  const auto epochs = static_cast<double>(arguments.epochs);
  if (session.app().count("--lr-decay") == 0 && epochs > options.schedule.warmup)
    options.schedule.end = epochs;
  steps::check_schedule_options(session.app(), options.schedule);
  if (options.loader.path.empty() && arguments.samples_per_epoch == 0)
    arguments.samples_per_epoch = default_synthetic_samples;
  return true;
}

/// Sets the length of an epoch in steps, since it ends with a clustering also where `--steps` says
/// how many there are.
/// @param batches that were made of `sample_format`
/// @returns samples of the data set
/// @throws steps::UsageError if a step of an epoch leaves fewer features than a head has clusters
std::int64_t set_epochs(steps::Session& session, const Options& options,
                        const steps::Batches& batches) {
  steps::CommonArguments& arguments = session.arguments();
  const std::int64_t global_batch = session.global_batch();
  if (arguments.samples_per_epoch == 0) {
    arguments.samples_per_epoch = static_cast<std::int64_t>(batches.samples_per_epoch().value());
    steps::set_epoch_length(arguments, global_batch, batches.samples_per_epoch());
  }
  const std::int64_t rows = arguments.steps_per_epoch * global_batch;
  if (rows < options.heads.clusters)
    throw steps::UsageError(
        fmt::format("an epoch of {} samples is less than the {} clusters of a head", rows,
                    options.heads.clusters),
        fmt::format("use --clusters {} or less, or more samples", rows));
  return options.loader.path.empty()
             ? arguments.samples_per_epoch
             : static_cast<std::int64_t>(batches.samples_per_epoch().value());
}

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
  double take_mean_s() {
    clock_->wait();
    const std::int64_t parts = std::exchange(parts_, 0);
    double sum_s = 0;
    for (std::int64_t i = 0; i < parts; ++i) {
      const double begin_s = clock_->take_oldest();
      sum_s += clock_->take_oldest() - begin_s;
    }
    return parts > 0 ? sum_s / static_cast<double>(parts) : 0;
  }

 private:
  std::unique_ptr<steps::Clock> clock_;
  std::int64_t parts_ = 0;
};

double mean_of(std::span<const double> numbers, std::size_t steps) {
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  return sum / static_cast<double>(std::max<std::size_t>(steps, 1));
}

/// Names of the work aside, between the steps.
constexpr const char* embeddings_name = "embeddings";
constexpr const char* clustering_name = "clustering";

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

  void begin() override {
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

  void add(const steps::LoggedStep& step) override {
    losses_.push_back(step.result.loss);
    lines_.add(step);
  }

  void paused(double seconds) override { lines_.paused(seconds); }

  void end(double epoch_s) override {
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

  /// Of all epochs with their clusterings.
  double training_s() const { return training_s_; }
  /// Times of these clusterings.
  const std::vector<double>& clusterings_s() const { return clusterings_s_; }

 private:
  /// Of a step since the last call, which may have several samples: encoder and prototypes have a
  /// backward pass each.
  double take_mean_s(steps::Region region) {
    const std::vector<double>& samples_s = timers_.samples_s(region);
    std::size_t& taken = taken_.at(static_cast<std::size_t>(region));
    const std::size_t first = std::exchange(taken, samples_s.size());
    return mean_of(std::span(samples_s).subspan(first), losses_.size());
  }

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
void log_run(const steps::Cost& cost, const steps::CommonArguments& arguments) {
  fmt::print("Number of trainable parameters: {}\n", cost.trainable_parameters());
  fmt::print("Number of non-trainable parameters: {}\n", cost.non_trainable_parameters());
  fmt::print("Batch size: {}\n", arguments.batch_size);
  fmt::print("Batches per epoch: {}\n", arguments.steps_per_epoch);
}

/// As `steps::report_measured`. Also prints the times of the embeddings that fill the memory banks
/// at first, and of the clusterings:
///
///     embeddings_s, clustering_min_s, clustering_mean_s, ...
void report_measured(steps::Session& session, const steps::Loop& loop, const steps::Cost& cost,
                     const EpochLog& log) {
  const double embeddings_s = session.timers().asides_s(embeddings_name).back();
  fmt::print("Embeddings initialization time: {:.6g} s\n", embeddings_s);
  fmt::print("Total training time: {:.6g} s\n", log.training_s());
  steps::report_measured(session, loop, steps::reported_work(cost, session.global_batch()));
  steps::log_value("embeddings_s", embeddings_s);
  steps::log_statistics("clustering", "s", log.clusterings_s());
}

int train(steps::Session& session, const Options& options, const steps::Cost& cost) {
  const steps::CommonArguments& arguments = session.arguments();
  const std::int64_t global_batch = session.global_batch();
  const auto batches = steps::make_batches(
      session, options.loader,
      sample_format(options.grid, options.dataset, arguments.samples_per_epoch));
  const std::int64_t samples = set_epochs(session, options, *batches);
  log_run(cost, arguments);
  DeepCluster model(crop_of(options.grid), options.heads);
  model->prepare(session.device(), session.ranks());
  session.load_weights(*model);
  const steps::TrainerOptions training =
      trainer_options(options.schedule, arguments.samples_per_epoch, global_batch);
  steps::Trainer trainer(session.context(), *model->encoder(), training);
  PrototypeTraining prototypes(session.context(), model->prototypes(), training, trainer,
                               options.frozen_steps);
  MemoryBank bank({.batches = arguments.steps_per_epoch, .batch_size = arguments.batch_size},
                  session.device());
  Clustering clustering(options.heads, samples, arguments.seed, session.ranks(), session.device());
  const auto features_of = [&](const steps::Batch& batch) {
    const steps::Autocast autocast = trainer.autocast();
    return model->features(batch["crops"]);  // (B, 2, 25, h, w) -> (B, 2, 128)
  };
  session.timers().aside(embeddings_name, [&] {
    const torch::NoGradGuard no_gradient;
    for (std::int64_t i = 0; i < arguments.steps_per_epoch; ++i) {
      const steps::Batch& batch = batches->next();
      bank.add(batch["index"], features_of(batch));
    }
  });
  const auto update_labels = [&] { clustering.update(bank, model->prototypes()); };
  session.timers().aside(clustering_name, update_labels);

  EpochLog log(session.timers(), session.device(), arguments.steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(arguments));
  loop.after(clustering_name, 0, [&] {
    if (!loop.ended_early() && std::ssize(loop.results()) < arguments.steps)
      update_labels();
  });
  while (loop.next()) {
    const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
    const torch::Tensor labels = clustering.labels(batch["index"]);  // (B) -> (heads, B)
    torch::Tensor features;
    const torch::Tensor loss = loop.forward([&] {
      features = features_of(batch);
      return log.loss_timer().timed(
          [&] { return cluster_loss(features, model->prototypes()->weight.detach(), labels); });
    });
    loop.backward([&] { trainer.backward(loss); });
    prototypes.update(loop, features, labels);
    log.embeddings_timer().timed([&] { return bank.add(batch["index"], features.detach()); });
    loop.update();
  }
  report_measured(session, loop, cost, log);
  steps::log_loader(*batches);
  session.save_weights(*model, loop);
  fmt::print("Total runtime: {:.6g} s\n", session.seconds());
  return steps::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("ap6", "Trains the network of MAELSTROM's AP6 and reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const steps::Cost network_cost = cost(options.grid, options.heads);
  if (!steps::begin_or_describe(session, network_cost))
    return steps::exit_ok;
  return train(session, options, network_cost);
}

}  // namespace bench::ap6
