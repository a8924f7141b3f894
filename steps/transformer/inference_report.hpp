#pragma once

#include "harness/session.hpp"
#include "transformer/inference.hpp"
#include "transformer/inference_options.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::transformer {

/// What was measured, of this rank.
struct InferenceTimes {
  std::vector<double> prefill_s;      ///< Of each batch of prompts.
  std::vector<double> decode_s;       ///< Of the new tokens of each batch but the first.
  std::vector<double> token_times_s;  ///< Of each of these.
};

/// Prints latencies and rates of all ranks, and writes the files:
///
///     measured_prefills, measured_decodes
///     time_to_first_token_min_s, _mean_, _p50_, _p95_, _p99_, _max_
///     prefill_tokens_per_second, prefill_tokens_per_second_per_device,
///     prefill_tflops_per_device, prefill_mfu_percent (with --peak-tflops)
///     inter_token_latency_min_s, _mean_, _p50_, _p95_, _p99_, _max_
///     decode_tokens_per_second, decode_tokens_per_second_per_device,
///     decode_gigabytes_per_second_per_device
///
/// Ranks that share a copy of the model share its tokens and operations. A batch has ended when the
/// slowest rank has ended it. Lines of a phase without a batch are left out.
void report_inference(steps::Session& session, const InferenceTimes& times,
                      const TrainingOptions& options, const InferenceOptions& inference,
                      const InferenceCost& cost);

}  // namespace bench::transformer
