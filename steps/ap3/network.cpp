#include "ap3/network.hpp"

#include "ap3/data.hpp"
#include "harness/cost.hpp"
#include "harness/keras.hpp"

#include <cstddef>
#include <cstdint>
#include <tuple>

#include <fmt/core.h>

namespace bench::ap3 {

torch::Tensor incoming_solar_flux(const torch::Tensor& scalars) {
  return scalars.narrow(1, scalar::cos_zenith_angle, 1) *
         scalars.narrow(1, scalar::solar_irradiance, 1);
}

torch::Tensor layer_thickness(const torch::Tensor& pressure) {
  return pressure.diff(1, 1);
}

torch::Tensor heating_rate_of(const torch::Tensor& fluxes, const torch::Tensor& pressure) {
  const torch::Tensor net = fluxes.narrow(2, 0, 1) - fluxes.narrow(2, 1, 1);  // (B, 138, 1)
  return -heating_per_absorption * net.diff(1, 1) / layer_thickness(pressure);
}

torch::Tensor boundary_fluxes(const torch::Tensor& fluxes) {
  const torch::Tensor top = fluxes.select(1, 0);                         // (B, 2)
  const torch::Tensor surface = fluxes.select(1, half_level_count - 1);  // (B, 2)
  return torch::cat({top.narrow(1, 0, 1) - top.narrow(1, 1, 1), surface}, 1);
}

torch::Tensor boundary_fluxes(const torch::Tensor& surface_fluxes,
                              const torch::Tensor& heating_rate, const torch::Tensor& pressure) {
  const torch::Tensor absorbed =  // (B, 1)
      (heating_rate * layer_thickness(pressure)).sum(1) / heating_per_absorption;
  const torch::Tensor net = surface_fluxes.narrow(1, 0, 1) - surface_fluxes.narrow(1, 1, 1);
  return torch::cat({net + absorbed, surface_fluxes}, 1);
}

namespace {

/// Over as many half levels as it gets.
torch::nn::Conv1d convolution(std::int64_t in, std::int64_t out, std::int64_t dilation = 1) {
  return torch::nn::Conv1d(torch::nn::Conv1dOptions(in, out, CnnSizes::kernel)
                               .dilation(dilation)
                               .padding(dilation * (CnnSizes::kernel / 2)));
}

/// The albedos, emissivities and the cosine need no factor.
torch::Tensor scalar_factors() {
  torch::Tensor factors = torch::ones(scalar::count);
  factors[scalar::skin_temperature] = temperature_factor;
  factors[scalar::solar_irradiance] = irradiance_factor;
  return factors;
}

torch::Tensor factors_of_half_levels() {
  torch::Tensor factors = torch::empty(half_level::count);
  factors[half_level::pressure] = pressure_factor;
  factors[half_level::temperature] = temperature_factor;
  return factors;
}

}  // namespace

CnnImpl::CnnImpl()
    : scalar_factors_(register_buffer("scalar_factors", scalar_factors())),
      layer_factors_(register_buffer("layer_factors", factors_of_layers())),
      half_level_factors_(register_buffer("half_level_factors", factors_of_half_levels())),
      heating_rate_(register_module("heating_rate", convolution(CnnSizes::channels, 1))),
      flux_features_(register_module("flux_features",
                                     convolution(CnnSizes::channels, CnnSizes::flux_channels))),
      surface_fluxes_(
          register_module("surface_fluxes", torch::nn::Linear(CnnSizes::dense_width, 2))) {
  std::int64_t inputs = CnnSizes::features;
  for (const std::int64_t dilation : CnnSizes::dilations) {
    convolutions_.push_back(register_module(fmt::format("convolution{}", convolutions_.size()),
                                            convolution(inputs, CnnSizes::channels, dilation)));
    inputs = CnnSizes::channels;
  }
  inputs = half_level_count * CnnSizes::flux_channels + scalar::count;
  for (std::int64_t i = 0; i < CnnSizes::dense_layers; ++i) {
    dense_.push_back(register_module(fmt::format("dense{}", i),
                                     torch::nn::Linear(inputs, CnnSizes::dense_width)));
    inputs = CnnSizes::dense_width;
  }
  steps::keras::initialise(*this);
}

/// All variables at each half level: (B, 47, 138).
/// @param scalars those of the columns, times their factors
torch::Tensor CnnImpl::features(const Columns& columns, const torch::Tensor& scalars) const {
  const torch::Tensor layers = (columns.layers * layer_factors_).transpose(1, 2);  // (B, 27, 137)
  return torch::cat({scalars.unsqueeze(2).expand({-1, -1, half_level_count}),
                     torch::constant_pad_nd(layers, {1, 0}),
                     (columns.half_levels * half_level_factors_).transpose(1, 2),
                     torch::constant_pad_nd(columns.interfaces.transpose(1, 2), {1, 1})},
                    1);
}

Radiation CnnImpl::forward(const Columns& columns) {
  const torch::ScalarType precision = columns.scalars.scalar_type();  // also with autocast
  const torch::Tensor scalars = columns.scalars * scalar_factors_;    // (B, 17)
  torch::Tensor x = features(columns, scalars);                       // (B, 47, 138)
  for (torch::nn::Conv1d& convolve : convolutions_)
    x = torch::silu(convolve(x));     // (B, 64, 138)
  const torch::Tensor heating_rate =  // (B, 137, 1)
      heating_rate_(x).narrow(2, 0, layer_count).transpose(1, 2).to(precision);

  torch::Tensor fluxes = torch::silu(flux_features_(x));                 // (B, 8, 138)
  fluxes = torch::cat({fluxes.transpose(1, 2).flatten(1), scalars}, 1);  // (B, 138*8 + 17)
  for (torch::nn::Linear& dense : dense_)
    fluxes = torch::silu(dense(fluxes));  // (B, 32)
  const torch::Tensor surface =           // (B, 2)
      torch::sigmoid(surface_fluxes_(fluxes)).to(precision) * incoming_solar_flux(columns.scalars);
  return {.fluxes = boundary_fluxes(surface, heating_rate, columns.pressure),
          .heating_rate = heating_rate};
}

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

namespace {

steps::Cost cost_of_input() {
  return steps::Cost()
      .input({scalar::count})
      .input({layer_count, layer::count})
      .input({half_level_count, half_level::count})
      .input({interface_count})
      .input({half_level_count});
}

void add_convolution(steps::Cost& cost, std::int64_t in, std::int64_t out) {
  cost.convolution(
      {.in = in, .out = out, .kernel = {CnnSizes::kernel}, .output = {half_level_count}});
}

}  // namespace

steps::Cost cnn_cost() {
  using Sizes = CnnSizes;
  steps::Cost cost = cost_of_input();
  std::int64_t inputs = Sizes::features;
  for (std::size_t i = 0; i < Sizes::dilations.size(); ++i) {
    add_convolution(cost, inputs, Sizes::channels);
    inputs = Sizes::channels;
  }
  add_convolution(cost, Sizes::channels, 1);
  add_convolution(cost, Sizes::channels, Sizes::flux_channels);
  inputs = half_level_count * Sizes::flux_channels + scalar::count;
  for (std::int64_t i = 0; i < Sizes::dense_layers; ++i) {
    cost.linear({.in = inputs, .out = Sizes::dense_width});
    inputs = Sizes::dense_width;
  }
  return cost.linear({.in = inputs, .out = 2});
}

steps::Cost lstm_cost() {
  using Sizes = LstmSizes;
  const auto add_lstm = [](steps::Cost& cost, std::int64_t inputs, std::int64_t steps) {
    cost.lstm({.inputs = inputs, .hidden = Sizes::hidden, .steps = steps, .bias_vectors = 1});
  };
  steps::Cost cost = cost_of_input();
  add_lstm(cost, Sizes::features, layer_count);
  for (int surface_state = 0; surface_state < 2; ++surface_state)
    cost.linear({.in = 2 * Sizes::hidden + scalar::albedos, .out = Sizes::hidden});
  add_lstm(cost, Sizes::hidden + 1, half_level_count);
  add_lstm(cost, 2 * Sizes::hidden + 1, half_level_count);
  return cost.linear({.in = Sizes::hidden, .out = 2, .positions = half_level_count});
}

steps::Cost reading_cost() {
  return cost_of_input();
}

torch::Tensor cnn_loss(const Radiation& predicted, const Radiation& target) {
  return 1000 * torch::mse_loss(predicted.heating_rate, target.heating_rate) +
         torch::mse_loss(predicted.fluxes, boundary_fluxes(target.fluxes));
}

torch::Tensor lstm_loss(const Radiation& predicted, const Radiation& target, FluxError error) {
  torch::Tensor flux_error = predicted.fluxes - target.fluxes;  // (B, 138, 2)
  if (error == FluxError::of_column) {
    const torch::Tensor incoming = target.fluxes.narrow(1, 0, 1).narrow(2, 0, 1);  // (B, 1, 1)
    // At night predicted and target are 0, and so is their difference by any number.
    flux_error = flux_error / incoming.masked_fill(incoming == 0, 1);
  }
  return 0.1 * torch::l1_loss(predicted.heating_rate, target.heating_rate) +
         flux_error.abs().mean();
}

}  // namespace bench::ap3
