// vision: trains a convolutional network on synthetic or real images and reports how fast. See
// README.md.

#include "harness/blas.hpp"
#include "harness/communicator.hpp"
#include "harness/device.hpp"
#include "harness/environment.hpp"
#include "harness/interruption.hpp"
#include "harness/log.hpp"
#include "harness/memory.hpp"
#include "harness/metrics_file.hpp"
#include "harness/mllog.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/timings_file.hpp"
#include "vision/dataset.hpp"
#include "vision/evaluation.hpp"
#include "vision/model.hpp"
#include "vision/report.hpp"
#include "vision/training.hpp"

#include <cstdint>
#include <iterator>
#include <optional>

#include <c10/core/DeviceGuard.h>

namespace {

using namespace bench;

/// The model on its device, its weights in the order of memory that suits it.
vision::Network build_model(const vision::Options& options,
                            const vision::Architecture& architecture, const torch::Device& device) {
  vision::Network model(architecture, options.image_size);
  model->to(device);
  for (torch::Tensor& weight : model->parameters())
    if (weight.dim() == 4)
      weight.set_data(weight.contiguous(vision::memory_format(options, device)));
  return model;
}

/// The last lines. Returns the exit code.
int log_outcome(std::optional<std::int64_t> diverged_at, bool interrupted) {
  if (diverged_at) {
    steps::log_value("diverged_at_step", *diverged_at);
    steps::log_value("result", "diverged");
    return steps::exit_diverged;
  }
  steps::log_value("result", interrupted ? "interrupted" : "ok");
  return interrupted ? steps::exit_interrupted : steps::exit_ok;
}

int train_and_report(const vision::Options& options, const vision::Counts& counts,
                     vision::Network model, const vision::Dataset& dataset,
                     steps::Communicator& communicator, const torch::Device& device,
                     steps::TimingsFile& timings) {
  dataset.log();
  std::fflush(stdout);

  steps::Timers timers(steps::make_clock(device));
  // Models are equal on all ranks; images are not.
  torch::manual_seed(options.common.seed + static_cast<std::uint64_t>(communicator.rank()));
  std::unique_ptr<steps::Batches> batches = dataset.batches(steps::ImagePart::train);
  vision::mllog_options(options);
  steps::mllog("init_stop");
  steps::mllog("run_start");
  steps::defer_signals();
  const vision::History history =
      train(options, dataset.epoch_images(), *batches, model, communicator, device, timers);
  const std::optional<std::int64_t> diverged_at = history.diverged_at();
  bool interrupted = history.interrupted;
  vision::log_results(options, counts, timers, history);
  dataset.log_work(*batches, std::ssize(history.losses));
  timings.write(timers);
  std::fflush(stdout);  // they count also where the evaluation fails
  if (options.eval_steps > 0 && !diverged_at && !interrupted) {
    batches = dataset.batches(steps::ImagePart::validation);
    steps::mllog("eval_start", {}, {{"epoch_num", 1}});
    const auto evaluation = vision::evaluate(options, *batches, model, communicator, device);
    interrupted = !evaluation;
    if (evaluation)
      vision::log_evaluation(*evaluation);
    steps::mllog("eval_stop", {}, {{"epoch_num", 1}});
  }
  if (const auto peak_bytes = steps::peak_memory_bytes(device))
    steps::log_value("peak_memory_bytes", *peak_bytes);
  return log_outcome(diverged_at, interrupted);
}

int run(int argc, char** argv) {
  vision::Options options;
  if (!vision::read_options(argc, argv, options))
    return steps::exit_ok;
  const vision::Architecture architecture =
      vision::make_architecture(options.model, options.classes);
  vision::check_image_size(options, architecture);
  const vision::Counts counts = vision::count(architecture, options.image_size);
  if (options.common.describe) {
    vision::log_description(options, counts);
    return steps::exit_ok;
  }
  steps::choose_blas_kernels(argv);
  const steps::Ranks ranks = steps::find_ranks();
  vision::set_ranks(options, ranks.size);
  steps::begin_mllog(options.common.mllog && ranks.rank == 0);
  steps::mllog("init_start");
  const torch::Device device = steps::select_device(options.common.device, ranks);
  steps::check_precision(options.common.precision(), device);
  vision::check_trainable(options, architecture);
  vision::check_cuda_graph(options, device);
  vision::find_dataset(options);
  steps::TimingsFile timings(options.common.timings_file, ranks.rank);
  steps::begin_metrics_file(options.common.metrics_file, ranks.rank, ranks.size);

  const c10::DeviceGuard guard(device);
  steps::Communicator communicator(ranks, device, {.operation = options.common.rank_timeout()},
                                   options.common.in_common);
  steps::speak_only_on_rank_0(communicator.rank());
  steps::set_up_environment(options.common, device);
  vision::log_run(options, counts, device);
  std::fflush(stdout);  // a killed run still shows what it was

  return communicator.report_failure_to_peers([&] {
    const vision::Dataset dataset(options, ranks, communicator, device);
    return train_and_report(options, counts, build_model(options, architecture, device), dataset,
                            communicator, device, timings);
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::steps::keep_freed_memory();
  return bench::steps::run_program("vision", [&] { return run(argc, argv); });
}
