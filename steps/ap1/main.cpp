// ap1: trains the U-Net of MAELSTROM's application 1 and reports how fast. See README.md.

#include "ap1/data.hpp"
#include "ap1/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/optimizer.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/training.hpp"

namespace bench::ap1 {

int main(int argc, char** argv) {
  NetworkOptions network;
  steps::SupervisedOptions training{.schedule = {.highest = 1e-3}};
  steps::Session session("ap1", "Trains the U-Net of MAELSTROM's AP1 and reports its speed.");
  add_network_options(session.app(), network);
  steps::add_batch_options(session.app(), session.arguments());
  steps::add_supervised_options(session.app(), training);
  if (!session.parse(argc, argv))
    return steps::exit_ok;
  steps::check_schedule_options(session.app(), training.schedule);
  check_batch_size(network, steps::micro_batch_size(session.arguments()));
  const steps::Cost network_cost = cost(network.patch);
  if (!steps::begin_or_describe(session, network_cost))
    return steps::exit_ok;
  UNet model(network.activation());
  model->to(session.device());
  return steps::train_supervised(
      session, *model, network_cost, training,
      {.format = sample_format(network.patch),
       .loss_of =
           [&](const steps::Batch& batch) {
             const torch::Tensor quantiles =
                 model->forward(batch["predictors"]);  // (B, 17, P, P) -> (B, 3, P, P)
             return quantile_loss(quantiles, batch["target"]);
           },
       .trainer = {.optimizer = steps::make_adamw({.weight_decay = 0})}});
}

}  // namespace bench::ap1
