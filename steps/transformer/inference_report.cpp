#include "transformer/inference_report.hpp"

#include "harness/latency.hpp"
#include "harness/log.hpp"
#include "harness/session.hpp"
#include "transformer/inference.hpp"
#include "transformer/inference_options.hpp"
#include "transformer/key_value_cache.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace bench::transformer {
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
                    const TrainingOptions& options, const InferenceOptions& inference,
                    const InferenceCost& cost) {
  const torch::Tensor samples_s = of_all_ranks(session, times.prefill_s);
  const double seconds = seconds_of_slowest(samples_s);
  const double prompts = real_of(inference.batch_size * std::ssize(times.prefill_s));
  const double tokens = prompts * real_of(options.layout.data * inference.prompt_tokens);
  log_latency("time_to_first_token", samples_s);
  log_rate("prefill", tokens, seconds, session.ranks().size());
  const double tflops = 2 * cost.prompt_macs(inference.prompt_tokens) * prompts /
                        real_of(options.layout.tensor) / seconds / tera;
  log_value("prefill_tflops_per_device", tflops);
  if (const double peak = session.arguments().peak_tflops; peak > 0)
    log_value("prefill_mfu_percent", 100 * tflops / peak);
}

/// That a device must read in a step of decoding, in the middle of the new tokens: weights, keys
/// and values.
double bytes_per_step(const TrainingOptions& options, const InferenceOptions& inference,
                      const InferenceCost& cost) {
  const std::int64_t bytes = bytes_per_number(options);
  const double tokens = real_of(inference.prompt_tokens) + real_of(inference.new_tokens) / 2;
  const double all =
      cost.read_parameters(inference.batch_size) * real_of(bytes) +
      tokens * real_of(key_value_cache_bytes(cost.sizes, inference.batch_size, 1, bytes));
  return all / real_of(options.layout.tensor);
}

void report_decode(steps::Session& session, const InferenceTimes& times,
                   const TrainingOptions& options, const InferenceOptions& inference,
                   const InferenceCost& cost) {
  const double seconds = seconds_of_slowest(of_all_ranks(session, times.decode_s));
  const double steps = real_of(std::ssize(times.token_times_s));
  const double tokens = steps * real_of(options.layout.data * inference.batch_size);
  log_latency("inter_token_latency", of_all_ranks(session, times.token_times_s));
  log_rate("decode", tokens, seconds, session.ranks().size());
  log_value("decode_gigabytes_per_second_per_device",
            bytes_per_step(options, inference, cost) * steps / seconds / giga);
}

}  // namespace

void report_inference(steps::Session& session, const InferenceTimes& times,
                      const TrainingOptions& options, const InferenceOptions& inference,
                      const InferenceCost& cost) {
  log_value("measured_prefills", times.prefill_s.size());
  log_value("measured_decodes", times.decode_s.size());
  if (!times.prefill_s.empty())
    report_prefill(session, times, options, inference, cost);
  if (!times.decode_s.empty())
    report_decode(session, times, options, inference, cost);
  session.write_timings();
  std::fflush(stdout);  // a failure afterwards must not lose them
}

}  // namespace bench::transformer
