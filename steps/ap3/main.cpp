// ap3: trains a radiation emulator of MAELSTROM's application 3, or predicts with one. See
// README.md.

#include "ap3/data.hpp"
#include "ap3/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/inference.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/validation.hpp"

#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace bench::ap3 {
namespace {

struct Options {
  std::string model = "cnn";
  bool inference = false;
  steps::LoaderOptions loader;
  steps::ValidationOptions validation;
  steps::RateSchedule schedule{.highest = 1e-4};  // over samples
};

/// Returns false if the command line asked for help or the version, which is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  session.app()
      .add_option("--model", options.model,
                  "Convolutions (cnn), the recurrent network (lstm), or only reading (none)")
      ->check(CLI::IsMember({"cnn", "lstm", "none"}));
  steps::add_batch_options(session.app(), session.arguments());
  steps::add_data_options(session.app(), options.loader);
  steps::add_validation_options(session.app(), options.validation);
  steps::add_schedule_options(session.app(), options.schedule, "samples");
  steps::add_inference_option(session.app(), options.inference);
  if (!session.parse(argc, argv))
    return false;
  steps::check_schedule_options(session.app(), options.schedule);
  return true;
}

/// The mean loss of a batch.
/// @param model `Cnn`, `Lstm` or `Reading`
/// @param radiation_loss of predicted and target radiation
template <typename Model, typename Loss>
torch::Tensor loss_of_batch(const steps::Session& session, Model& model, const Loss& radiation_loss,
                            const steps::Batch& batch) {
  const steps::Autocast autocast(session.device(), session.arguments().precision());
  // Five inputs -> fluxes (B, 138, 2), of the CNN (B, 3), and heating rates (B, 137, 1)
  return radiation_loss(model->forward(columns_of(batch)), target_of(batch));
}

template <typename Model, typename Loss>
int train(steps::Session& session, const Options& options, const steps::Cost& cost, Model model,
          const Loss& radiation_loss) {
  model->to(session.device());
  const std::int64_t global_batch = session.arguments().batch_size * session.ranks().size();
  session.load_weights(*model);
  steps::Trainer trainer(session.context(), *model,
                         {.optimizer = steps::make_adamw({.weight_decay = 0}),
                          .learning_rate = steps::rate_of(options.schedule),
                          .global_batch = global_batch,
                          .micro_batches = session.arguments().micro_batches});
  const steps::SampleFormat format = sample_format();
  const auto batches = steps::make_batches(session, options.loader, format);
  steps::Validation validation(session, options.validation, options.loader, format);
  const auto loss_of = [&](const steps::Batch& batch) {
    return loss_of_batch(session, model, radiation_loss, batch);
  };

  steps::StepLines log(session.arguments().steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(session.arguments()));
  validation.run_during(loop, trainer, *model, loss_of);
  while (loop.next()) {
    for (std::int64_t i = 0; i < session.arguments().micro_batches; ++i) {
      const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
      const torch::Tensor loss = loop.forward([&] { return loss_of(batch); });
      loop.backward([&] { trainer.backward(loss); });
    }
    loop.update();
  }
  steps::report_measured(session, loop, steps::reported_work(cost, global_batch, "columns"));
  steps::log_loader(*batches);
  session.save_weights(*model, loop);
  return steps::report_outcome(session, loop);
}

template <typename Model, typename Loss>
int run(steps::Session& session, const Options& options, const steps::Cost& cost,
        const Loss& radiation_loss) {
  if (!options.inference)
    return train(session, options, cost, Model(), radiation_loss);
  Model model = steps::load_model(session, [] { return Model(); });
  return steps::run_inference(session, options.loader, sample_format(), *model,
                              steps::inference_work(session, cost, "columns"),
                              [&](const steps::Batch& batch) {
                                return loss_of_batch(session, model, radiation_loss, batch);
                              });
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session(
      "ap3", "Trains or runs a radiation emulator of MAELSTROM's AP3, reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const bool is_cnn = options.model == "cnn";
  const bool is_none = options.model == "none";
  const steps::Cost cost = is_none ? reading_cost() : is_cnn ? cnn_cost() : lstm_cost();
  steps::log_value("model", options.model);
  cost.log();
  if (session.arguments().describe)
    return steps::exit_ok;
  session.begin();
  if (is_none)
    return run<Reading>(session, options, cost,
                        [](const torch::Tensor& nothing, const auto&) { return nothing; });
  if (is_cnn)
    return run<Cnn>(session, options, cost, cnn_loss);
  return run<Lstm>(session, options, cost, [](const auto& predicted, const auto& target) {
    return lstm_loss(predicted, target, FluxError::of_column);
  });
}

}  // namespace bench::ap3
