#include "vision/training.hpp"

#include "harness/cuda.hpp"
#include "harness/gradient_buckets.hpp"
#include "harness/loss_watch.hpp"
#include "harness/mllog.hpp"
#include "harness/replay.hpp"
#include "harness/sgd.hpp"

#include <memory>

#include <bench/energy/region.hpp>

namespace bench::vision {
namespace {

using steps::Region;

class Training {
 public:
  Training(const Options& options, Images& images, Network& model,
           steps::Communicator& communicator, const torch::Device& device, steps::Timers& timers)
      : replay_(options.cuda_graph ? steps::make_cuda_graphs(device) : nullptr),
        images_(images),
        model_(model),
        device_(device),
        timers_(timers),
        precision_(options.common.precision()),
        optimizer_(model->parameters(), {.learning_rate = options.learning_rate(),
                                         .momentum = options.momentum,
                                         .weight_decay = options.weight_decay}),
        recorder_(options.log_has_accuracy()),
        watch_(device) {
    steps::broadcast_parameters(*model, communicator);
    buckets_ = std::make_unique<steps::GradientBuckets>(model->parameters(), communicator);
  }

  void step() {
    const Batch& batch = *timers_.timed(Region::io, [&] { return &images_.next(); });
    timers_.timed(Region::forward, [&] { replay_.part(0, [&] { forward(batch); }); });
    timers_.timed(Region::backward, [&] { replay_.part(1, [&] { backward(); }); });
    timers_.timed(Region::comm, [&] { buckets_->wait(); });
    timers_.timed(Region::optimizer, [&] { replay_.part(2, [&] { update(); }); });
    const torch::Tensor loss = replay_.kept(buckets_->average_number());
    recorder_.record(loss, scores_, batch.labels);
    watch_.add(loss);
    replay_.end_step();
    if (!replay_.has_recorded())
      loss_ = scores_ = torch::Tensor();  // and with them what the backward pass needed
  }

  /// Whether a loss is known to be lost; all ranks know of the same ones.
  bool has_diverged() const { return watch_.has_diverged(); }

  const Recorder& recorder() const { return recorder_; }

 private:
  void forward(const Batch& batch) {
    const steps::Autocast autocast(device_, precision_);
    scores_ = model_->forward(batch.images).to(torch::kFloat);
    loss_ = torch::cross_entropy_loss(scores_, batch.labels);
  }

  void backward() {
    buckets_->average(loss_);
    const double scale = steps::loss_scale(precision_);
    (scale == 1.0 ? loss_ : loss_ * scale).backward();
  }

  void update() {
    optimizer_.step(1.0 / steps::loss_scale(precision_));
    optimizer_.release_gradients();
  }

  steps::Replay replay_;  // first: all that follows works on its stream
  Images& images_;
  Network& model_;
  torch::Device device_;
  steps::Timers& timers_;
  steps::Precision precision_;
  steps::Sgd optimizer_;
  std::unique_ptr<steps::GradientBuckets> buckets_;
  Recorder recorder_;
  steps::LossWatch watch_;
  torch::Tensor scores_;  // (B, classes)
  torch::Tensor loss_;
};

}  // namespace

History train(const Options& options, Images& images, Network& model,
              steps::Communicator& communicator, const torch::Device& device,
              steps::Timers& timers) {
  Training training(options, images, model, communicator, device, timers);
  {
    const energy::Region warmup("warmup");
    for (std::int64_t i = 0; i < options.common.warmup && !training.has_diverged(); ++i)
      training.step();
    if (training.has_diverged())
      return training.recorder().read(communicator);
    timers.begin_epoch();
  }
  steps::mllog("epoch_start", {}, {{"epoch_num", 1}});
  for (std::int64_t i = 0; i < options.common.steps && !training.has_diverged(); ++i)
    timers.timed(Region::batch, [&] { training.step(); });
  timers.end_epoch();
  steps::mllog("epoch_stop", {}, {{"epoch_num", 1}});
  return training.recorder().read(communicator);
}

}  // namespace bench::vision
