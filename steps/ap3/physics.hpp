#pragma once

#include "harness/torch_all.hpp"

namespace bench::ap3 {

/// K per day for a layer that absorbs 1 W m^-2 per pascal of its thickness: g / c_p, with c_p of
/// dry air as in ECMWF's data.
inline constexpr double heating_per_absorption = 9.80665 / 1004 * 86400;

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

}  // namespace bench::ap3
