// ap4: trains the U-Net of MAELSTROM's application 4 and reports how fast. See README.md.

#include "ap4/data.hpp"
#include "ap4/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/optimizer.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/training.hpp"

namespace bench::ap4 {

int main(int argc, char** argv) {
  Grid grid;
  steps::SupervisedOptions training{.schedule = {.highest = 1e-2}};
  steps::Session session("ap4", "Trains the U-Net of MAELSTROM's AP4 and reports its speed.");
  session.arguments().batch_size = 1;
  steps::add_batch_options(session.app(), session.arguments());
  add_grid_options(session.app(), grid);
  steps::add_supervised_options(session.app(), training);
  if (!session.parse(argc, argv))
    return steps::exit_ok;
  steps::check_schedule_options(session.app(), training.schedule);
  check_grid(grid, steps::micro_batch_size(session.arguments()));
  const steps::Cost network_cost = cost(grid);
  if (!steps::begin_or_describe(session, network_cost))
    return steps::exit_ok;
  UNet model;
  model->to(session.device());
  return steps::train_supervised(
      session, *model, network_cost, training,
      {.format = sample_format(grid),
       .loss_of =
           [&](const steps::Batch& batch) {
             const torch::Tensor output =
                 model->forward(batch["predictors"]);  // (B, 14, H, W) -> (B, 2, H, W)
             return crps_loss(output, batch["scale"], batch["target"]);
           },
       .trainer = {.optimizer = steps::make_adamw({.weight_decay = 0})}});
}

}  // namespace bench::ap4
