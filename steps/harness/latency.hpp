#pragma once

#include "harness/session.hpp"
#include "harness/torch_all.hpp"

#include <string>
#include <vector>

namespace bench::steps {

/// (ranks, n): the n samples of each rank, which have equally many. All ranks must call it.
torch::Tensor of_all_ranks(Session& session, const std::vector<double>& samples);

/// Prints `<name>_min_s`, `_mean_s`, `_p50_s`, `_p95_s`, `_p99_s` and `_max_s`.
/// @param samples_s (ranks, n), at least one
void log_latency(const std::string& name, const torch::Tensor& samples_s);

}  // namespace bench::steps
