#pragma once

#include "ap3/column.hpp"
#include "harness/torch_all.hpp"

namespace bench::ap3 {

/// 1000 MSE(heating rates) + MSE(fluxes at the boundaries).
/// @param predicted fluxes (B, 3)
/// @param target fluxes (B, 138, 2)
torch::Tensor cnn_loss(const Radiation& predicted, const Radiation& target);

enum class FluxError {
  absolute,   ///< As MAELSTROM's runs without data have it.
  of_column,  ///< As a share of the target's flux into the column at the top. At night it is 0.
};

/// 0.1 MAE(heating rates) + MAE(fluxes).
/// @param predicted fluxes (B, 138, 2)
/// @param target fluxes (B, 138, 2)
torch::Tensor lstm_loss(const Radiation& predicted, const Radiation& target, FluxError error);

}  // namespace bench::ap3
