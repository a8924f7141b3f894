// cosmoflow: trains the network of MLPerf HPC's CosmoFlow and reports how fast. See README.md.

#include "cosmoflow/network.hpp"
#include "cosmoflow/options.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/optimizer.hpp"
#include "harness/program.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/training.hpp"

#include <cstdint>

namespace bench::cosmoflow {
namespace {

int train(steps::Session& session, Options& options, const steps::Cost& cost,
          steps::FieldData& data) {
  const std::int64_t global_batch = session.global_batch();
  scale_learning_rate(session.app(), options, global_batch);
  steps::mllog_submission(session, {"cosmoflow", global_batch, data.is_synthetic()},
                          options.submission);
  log_options(options);
  data.open(session, options.quality.eval_samples);
  const std::int64_t epoch_samples = data.epoch_samples();
  steps::mllog_samples(epoch_samples, options.quality.eval_samples);
  CosmoFlow model(options.network);
  model->to(session.device());
  session.load_weights(*model);
  steps::Trainer trainer(
      session.context(), *model,
      {.optimizer = steps::make_sgd(options.sgd),
       .learning_rate = steps::rate_of(options.schedule, static_cast<double>(epoch_samples)),
       .global_batch = global_batch,
       .micro_batches = session.arguments().micro_batches});
  return steps::train_to_quality(
      session, *model, cost, trainer, data, options.quality,
      {.loss_of =
           [&](const steps::Batch& batch) {
             const torch::Tensor prediction =
                 model->forward(batch["x"]);  // (B, 4, N, N, N) counts -> (B, 4)
             return squared_errors(prediction, batch["y"]).mean();
           },
       .qualities_of =
           [&](const steps::Batch& batch) {
             const torch::Tensor prediction = model->forward(batch["x"]);
             return torch::stack(
                 {absolute_errors(prediction, batch["y"]), squared_errors(prediction, batch["y"])},
                 1);
           }});
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("cosmoflow",
                         "Trains the network of MLPerf HPC's CosmoFlow and reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const steps::Cost network_cost = cost(options.network);
  log_network(options.network, network_cost);
  if (session.arguments().describe)
    return steps::exit_ok;
  steps::FieldData data = options.make_data();
  data.clear_caches(session);
  session.begin();
  return train(session, options, network_cost, data);
}

}  // namespace bench::cosmoflow
