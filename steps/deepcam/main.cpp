// deepcam: trains the network of MLPerf HPC's DeepCAM and reports how fast. See README.md.

#include "deepcam/network.hpp"
#include "deepcam/options.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/program.hpp"
#include "harness/quality.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/training.hpp"

#include <cstdint>

namespace bench::deepcam {
namespace {

int train(steps::Session& session, const Options& options, const steps::Cost& cost,
          steps::FieldData& data) {
  const steps::CommonArguments& arguments = session.arguments();
  const std::int64_t global_batch = session.global_batch();
  steps::mllog_submission(session, {"deepcam", global_batch, data.is_synthetic()},
                          options.submission);
  log_options(options, arguments);
  data.open(session, options.quality.eval_samples);
  steps::mllog_samples(data.epoch_samples(), options.quality.eval_samples);
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
  return steps::train_to_quality(
      session, *model, cost, trainer, data, options.quality,
      {.loss_of =
           [&](const steps::Batch& batch) {
             const torch::Tensor scores =
                 model->forward(batch["data"]);  // (B, 16, H, W) -> (B, 3, H, W)
             return cross_entropies(scores, batch["labels"], weights).mean();
           },
       .qualities_of =
           [&](const steps::Batch& batch) {
             const torch::Tensor scores = model->forward(batch["data"]);
             return torch::stack(
                 {intersections_over_unions(scores, batch["labels"]),
                  cross_entropies(scores, batch["labels"], weights).to(torch::kDouble)},
                 1);
           }});
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
