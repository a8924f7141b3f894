#pragma once

#include "harness/torch_all.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace bench::transformer {

/// What the plan of a training has to know of a network.
struct PlannedModel {
  std::string program;
  std::string name;
  std::int64_t parameters = 0;
  DecoderSizes sizes;
  double split_parameters = 0;  ///< Of a layer, which tensor-parallel ranks share.
  double whole_parameters = 0;  ///< Of a layer, which each of them has.
  double tables = 1;  ///< Of the vocabulary. Of two, one is in the first stage, one in the last.
  double end_parameters = 0;  ///< Beside these tables in a stage at an end.
  /// Bytes that a layer keeps of a token for the backward pass, without weights of attention.
  double kept_bytes_per_token = 0;
  bool has_attention_dropout = false;
  std::int64_t experts = 0;  ///< MLPs of a layer, which are in one stage; 0: layers have one.
};

/// Bytes on the device that holds most: of the first pipeline stage, or the last.
struct Memory {
  double weights = 0;
  double gradients = 0;    ///< Of the last backward pass, and the fp32 sums.
  double optimizer = 0;    ///< Both moments, and fp32 weights where the model has another format.
  double activations = 0;  ///< Kept for the backward pass, of all micro-batches under way.
  double loss = 0;         ///< Scores of the vocabulary, in two forms, of one micro-batch.

  double total() const { return weights + gradients + optimizer + activations + loss; }
};

/// Whether weights and activations have two bytes.
bool is_half(const TrainingOptions& options);

/// What a training step of this program needs, without LibTorch's own (some 1 GB on a GPU) and what
/// the allocator loses.
///
/// For the state of the optimizer see Rajbhandari et al., ZeRO (arXiv:1910.02054), section 3; for
/// what pipeline stages keep, Narayanan et al. (arXiv:2104.04473), section 2.2; for splitting along
/// the sequence, Korthikanti et al. (arXiv:2205.05198), section 4.2.
Memory memory(const PlannedModel& model, const TrainingOptions& options, const Layout& layout);

/// The layout with the fewest devices on which the model fits in `device_bytes`, with a micro-batch
/// as given; among those with as many, the one with the most tensor parallelism, which stays in a
/// node. Nothing where none of up to 4096 devices does.
std::optional<Layout> smallest_layout(const PlannedModel& model, const TrainingOptions& options,
                                      double device_bytes);

/// @param processes ranks that share the memory of the host, where that is the device
/// @throws steps::OutOfMemory if a step needs more than the device has, before anything is
/// allocated
void check_memory(const PlannedModel& model, const TrainingOptions& options,
                  const torch::Device& device, int processes);

/// Prints what `--plan` promises.
void log_plan(const PlannedModel& model, const TrainingOptions& options);

}  // namespace bench::transformer
