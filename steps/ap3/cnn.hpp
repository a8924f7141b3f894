#pragma once

#include "ap3/column.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::ap3 {

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

}  // namespace bench::ap3
