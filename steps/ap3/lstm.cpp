#include "ap3/lstm.hpp"

#include "ap3/column.hpp"
#include "ap3/physics.hpp"
#include "harness/keras.hpp"

#include <cstdint>
#include <tuple>

namespace bench::ap3 {
namespace {

torch::nn::LSTM lstm(std::int64_t inputs) {
  return torch::nn::LSTM(torch::nn::LSTMOptions(inputs, LstmSizes::hidden).batch_first(true));
}

/// Without the variables that are constant.
/// @param x their number as the last dimension
torch::Tensor varying(const torch::Tensor& x) {
  const auto between = [&](std::int64_t begin, std::int64_t end) {
    return x.narrow(-1, begin, end - begin);
  };
  return torch::cat({between(0, layer::oxygen), between(layer::oxygen + 1, layer::hcfc22),
                     between(layer::ccl4 + 1, layer::count)},
                    -1);
}

/// From the half levels to the layers between them: (B, 138, 1) -> (B, 137, 1).
torch::Tensor mean_of_neighbours(const torch::Tensor& x) {
  return (x.narrow(1, 0, layer_count) + x.narrow(1, 1, layer_count)) / 2;
}

}  // namespace

torch::Tensor layer_features(const Columns& columns, const torch::Tensor& factors) {
  const torch::Tensor pressure = columns.half_levels.narrow(2, half_level::pressure, 1);
  const torch::Tensor temperature = columns.half_levels.narrow(2, half_level::temperature, 1);
  const torch::Tensor cosine = columns.scalars.narrow(1, scalar::cos_zenith_angle, 1);  // (B, 1)
  return torch::cat(
      {varying(columns.layers) * factors, cosine.unsqueeze(1).expand({-1, layer_count, 1}),
       mean_of_neighbours(pressure).log() * log_pressure_factor,
       mean_of_neighbours(temperature) * temperature_factor,
       layer_thickness(pressure) * thickness_factor},
      2);
}

LstmImpl::LstmImpl()
    : down_(register_module("down", lstm(LstmSizes::features))),
      surface_output_(register_module(
          "surface_output",
          torch::nn::Linear(2 * LstmSizes::hidden + scalar::albedos, LstmSizes::hidden))),
      surface_cell_(register_module(
          "surface_cell",
          torch::nn::Linear(2 * LstmSizes::hidden + scalar::albedos, LstmSizes::hidden))),
      up_(register_module("up", lstm(LstmSizes::hidden + 1))),
      down_again_(register_module("down_again", lstm(2 * LstmSizes::hidden + 1))),
      fluxes_(register_module("fluxes", torch::nn::Linear(LstmSizes::hidden, 2))),
      layer_factors_(register_buffer("layer_factors", varying(factors_of_layers()))) {
  steps::keras::initialise(*this);
}

Radiation LstmImpl::forward(const Columns& columns) {
  const auto [outputs, last] = down_(layer_features(columns, layer_factors_));  // (B, 137, 64)
  const auto& [output, cell] = last;                                            // (1, B, 64) each
  const torch::Tensor at_surface = torch::cat(                                  // (B, 64 + 64 + 12)
      {output[0], cell[0], columns.scalars.narrow(1, scalar::albedo, scalar::albedos)}, 1);
  const torch::Tensor surface_output = surface_output_(at_surface);  // (B, 64)
  const torch::Tensor surface_cell = surface_cell_(at_surface);      // (B, 64)

  const torch::Tensor half_levels = torch::cat(  // (B, 138, 64 + 1)
      {torch::cat({outputs, surface_output.unsqueeze(1)}, 1),
       torch::constant_pad_nd(columns.interfaces, {0, 0, 1, 1})},
      2);
  const auto as_state = [&](const torch::Tensor& x) {     // (B, 64) -> (1, B, 64)
    return x.unsqueeze(0).to(half_levels.scalar_type());  // autocast mixes precisions
  };
  const auto [reversed, highest] =  // (B, 138, 64), from the surface up
      up_(half_levels.flip(1), std::make_tuple(as_state(surface_output), as_state(surface_cell)));
  const auto [both, lowest] =  // (B, 138, 64)
      down_again_(torch::cat({half_levels, reversed.flip(1)}, 2));
  const torch::Tensor fluxes =  // (B, 138, 2)
      torch::sigmoid(fluxes_(both)).to(columns.scalars.scalar_type()) *
      incoming_solar_flux(columns.scalars).unsqueeze(1);
  return {.fluxes = fluxes, .heating_rate = heating_rate_of(fluxes, columns.pressure)};
}

}  // namespace bench::ap3
