#pragma once

#include "gpt/options.hpp"
#include "harness/torch_all.hpp"
#include "transformer/layout.hpp"

#include <cstdint>
#include <optional>

namespace bench::gpt {

/// Bytes on the device that holds most: of the first pipeline stage, or the last.
struct Memory {
  double weights = 0;
  double gradients = 0;    ///< Of the last backward pass, and the fp32 sums.
  double optimizer = 0;    ///< Both moments, and fp32 weights where the model has another format.
  double activations = 0;  ///< Kept for the backward pass, of all micro-batches under way.
  double loss = 0;         ///< Scores of the vocabulary, in two forms, of one micro-batch.

  double total() const { return weights + gradients + optimizer + activations + loss; }
};

/// What a training step of this program needs, without LibTorch's own (some 1 GB on a GPU) and what
/// the allocator loses.
///
/// Activations are counted as this program keeps them: 19 numbers per token and width in a layer
/// (17 with learned positions), and two masks with dropout. For the state of the optimizer see
/// Rajbhandari et al., ZeRO (arXiv:1910.02054), section 3; for what pipeline stages keep, Narayanan
/// et al. (arXiv:2104.04473), section 2.2; for splitting along the sequence, Korthikanti et al.
/// (arXiv:2205.05198), section 4.2.
Memory memory(const Options& options, const transformer::Layout& layout);

/// The layout with the fewest devices on which the model fits in `device_bytes`, with a micro-batch
/// as given; among those with as many, the one with the most tensor parallelism, which stays in a
/// node. Nothing where none of up to 4096 devices does.
std::optional<transformer::Layout> smallest_layout(const Options& options, double device_bytes);

/// @param processes ranks that share the memory of the host, where that is the device
/// @throws steps::OutOfMemory if a step needs more than the device has, before anything is
/// allocated
void check_memory(const Options& options, const torch::Device& device, int processes);

/// Prints what `--plan` promises.
void log_plan(const Options& options);

}  // namespace bench::gpt
