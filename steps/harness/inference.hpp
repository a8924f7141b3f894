#pragma once

#include "harness/batches.hpp"
#include "harness/loader_options.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench::steps {

/// (ranks, n): the n samples of each rank, which have equally many. All ranks must call it.
torch::Tensor of_all_ranks(Session& session, const std::vector<double>& samples);

/// Prints `<name>_min_s`, `_mean_s`, `_p50_s`, `_p95_s`, `_p99_s` and `_max_s`.
/// @param samples_s (ranks, n), at least one
void log_latency(const std::string& name, const torch::Tensor& samples_s);

/// Adds `--inference`, and forbids with it what only a training has.
/// @param app has all other options of the program
void add_inference_option(CLI::App& app, bool& enabled);

/// Makes a network on the device, with the weights of `--load-weights`: the region `model_loading`.
/// @param make returns it, as a holder such as `Unet`
template <typename Make>
auto load_model(Session& session, const Make& make) {
  decltype(make()) model{nullptr};
  session.timers().aside("model_loading", [&] {
    model = make();
    model->to(session.device());
    session.load_weights(*model);
  });
  return model;
}

/// The work of a forward pass, for a network that a `Cost` describes.
ReportedWork inference_work(Session& session, const Cost& cost,
                            const std::string& unit = "samples");

/// Passes samples through a network without training it, and prints how fast: each `--epochs`
/// times, in the order of the files, or `--steps` batches of them. Ranks share the samples
/// and do not wait for each other.
///
/// What comes before the first batch is the region `data_loading`: the files are opened and, with
/// `--cache`, all samples of this rank are read. That batch is also passed `--warmup` times before
/// the others. The passes are the region `epoch`, with `io` and `forward` in it.
///
///     model_loading_s, data_loading_s, inference_samples, inference_s, data_wait_s (the part of it
///     in which the network had no data), data_loading_percent (of data_loading_s and inference_s),
///     time_per_batch_min_s, _mean_, _p50_, _p95_, _p99_, _max_, time_per_sample_s, io_...,
///     forward_..., inference_loss, and rates as of a training
///
/// Times are those of the slowest rank, `io_` and `forward_` of the first one.
/// @param model from `load_model`
/// @param loss_of returns the mean loss of a batch
/// @returns the exit code of the program
/// @throws UsageError, DataError as `make_batches`; HintedError if the loss is not finite
int run_inference(Session& session, const LoaderOptions& options, const SampleFormat& format,
                  torch::nn::Module& model, const ReportedWork& work,
                  const std::function<torch::Tensor(const Batch&)>& loss_of);

}  // namespace bench::steps
