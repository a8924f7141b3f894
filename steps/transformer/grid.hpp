#pragma once

#include "harness/communicator.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstdint>
#include <string>

namespace bench::transformer {

/// Number of devices per kind of parallelism.
struct Layout {
  std::int64_t tensor = 1;    ///< Split the matrices of a layer, and activations by tokens.
  std::int64_t pipeline = 1;  ///< Split the layers.
  std::int64_t data = 1;      ///< Split the batch, and the state of the optimizer (ZeRO-1).

  std::int64_t devices_per_model() const { return tensor * pipeline; }
  std::int64_t devices() const { return devices_per_model() * data; }
};

/// Returns why a layout cannot split a model into equal shares; empty if it can.
std::string layout_error(const DecoderSizes& sizes, const Layout& layout);

/// The process groups of a rank.
///
/// With tensor index t of T, data index d of D and stage p of P, rank = t + T (d + D p), as in
/// Megatron-LM: tensor-parallel ranks exchange most, so their numbers are adjacent.
class Grid {
 public:
  /// @param all every rank; must outlive this object
  /// @throws std::invalid_argument if the layout has another number of devices
  Grid(steps::Communicator& all, const Layout& layout);

  steps::Communicator& all() { return all_; }
  /// Ranks with other shares of the same layers.
  TensorRanks& tensor() { return tensor_; }
  /// Ranks with the same share of the model and other samples.
  steps::Communicator& data() { return data_; }
  /// The first and the last stage, which both hold a tied embedding; this rank alone in other
  /// stages.
  steps::Communicator& ends() { return ends_; }
  /// All stages in their order, once per direction: NCCL executes the operations of two ranks in
  /// one group strictly in the order of the calls.
  steps::Communicator& to_next_stage() { return to_next_stage_; }
  steps::Communicator& to_previous_stage() { return to_previous_stage_; }

  int all_rank() const { return all_.rank(); }
  int data_rank() const { return data_.rank(); }
  std::int64_t stage() const { return stage_; }
  std::int64_t stages() const { return stages_; }
  bool is_first_stage() const { return stage_ == 0; }
  bool is_last_stage() const { return stage_ == stages_ - 1; }

 private:
  steps::Communicator& all_;
  std::int64_t stage_;
  std::int64_t stages_;
  TensorRanks tensor_;
  steps::Communicator data_;
  steps::Communicator ends_;
  steps::Communicator to_next_stage_;
  steps::Communicator to_previous_stage_;
};

}  // namespace bench::transformer
