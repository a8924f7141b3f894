// ap3: trains a radiation emulator of MAELSTROM's application 3. See README.md.

#include "ap3/cnn.hpp"
#include "ap3/column.hpp"
#include "ap3/cost.hpp"
#include "ap3/dataset.hpp"
#include "ap3/loss.hpp"
#include "ap3/lstm.hpp"
#include "ap3/reading.hpp"
#include "harness/adamw.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "harness/schedule_options.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace bench::ap3 {
namespace {

struct Options {
  std::string model = "cnn";
  steps::LoaderOptions loader;
  steps::RateSchedule schedule{.highest = 1e-4};  // over samples
};

/// @param model `Cnn`, `Lstm` or `Reading`
/// @param loss of predicted and target radiation
template <typename Model, typename Loss>
int train(steps::Session& session, const Options& options, const steps::Cost& cost, Model model,
          const Loss& loss_of) {
  model->to(session.device());
  const std::int64_t global_batch = session.arguments().batch_size * session.ranks().size();
  session.load_weights(*model);
  steps::Trainer trainer(session.context(), *model,
                         {.optimizer = steps::make_adamw({.weight_decay = 0}),
                          .learning_rate = steps::rate_of(options.schedule),
                          .global_batch = global_batch,
                          .micro_batches = session.arguments().micro_batches});
  const auto batches = steps::make_batches(session, options.loader, sample_format());

  steps::StepLines log(session.arguments().steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(session.arguments()));
  while (loop.next()) {
    for (std::int64_t i = 0; i < session.arguments().micro_batches; ++i) {
      const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
      const torch::Tensor loss = loop.forward([&] {
        const steps::Autocast autocast = trainer.autocast();
        // Five inputs -> fluxes (B, 138, 2), of the CNN (B, 3), and heating rates (B, 137, 1)
        return loss_of(model->forward(columns_of(batch)), target_of(batch));
      });
      loop.backward([&] { trainer.backward(loss); });
    }
    loop.update();
  }
  steps::report_measured(session, loop, steps::reported_work(cost, global_batch, "columns"));
  steps::log_loader(*batches);
  session.save_weights(*model);
  return steps::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("ap3",
                         "Trains a radiation emulator of MAELSTROM's AP3 and reports its speed.");
  session.app()
      .add_option("--model", options.model,
                  "Convolutions (cnn), the recurrent network (lstm), or only reading (none)")
      ->check(CLI::IsMember({"cnn", "lstm", "none"}));
  steps::add_batch_options(session.app(), session.arguments());
  steps::add_data_options(session.app(), options.loader);
  steps::add_schedule_options(session.app(), options.schedule, "samples");
  if (!session.parse(argc, argv))
    return steps::exit_ok;
  steps::check_schedule_options(session.app(), options.schedule);
  const bool is_cnn = options.model == "cnn";
  const bool is_none = options.model == "none";
  const steps::Cost cost = is_none ? reading_cost() : is_cnn ? cnn_cost() : lstm_cost();
  steps::log_value("model", options.model);
  cost.log();
  if (session.arguments().describe)
    return steps::exit_ok;
  session.begin();
  if (is_none)
    return train(session, options, cost, Reading(),
                 [](const torch::Tensor& nothing, const auto&) { return nothing; });
  if (is_cnn)
    return train(session, options, cost, Cnn(), cnn_loss);
  return train(session, options, cost, Lstm(), [](const auto& predicted, const auto& target) {
    return lstm_loss(predicted, target, FluxError::of_column);
  });
}

}  // namespace bench::ap3
