#include "transformer/inference.hpp"

#include "harness/device.hpp"
#include "harness/interruption.hpp"
#include "harness/log.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/timers.hpp"
#include "transformer/attention.hpp"
#include "transformer/decoder_sizes.hpp"
#include "transformer/generation.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference_options.hpp"
#include "transformer/inference_report.hpp"
#include "transformer/key_value_cache.hpp"
#include "transformer/language_model.hpp"
#include "transformer/layout.hpp"
#include "transformer/parallel_training.hpp"
#include "transformer/token_data.hpp"
#include "transformer/training_options.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::transformer {
namespace {

using steps::log_value;

/// A rank's share of the key/value heads.
DecoderSizes cached_sizes(DecoderSizes sizes, const Layout& layout) {
  sizes.key_value_heads /= layout.tensor;
  return sizes;
}

/// Of a rank.
std::int64_t cache_bytes(const InferenceOptions& inference, const TrainingOptions& options,
                         const DecoderSizes& sizes) {
  return key_value_cache_bytes(cached_sizes(sizes, options.layout), inference.batch_size,
                               inference.cached_tokens(), bytes_per_number(options));
}

/// Runs the batches of one phase after the other. All ranks begin a batch together, and a phase
/// ends after the same one on all of them: after a signal, or when its time is over.
class Phases {
 public:
  explicit Phases(steps::Session& session) : session_(session) {}

  /// Runs at least one batch, unless there was a signal or there are none.
  /// @param prepare called before each batch, outside of the region
  void run(const std::string& region, std::int64_t batches, const std::function<void()>& prepare,
           const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < batches; ++i) {
      prepare();
      const bool time_is_over = agree(std::chrono::steady_clock::now() - begin);
      if (interrupted_ || (time_is_over && i > 0))
        return;
      session_.timers().aside(region, work);
    }
  }

  bool is_interrupted() const { return interrupted_; }

 private:
  /// Waits for all ranks.
  /// @returns whether the time is over on one of them
  bool agree(std::chrono::duration<double> since_begin) {
    const double limit_s = session_.arguments().time_limit_s;
    const bool over = limit_s > 0 && since_begin.count() >= limit_s;
    const torch::Tensor flags =
        torch::tensor({steps::is_interrupted() ? 1.0 : 0.0, over ? 1.0 : 0.0})
            .to(session_.device());
    session_.ranks().all_reduce(flags).wait();
    const std::vector<double> asked = steps::numbers_of(flags);
    interrupted_ = interrupted_ || asked[0] > 0;
    return asked[1] > 0;
  }

  steps::Session& session_;
  bool interrupted_ = false;
};

/// Prompts are samples of so many tokens.
DecoderSizes with_sequence(DecoderSizes sizes, std::int64_t tokens) {
  sizes.sequence = tokens;
  return sizes;
}

/// What prompts need beside weights and cache: the residual stream, and more in attention or MLP.
double prefill_bytes(const TrainingOptions& options, const InferenceOptions& inference,
                     const DecoderSizes& sizes) {
  const auto prompt = static_cast<double>(inference.prompt_tokens);
  const double tokens = static_cast<double>(inference.batch_size) * prompt;
  const auto bytes = static_cast<double>(bytes_per_number(options));
  double attention = static_cast<double>(sizes.hidden) * bytes;  // queries, of a token
  if (parse_attention(options.attention) == AttentionKind::plain) {
    // Of fp32, scores and softmax; of half precision also its copy for the product with V.
    constexpr double bytes_per_score = 8;
    attention += static_cast<double>(sizes.heads) * prompt * bytes_per_score;
  }
  const double mlp = 2 * static_cast<double>(sizes.mlp) * bytes;  // before and behind activation
  return tokens * (static_cast<double>(sizes.hidden) * bytes +
                   std::max(attention, mlp) / static_cast<double>(options.layout.tensor));
}

}  // namespace

InferenceMemory inference_memory(const InferenceOptions& inference, const TrainingOptions& options,
                                 const InferenceCost& cost) {
  // As floating point numbers: what is too much may also be too much for 64 bits.
  const auto cache_bytes_of_a_token = static_cast<double>(key_value_cache_bytes(
      cached_sizes(cost.sizes, options.layout), 1, 1, bytes_per_number(options)));
  return {.weights = static_cast<double>(cost.parameters / options.layout.tensor *
                                         bytes_per_number(options)),
          .cache = cache_bytes_of_a_token * static_cast<double>(inference.batch_size) *
                   static_cast<double>(inference.cached_tokens()),
          .prefill = prefill_bytes(options, inference, cost.sizes)};
}

void check_inference_memory(const InferenceMemory& memory, double device_bytes) {
  constexpr double gib = 1024.0 * 1024 * 1024;
  if (memory.weights + memory.cache + memory.prefill > device_bytes)
    throw steps::OutOfMemory(
        fmt::format("weights of {:.1f} GiB, a key/value cache of {:.1f} GiB and {:.1f} GiB for "
                    "the pass of prompts exceed the {:.1f} GiB of each device",
                    memory.weights / gib, memory.cache / gib, memory.prefill / gib,
                    device_bytes / gib),
        "a smaller --batch-size or fewer tokens need less beside the weights; bf16 has half the "
        "bytes of fp32; --tensor-parallel shares all among devices");
}

std::int64_t bytes_per_number(const TrainingOptions& options) {
  return static_cast<std::int64_t>(c10::elementSize(parameter_type(options.common.precision())));
}

double InferenceCost::prompt_macs(std::int64_t tokens) const {
  const auto count = static_cast<double>(tokens);
  const double attention = static_cast<double>(sizes.layers * sizes.hidden) * count * count;
  return count * static_cast<double>(macs_per_token) + attention +
         static_cast<double>(sizes.vocabulary * sizes.hidden);
}

double InferenceCost::read_parameters(std::int64_t sequences) const {
  const auto of_one = static_cast<double>(multiplied_parameters);
  if (experts == 0)
    return of_one;
  const auto all = static_cast<double>(experts);
  const auto used = static_cast<double>(experts_per_token);
  const double distinct = all * (1 - std::pow(1 - used / all, static_cast<double>(sequences)));
  return of_one + (distinct - used) * static_cast<double>(parameters_per_expert);
}

void log_inference(const InferenceOptions& inference, const TrainingOptions& options,
                   const InferenceCost& cost) {
  log_value("mode", "inference");
  log_value("batch_size", inference.batch_size);
  log_value("prompt_tokens", inference.prompt_tokens);
  log_value("new_tokens", inference.new_tokens);
  log_value("steps", options.common.steps);
  log_value("warmup", options.common.warmup);
  log_value("tensor_parallel", options.layout.tensor);
  log_value("attention", attention_name(parse_attention(options.attention)));
  log_value("prefill_flops_per_prompt", 2 * cost.prompt_macs(inference.prompt_tokens));
  log_value("weight_bytes", cost.parameters * bytes_per_number(options));
  log_value("kv_cache_bytes_by_formula", cache_bytes(inference, options, cost.sizes));
}

int run_inference(steps::Session& session, const TrainingOptions& options,
                  const InferenceOptions& inference, const InferenceCost& cost,
                  const MakeModel& make_model) {
  check_inference_memory(inference_memory(inference, options, cost),
                         static_cast<double>(steps::device_memory_bytes(
                             session.device(), session.find_ranks().local_size.value_or(1))));
  Grid grid(session.ranks(), options.layout);
  grid.tensor().have_all_tokens = true;
  const torch::TensorOptions tensors = model_tensors(options, session.device());
  const std::shared_ptr<LanguageModel> model = make_model(tensors, grid);
  session.load_weights(*model);
  const TokenData data(session, options, with_sequence(cost.sizes, inference.prompt_tokens),
                       cost.kinds);
  data.log();
  const auto batches = data.training(grid, /*first_sample=*/0);
  Generation generation(model,
                        KeyValueCache(cached_sizes(cost.sizes, options.layout),
                                      inference.batch_size, inference.cached_tokens(), tensors),
                        grid.tensor());
  log_value("kv_cache_bytes", generation.cache_bytes());
  InferenceTimes times;
  torch::Tensor prompts;  // (B, prompt tokens)
  const auto take_prompts = [&] {
    prompts = batches->next()["tokens"].narrow(1, 0, inference.prompt_tokens);
  };
  const auto prefill = [&] { generation.prefill(prompts); };
  const auto decode = [&] { generation.decode(inference.new_tokens - 1, times.token_times_s); };

  session.start_training();
  Phases phases(session);
  phases.run("warmup", options.common.warmup, take_prompts, [&] {
    prefill();
    decode();
  });
  times.token_times_s.clear();
  steps::reset_peak_memory(session.device());
  phases.run("prefill", options.common.steps, take_prompts, prefill);
  phases.run(
      "decode", options.common.steps, [] {}, decode);

  if (!generation.has_finite_scores())
    throw steps::HintedError("the scores of the last token are not finite",
                             "try --precision bf16 or fp32, or other weights");
  steps::Timers& timers = session.timers();
  times.prefill_s = timers.asides_s("prefill");
  times.decode_s = timers.asides_s("decode");
  for (const double token_s : times.token_times_s)
    timers.keep("inter_token_latency", token_s);
  report_inference(session, times, options, inference, cost);
  return steps::report_outcome(session, phases.is_interrupted());
}

}  // namespace bench::transformer
