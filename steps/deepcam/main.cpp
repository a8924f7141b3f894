// deepcam: trains the network of MLPerf HPC's DeepCAM and reports how fast. See README.md.

#include "deepcam/network.hpp"
#include "deepcam/options.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/quality.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>

namespace bench::deepcam {
namespace {

int train(steps::Session& session, const Options& options, const steps::Cost& cost,
          steps::FieldData& data) {
  const steps::CommonArguments& arguments = session.arguments();
  const std::int64_t global_batch = arguments.batch_size * session.ranks().size();
  steps::mllog_submission(session, {"deepcam", global_batch, data.is_synthetic()},
                          options.submission);
  log_options(options, arguments);
  data.open(session, options.quality.eval_samples);
  const std::int64_t epoch_samples = data.epoch_samples();
  steps::mllog_samples(epoch_samples, options.quality.eval_samples);
  DeepLab model;
  model->to(session.device());
  if (session.device().is_cuda())
    model->use_channels_last();
  const torch::Tensor weights = class_weights(session.device());
  session.load_weights(*model);
  if (const auto range = options.value_range())  // of this data set, not of that of the weights
    model->set_value_range(*range);
  steps::Trainer trainer(session.context(), *model,
                         trainer_options(options, arguments, global_batch));

  steps::StepLines log(arguments.steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(arguments));
  steps::QualityRun quality(session, trainer, loop, options.quality, epoch_samples);
  quality.evaluate(
      *model, [&] { return data.validation_batches(session); },
      [&](const steps::Batch& batch) {
        const torch::Tensor scores = model->forward(batch["data"]);
        return torch::stack({intersections_over_unions(scores, batch["labels"]),
                             cross_entropies(scores, batch["labels"], weights).to(torch::kDouble)},
                            1);
      });
  while (loop.next()) {
    for (std::int64_t i = 0; i < arguments.micro_batches; ++i) {
      const steps::Batch& batch = *loop.io([&] { return &data.training().next(); });
      const torch::Tensor loss = loop.forward([&] {
        const steps::Autocast autocast = trainer.autocast();
        const torch::Tensor scores =
            model->forward(batch["data"]);  // (B, 16, H, W) -> (B, 3, H, W)
        return cross_entropies(scores, batch["labels"], weights).mean();
      });
      loop.backward([&] { trainer.backward(loss); });
    }
    loop.update();
  }
  quality.report();
  steps::report_measured(session, loop, steps::reported_work(cost, global_batch));
  steps::log_loader(data.training());
  session.save_weights(*model, loop);
  return steps::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("deepcam",
                         "Trains the network of MLPerf HPC's DeepCAM and reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const steps::Cost network_cost = cost(options.height, options.width);
  log_network(options, network_cost);
  if (session.arguments().describe)
    return steps::exit_ok;
  steps::FieldData data = options.make_data();
  data.clear_caches(session);
  session.begin();
  return train(session, options, network_cost, data);
}

}  // namespace bench::deepcam
