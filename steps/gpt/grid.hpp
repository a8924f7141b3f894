#pragma once

#include "gpt/layout.hpp"
#include "harness/communicator.hpp"

#include <cstdint>

namespace bench::gpt {

/// Where this rank stands among all, and the groups it works in. With tensor t of T, data d of D
/// and stage p of P, rank = t + T (d + D p): those who talk most are neighbours, as in Megatron-LM.
class Grid {
 public:
  /// @param all every rank; must outlive this object
  /// @throws std::invalid_argument if the layout has another number of devices
  Grid(steps::Communicator& all, const Layout& layout);

  steps::Communicator& all() { return all_; }
  /// Those that have other parts of the same layers.
  steps::Communicator& tensor() { return tensor_; }
  /// Those that have the same part of the model and other samples.
  steps::Communicator& data() { return data_; }
  /// The first and the last stage, which both have the embedding; this rank alone in other stages.
  steps::Communicator& ends() { return ends_; }
  /// All stages, in their order, for what goes on to the next one and what comes back from it: two
  /// groups, since NCCL does what two ranks ask for in one group strictly in the order of calls.
  steps::Communicator& onward() { return onward_; }
  steps::Communicator& back() { return back_; }

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
  steps::Communicator tensor_;
  steps::Communicator data_;
  steps::Communicator ends_;
  steps::Communicator onward_;
  steps::Communicator back_;
};

}  // namespace bench::gpt
