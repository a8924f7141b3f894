#pragma once

#include "ap3/data.hpp"
#include "harness/cost.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::ap3 {

/// Solar flux through the top of the atmosphere, W m^-2: (B, 17) -> (B, 1).
torch::Tensor incoming_solar_flux(const torch::Tensor& scalars);

/// Pressure across the layers, Pa: (B, 138, 1) -> (B, 137, 1).
torch::Tensor layer_thickness(const torch::Tensor& pressure);

/// Heating rate of the layers, from the divergence of the net flux.
/// @param fluxes (B, 138, 2), down and up
/// @param pressure (B, 138, 1)
/// @returns (B, 137, 1), K per day
torch::Tensor heating_rate_of(const torch::Tensor& fluxes, const torch::Tensor& pressure);

/// Fluxes at the boundaries of the atmosphere, (B, 3): net at the top, down and up at the surface.
/// @param fluxes (B, 138, 2), down and up
torch::Tensor boundary_fluxes(const torch::Tensor& fluxes);

/// The same, from the fluxes at the surface and what the layers absorb.
/// @param surface_fluxes (B, 2), down and up
/// @param heating_rate (B, 137, 1)
/// @param pressure (B, 138, 1)
torch::Tensor boundary_fluxes(const torch::Tensor& surface_fluxes,
                              const torch::Tensor& heating_rate, const torch::Tensor& pressure);

/// Sizes of `Cnn`, for itself and for its cost.
struct CnnSizes {
  static constexpr std::int64_t features =  ///< Of a half level: all variables, repeated or padded.
      scalar::count + layer::count + half_level::count + 1;
  static constexpr std::int64_t channels = 64;
  static constexpr std::int64_t kernel = 5;
  static constexpr std::array<std::int64_t, 11> dilations{1, 2, 4, 8, 16, 1, 1, 1, 1, 1, 1};
  static constexpr std::int64_t flux_channels = 8;
  static constexpr std::int64_t dense_layers = 3;
  static constexpr std::int64_t dense_width = 32;
};

/// MAELSTROM's radiation emulator `min_cnn`: dilated convolutions over the half levels, a head for
/// the heating rates, and one for the fluxes at the surface, which with the heating rates give the
/// net flux at the top.
///
/// Its fluxes are those of `boundary_fluxes`, (B, 3). Source: MAELSTROM deliverable D3.7, section
/// on AP3, whose number of parameters this network has. Weights begin as in Keras.
class CnnImpl : public torch::nn::Module {
 public:
  CnnImpl();
  Radiation forward(const Columns& columns);

 private:
  torch::Tensor features(const Columns& columns, const torch::Tensor& scalars) const;

  torch::Tensor scalar_factors_;      // (17)
  torch::Tensor layer_factors_;       // (27)
  torch::Tensor half_level_factors_;  // (2)
  std::vector<torch::nn::Conv1d> convolutions_;
  torch::nn::Conv1d heating_rate_;
  torch::nn::Conv1d flux_features_;
  std::vector<torch::nn::Linear> dense_;
  torch::nn::Linear surface_fluxes_;
};
TORCH_MODULE(Cnn);

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

/// Stands in for a network where only the reading of the data is measured, as by D3.7's `dl_test`.
class ReadingImpl : public torch::nn::Module {
 public:
  ReadingImpl() : nothing_(register_parameter("nothing", torch::zeros({1}))) {}

  /// @returns 0
  torch::Tensor forward(const Columns&) { return 0 * nothing_.sum(); }

 private:
  torch::Tensor nothing_;  // a trainer wants a parameter
};
TORCH_MODULE(Reading);

steps::Cost cnn_cost();
steps::Cost lstm_cost();
/// Of reading alone: inputs, and no network.
steps::Cost reading_cost();

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
