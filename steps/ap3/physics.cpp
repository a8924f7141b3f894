#include "ap3/physics.hpp"

#include "ap3/column.hpp"

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

}  // namespace bench::ap3
