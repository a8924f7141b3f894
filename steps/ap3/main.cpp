// ap3: trains a radiation emulator of MAELSTROM's application 3, or predicts with one. See
// README.md.

#include "ap3/data.hpp"
#include "ap3/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/errors.hpp"
#include "harness/inference.hpp"
#include "harness/log.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/training.hpp"

#include <string>

#include <CLI/CLI.hpp>

namespace bench::ap3 {
namespace {

struct Options {
  std::string model = "cnn";
  bool inference = false;
  steps::SupervisedOptions training{.schedule = {.highest = 1e-4}};
};

/// Returns false if the command line asked for help or the version, which is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  session.app()
      .add_option("--model", options.model,
                  "Convolutions (cnn), the recurrent network (lstm), or only reading (none)")
      ->check(CLI::IsMember({"cnn", "lstm", "none"}));
  steps::add_batch_options(session.app(), session.arguments());
  steps::add_supervised_options(session.app(), options.training);
  steps::add_inference_option(session.app(), options.inference);
  if (!session.parse(argc, argv))
    return false;
  steps::check_schedule_options(session.app(), options.training.schedule);
  return true;
}

/// Trains a network, or predicts with one.
/// @param radiation_loss of predicted and target radiation
template <typename Model, typename Loss>
int run(steps::Session& session, const Options& options, const steps::Cost& cost,
        const Loss& radiation_loss) {
  Model model{nullptr};
  const auto loss_of = [&](const steps::Batch& batch) {
    // Five inputs -> fluxes (B, 138, 2), of the CNN (B, 3), and heating rates (B, 137, 1)
    return radiation_loss(model->forward(columns_of(batch)), target_of(batch));
  };
  if (options.inference) {
    model = steps::load_model(session, [] { return Model(); });
    return steps::run_inference(
        session, options.training.loader, sample_format(), *model,
        steps::inference_work(session, cost, "columns"), [&](const steps::Batch& batch) {
          const steps::Autocast autocast(session.device(), session.arguments().precision());
          return loss_of(batch);
        });
  }
  model = Model();
  model->to(session.device());
  return steps::train_supervised(session, *model, cost, options.training,
                                 {.format = sample_format(),
                                  .loss_of = loss_of,
                                  .trainer = {.optimizer = steps::make_adamw({.weight_decay = 0})},
                                  .unit = "columns"});
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
