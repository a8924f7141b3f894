#include "ap3/cnn.hpp"

#include "ap3/column.hpp"
#include "ap3/physics.hpp"
#include "harness/keras.hpp"

#include <cstdint>

#include <fmt/core.h>

namespace bench::ap3 {
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

}  // namespace bench::ap3
