#include "ap3/loss.hpp"

#include "ap3/column.hpp"
#include "ap3/physics.hpp"

namespace bench::ap3 {

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
