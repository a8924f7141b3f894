#include "vision/evaluation.hpp"

#include "harness/interruption.hpp"
#include "harness/statistics.hpp"
#include "harness/timers.hpp"
#include "vision/recorder.hpp"

#include <memory>

#include <bench/energy/regions/region.hpp>

namespace bench::vision {
namespace {

bool any_rank(steps::Communicator& ranks, bool holds, const torch::Device& device) {
  const torch::Tensor sum = torch::full({}, holds ? 1.0F : 0.0F, torch::TensorOptions(device));
  ranks.all_reduce(sum).wait();
  return sum.item<float>() > 0;
}

}  // namespace

std::optional<Evaluation> evaluate(const Options& options, steps::Batches& batches, Network& model,
                                   steps::Communicator& ranks, const torch::Device& device) {
  const torch::NoGradGuard no_gradient;
  model->eval();
  const steps::Precision precision = options.common.precision();
  const auto step = [&](Recorder& recorder, const steps::Batch& batch) {
    const steps::Autocast autocast(device, precision);
    const torch::Tensor scores = model->forward(batch["image"]).to(torch::kFloat);  // (B, classes)
    recorder.record(torch::cross_entropy_loss(scores, batch["label"]), scores, batch["label"]);
  };

  Recorder discarded(true);
  const steps::Batch& first = batches.next();
  step(discarded, first);
  Recorder recorder(true);
  const std::unique_ptr<steps::Clock> clock = steps::make_clock(device);
  clock->wait();
  double seconds = 0;
  {
    const energy::Region region("evaluation");
    const std::size_t from = clock->mark();
    for (std::int64_t i = 0; i < options.eval_steps && !steps::is_interrupted(); ++i)
      step(recorder, i == 0 ? first : batches.next());
    const std::size_t to = clock->mark();
    clock->wait();
    seconds = clock->seconds_between(from, to);
  }
  // A rank that a signal asked to end has fewer batches than the others.
  if (any_rank(ranks, steps::is_interrupted(), device))
    return std::nullopt;
  const History history = recorder.read(ranks);
  const double count =
      static_cast<double>(options.global_batch()) * static_cast<double>(options.eval_steps);
  return Evaluation{.seconds = seconds,
                    .images_per_second = count / seconds,
                    .loss = steps::statistics(history.losses).mean,
                    .top1_percent = steps::statistics(history.top1_percent).mean,
                    .top5_percent = steps::statistics(history.top5_percent).mean};
}

}  // namespace bench::vision
