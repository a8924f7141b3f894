#pragma once

#include "harness/communicator.hpp"

#include <utility>

namespace bench::transformer {

/// The T ranks that split the matrices of a model.
struct TensorRanks : steps::Communicator {
  TensorRanks() = default;  ///< One rank alone.
  TensorRanks(steps::Communicator ranks) : Communicator(std::move(ranks)) {}

  /// Between matrices each rank has the activations of all tokens, rather than of its slice of the
  /// sequence. For inference, where a single token cannot be split; there is no backward pass then.
  bool have_all_tokens = false;
};

}  // namespace bench::transformer
