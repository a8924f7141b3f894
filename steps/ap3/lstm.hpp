#pragma once

#include "ap3/column.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::ap3 {

/// Sizes of `Lstm`, for itself and for its cost.
struct LstmSizes {
  static constexpr std::int64_t features = 28;  ///< Of a layer, see `layer_features`.
  static constexpr std::int64_t hidden = 64;
};

/// MAELSTROM's recurrent radiation emulator (`rnn`): an LSTM from the top of the atmosphere to the
/// surface, one back up that begins with what the surface reflects, and one down again, whose
/// outputs are the fluxes at the half levels as shares of the incoming solar flux. Heating rates
/// follow from the fluxes.
///
/// Source: MAELSTROM deliverable D3.7, section on AP3; the idea is that of Ukkonen, Exploring
/// Pathways to More Accurate Machine Learning Emulation of Atmospheric Radiative Transfer (JAMES
/// 2022, 10.1029/2021MS002875). Weights begin as in Keras.
class LstmImpl : public torch::nn::Module {
 public:
  LstmImpl();
  Radiation forward(const Columns& columns);

 private:
  torch::nn::LSTM down_;
  torch::nn::Linear surface_output_;
  torch::nn::Linear surface_cell_;
  torch::nn::LSTM up_;
  torch::nn::LSTM down_again_;
  torch::nn::Linear fluxes_;     // Keras' Conv1D with a kernel of 1
  torch::Tensor layer_factors_;  // (24)
};
TORCH_MODULE(Lstm);

/// Features of the layers, scaled to about 1: their variables except oxygen, HCFC-22 and CCl4,
/// which are the same everywhere, the cosine of the zenith angle, the logarithm of the pressure,
/// the temperature and the thickness.
/// @param factors (24), of the variables
/// @returns (B, 137, 28)
torch::Tensor layer_features(const Columns& columns, const torch::Tensor& factors);

}  // namespace bench::ap3
