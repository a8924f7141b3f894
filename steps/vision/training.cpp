#include "vision/training.hpp"

#include "harness/cuda.hpp"
#include "harness/gradient_buckets.hpp"
#include "harness/interruption.hpp"
#include "harness/lagged_numbers.hpp"
#include "harness/mllog.hpp"
#include "harness/replay.hpp"
#include "harness/sgd.hpp"
#include "vision/progress.hpp"

#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <bench/energy/regions/region.hpp>

namespace bench::vision {
namespace {

using steps::Region;

class Training {
 public:
  Training(const Options& options, std::int64_t epoch_images, Images& images, Network& model,
           steps::Communicator& communicator, const torch::Device& device, steps::Timers& timers)
      : replay_(options.cuda_graph ? steps::make_cuda_graphs(device) : nullptr),
        images_(images),
        model_(model),
        device_(device),
        timers_(timers),
        precision_(options.common.precision()),
        schedule_(options.schedule()),
        epochs_per_step_(static_cast<double>(options.global_batch()) /
                         static_cast<double>(epoch_images)),
        optimizer_(model->parameters(), {.learning_rate = schedule_.rate(0),
                                         .momentum = options.momentum,
                                         .weight_decay = options.weight_decay}),
        recorder_(options.log_has_accuracy()),
        numbers_(device) {
    steps::broadcast_parameters(*model, communicator);
    buckets_ = std::make_unique<steps::GradientBuckets>(model->parameters(), communicator);
  }

  void step() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const Batch& batch = *timers_.timed(Region::io, [&] { return &images_.next(); });
    data_s_.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    timers_.timed(Region::forward, [&] { replay_.part(0, [&] { forward(batch); }); });
    timers_.timed(Region::backward, [&] { replay_.part(1, [&] { backward(); }); });
    timers_.timed(Region::comm, [&] { buckets_->wait(); });
    optimizer_.set_learning_rate(schedule_.rate(static_cast<double>(steps_) * epochs_per_step_));
    timers_.timed(Region::optimizer, [&] { replay_.part(2, [&] { update(); }); });
    record(batch);
    replay_.end_step();
    ++steps_;
    if (!replay_.has_recorded())
      loss_ = scores_ = torch::Tensor();  // and with them what the backward pass needed
  }

  /// Whether a loss is known to be lost, or a signal has come; all ranks know the same.
  bool has_ended() const { return diverged_ || interrupted_; }

  /// The newest step of which everything is known and was not told before, if there is one.
  std::optional<Progress::Step> newly_known() { return look_at(std::exchange(known_, {})); }
  /// The same of those that the device is still at, one after the other; waits for it.
  std::optional<Progress::Step> last_known() { return look_at(numbers_.take()); }

  History history(steps::Communicator& communicator) const {
    History history = recorder_.read(communicator);
    history.interrupted = interrupted_;
    return history;
  }

 private:
  void forward(const Batch& batch) {
    const steps::Autocast autocast(device_, precision_);
    scores_ = model_->forward(batch.images).to(torch::kFloat);
    loss_ = torch::cross_entropy_loss(scores_, batch.labels);
  }

  void backward() {
    buckets_->average(loss_, steps::is_interrupted());
    const double scale = steps::loss_scale(precision_);
    (scale == 1.0 ? loss_ : loss_ * scale).backward();
  }

  void update() {
    optimizer_.step(1.0 / steps::loss_scale(precision_));
    optimizer_.release_gradients();
  }

  void record(const Batch& batch) {
    const torch::Tensor loss = replay_.kept(buckets_->average_number());
    recorder_.record(loss, scores_, batch.labels);
    const std::optional<torch::Tensor> flag = buckets_->any_flag();
    std::vector<torch::Tensor> numbers{loss, flag.value_or(torch::zeros({}))};
    for (const torch::Tensor& percent : recorder_.newest_percents())
      numbers.push_back(percent);
    known_ = numbers_.add(numbers);
    // One rank alone need not wait for the next step to know of a signal.
    interrupted_ = interrupted_ || (!flag && steps::is_interrupted());
  }

  std::optional<Progress::Step> look_at(const std::optional<std::vector<double>>& numbers) {
    if (!numbers)
      return std::nullopt;
    diverged_ = diverged_ || !std::isfinite(numbers->at(0));
    interrupted_ = interrupted_ || numbers->at(1) > 0;
    const Progress::Step step{.loss = numbers->at(0),
                              .data_s = data_s_.front(),
                              .top1_percent = numbers->size() > 2 ? numbers->at(2) : 0,
                              .top5_percent = numbers->size() > 2 ? numbers->at(3) : 0};
    data_s_.pop_front();
    return step;
  }

  steps::Replay replay_;  // first: all that follows works on its stream
  Images& images_;
  Network& model_;
  torch::Device device_;
  steps::Timers& timers_;
  steps::Precision precision_;
  steps::RateSchedule schedule_;
  double epochs_per_step_;
  steps::Sgd optimizer_;
  std::unique_ptr<steps::GradientBuckets> buckets_;
  Recorder recorder_;
  steps::LaggedNumbers numbers_;  ///< Of each step loss and flag, and where shown the shares.
  std::optional<std::vector<double>> known_;  ///< Of a step that was not told yet.
  std::deque<double> data_s_;                 ///< Of the steps that are not known yet.
  std::int64_t steps_ = 0;
  bool diverged_ = false;
  bool interrupted_ = false;
  torch::Tensor scores_;  // (B, classes)
  torch::Tensor loss_;
};

}  // namespace

History train(const Options& options, std::int64_t epoch_images, Images& images, Network& model,
              steps::Communicator& communicator, const torch::Device& device,
              steps::Timers& timers) {
  Training training(options, epoch_images, images, model, communicator, device, timers);
  {
    const energy::Region warmup("warmup");
    for (std::int64_t i = 0; i < options.common.warmup && !training.has_ended(); ++i) {
      training.step();
      training.newly_known();
    }
    while (training.last_known())
      continue;
    if (training.has_ended())
      return training.history(communicator);
    timers.wait();
  }
  timers.begin_epoch();
  steps::mllog("epoch_start", {}, {{"epoch_num", 1}});
  Progress progress(options.log_has_accuracy(), options.common.steps, options.global_batch());
  progress.begin();
  const auto tell = [&](const std::optional<Progress::Step>& step) {
    if (step)
      progress.add(*step);
    return step.has_value();
  };
  for (std::int64_t i = 0; i < options.common.steps && !training.has_ended(); ++i) {
    timers.timed(Region::batch, [&] { training.step(); });
    tell(training.newly_known());
  }
  timers.end_epoch();
  while (tell(training.last_known()))
    continue;
  steps::mllog("epoch_stop", {}, {{"epoch_num", 1}});
  progress.end(timers.samples_s(Region::epoch).front());
  return training.history(communicator);
}

}  // namespace bench::vision
