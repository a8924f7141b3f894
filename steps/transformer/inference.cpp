#include "transformer/inference.hpp"

#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/inference.hpp"
#include "harness/log.hpp"
#include "harness/program.hpp"
#include "harness/session.hpp"
#include "harness/timers.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"
#include "transformer/parallel_training.hpp"
#include "transformer/tensor_parallel.hpp"
#include "transformer/training.hpp"
#include "transformer/training_options.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::transformer {

Generation::Generation(std::shared_ptr<LanguageModel> model, KeyValueCache cache,
                       const TensorRanks& ranks)
    : model_(std::move(model)), cache_(std::move(cache)), ranks_(ranks) {
  model_->eval();
}

torch::Tensor Generation::next_tokens(const torch::Tensor& tokens) {
  const torch::NoGradGuard no_gradient;
  scores_ = model_->next_scores(tokens, cache_);
  return most_likely_tokens(scores_, ranks_);
}

torch::Tensor Generation::prefill(const torch::Tensor& prompts) {
  cache_.truncate(0);
  first_tokens_ = next_tokens(prompts);
  prompt_tokens_ = cache_.length();
  return first_tokens_.squeeze(1).to(torch::kCPU);
}

torch::Tensor Generation::decode(std::int64_t count, std::vector<double>& latencies_s) {
  using Clock = std::chrono::steady_clock;
  cache_.truncate(prompt_tokens_);
  torch::Tensor tokens = first_tokens_;
  std::vector<torch::Tensor> delivered;
  auto before = Clock::now();
  for (std::int64_t i = 0; i < count; ++i) {
    tokens = next_tokens(tokens);
    delivered.push_back(tokens.to(torch::kCPU));  // waits for the device
    const auto now = Clock::now();
    latencies_s.push_back(std::chrono::duration<double>(now - before).count());
    before = now;
  }
  return torch::cat(delivered, 1);
}

bool Generation::has_finite_scores() const {
  return !scores_.defined() || torch::isfinite(scores_).all().item<bool>();
}

namespace {

using steps::log_value;

/// A rank's share of the key/value heads.
DecoderSizes cached_sizes(DecoderSizes sizes, const Layout& layout) {
  sizes.key_value_heads /= layout.tensor;
  return sizes;
}

/// Of a rank.
std::int64_t cache_bytes(const TrainingOptions& options, const DecoderSizes& sizes) {
  return key_value_cache_bytes(cached_sizes(sizes, options.layout), options.inference.batch_size,
                               options.inference.cached_tokens(), bytes_per_number(options));
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
double prefill_bytes(const TrainingOptions& options, const DecoderSizes& sizes) {
  const auto prompt = static_cast<double>(options.inference.prompt_tokens);
  const double tokens = static_cast<double>(options.inference.batch_size) * prompt;
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

InferenceMemory inference_memory(const TrainingOptions& options, const InferenceCost& cost) {
  // As floating point numbers: what is too much may also be too much for 64 bits.
  const auto cache_bytes_of_a_token = static_cast<double>(key_value_cache_bytes(
      cached_sizes(cost.sizes, options.layout), 1, 1, bytes_per_number(options)));
  return {.weights = static_cast<double>(cost.parameters / options.layout.tensor *
                                         bytes_per_number(options)),
          .cache = cache_bytes_of_a_token * static_cast<double>(options.inference.batch_size) *
                   static_cast<double>(options.inference.cached_tokens()),
          .prefill = prefill_bytes(options, cost.sizes)};
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

void log_inference(const TrainingOptions& options, const InferenceCost& cost) {
  log_value("mode", "inference");
  log_value("batch_size", options.inference.batch_size);
  log_value("prompt_tokens", options.inference.prompt_tokens);
  log_value("new_tokens", options.inference.new_tokens);
  log_value("steps", options.common.steps);
  log_value("warmup", options.common.warmup);
  log_value("tensor_parallel", options.layout.tensor);
  log_value("attention", attention_name(parse_attention(options.attention)));
  log_value("prefill_flops_per_prompt", 2 * cost.prompt_macs(options.inference.prompt_tokens));
  log_value("weight_bytes", cost.parameters * bytes_per_number(options));
  log_value("kv_cache_bytes_by_formula", cache_bytes(options, cost.sizes));
}

int run_inference(steps::Session& session, const TrainingOptions& options,
                  const InferenceCost& cost, const MakeModel& make_model) {
  check_inference_memory(inference_memory(options, cost),
                         static_cast<double>(steps::device_memory_bytes(
                             session.device(), session.find_ranks().local_size.value_or(1))));
  Grid grid(session.ranks(), options.layout);
  grid.tensor().have_all_tokens = true;
  const torch::TensorOptions tensors = model_tensors(options, session.device());
  const std::shared_ptr<LanguageModel> model = make_model(tensors, grid);
  session.load_weights(*model);
  const TokenData data(session, options, with_sequence(cost.sizes, options.inference.prompt_tokens),
                       cost.kinds);
  data.log();
  const auto batches = data.training(grid, /*first_sample=*/0);
  Generation generation(
      model,
      KeyValueCache(cached_sizes(cost.sizes, options.layout), options.inference.batch_size,
                    options.inference.cached_tokens(), tensors),
      grid.tensor());
  log_value("kv_cache_bytes", generation.cache_bytes());
  InferenceTimes times;
  torch::Tensor prompts;  // (B, prompt tokens)
  const auto take_prompts = [&] {
    prompts = batches->next()["tokens"].narrow(1, 0, options.inference.prompt_tokens);
  };
  const auto prefill = [&] { generation.prefill(prompts); };
  const auto decode = [&] {
    generation.decode(options.inference.new_tokens - 1, times.token_times_s);
  };

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
  report_inference(session, times, options, cost);
  return steps::report_outcome(session, phases.is_interrupted());
}

namespace {

using steps::log_latency;
using steps::log_value;
using steps::of_all_ranks;

constexpr double tera = 1e12;
constexpr double giga = 1e9;

double real_of(std::int64_t number) {
  return static_cast<double>(number);
}

/// @param samples_s (ranks, batches)
double seconds_of_slowest(const torch::Tensor& samples_s) {
  return samples_s.amax(0).sum().item<double>();
}

/// @param tokens of all ranks
void log_rate(const std::string& phase, double tokens, double seconds, int ranks) {
  log_value(phase + "_tokens_per_second", tokens / seconds);
  log_value(phase + "_tokens_per_second_per_device", tokens / seconds / ranks);
}

void report_prefill(steps::Session& session, const InferenceTimes& times,
                    const TrainingOptions& options, const InferenceCost& cost) {
  const torch::Tensor samples_s = of_all_ranks(session, times.prefill_s);
  const double seconds = seconds_of_slowest(samples_s);
  const double prompts = real_of(options.inference.batch_size * std::ssize(times.prefill_s));
  const double tokens = prompts * real_of(options.layout.data * options.inference.prompt_tokens);
  log_latency("time_to_first_token", samples_s);
  log_rate("prefill", tokens, seconds, session.ranks().size());
  const double tflops = 2 * cost.prompt_macs(options.inference.prompt_tokens) * prompts /
                        real_of(options.layout.tensor) / seconds / tera;
  log_value("prefill_tflops_per_device", tflops);
  if (const double peak = session.arguments().peak_tflops; peak > 0)
    log_value("prefill_mfu_percent", 100 * tflops / peak);
}

/// That a device must read in a step of decoding, in the middle of the new tokens: weights, keys
/// and values.
double bytes_per_step(const TrainingOptions& options, const InferenceCost& cost) {
  const std::int64_t bytes = bytes_per_number(options);
  const double tokens =
      real_of(options.inference.prompt_tokens) + real_of(options.inference.new_tokens) / 2;
  const double all =
      cost.read_parameters(options.inference.batch_size) * real_of(bytes) +
      tokens * real_of(key_value_cache_bytes(cost.sizes, options.inference.batch_size, 1, bytes));
  return all / real_of(options.layout.tensor);
}

void report_decode(steps::Session& session, const InferenceTimes& times,
                   const TrainingOptions& options, const InferenceCost& cost) {
  const double seconds = seconds_of_slowest(of_all_ranks(session, times.decode_s));
  const double steps = real_of(std::ssize(times.token_times_s));
  const double tokens = steps * real_of(options.layout.data * options.inference.batch_size);
  log_latency("inter_token_latency", of_all_ranks(session, times.token_times_s));
  log_rate("decode", tokens, seconds, session.ranks().size());
  log_value("decode_gigabytes_per_second_per_device",
            bytes_per_step(options, cost) * steps / seconds / giga);
}

}  // namespace

void report_inference(steps::Session& session, const InferenceTimes& times,
                      const TrainingOptions& options, const InferenceCost& cost) {
  log_value("measured_prefills", times.prefill_s.size());
  log_value("measured_decodes", times.decode_s.size());
  if (!times.prefill_s.empty())
    report_prefill(session, times, options, cost);
  if (!times.decode_s.empty())
    report_decode(session, times, options, cost);
  session.write_timings();
  std::fflush(stdout);  // a failure afterwards must not lose them
}

}  // namespace bench::transformer
