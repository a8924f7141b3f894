#include "ap3/data.hpp"
#include "ap3/network.hpp"
#include "steps/synthetic_batches.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench::ap3 {
namespace {

using Shape = std::vector<std::int64_t>;

TEST(Ap3Networks, PredictFluxesAndHeatingRates) {
  const torch::NoGradGuard no_gradient;
  const Columns columns = synthetic_batch(2).columns;
  const Radiation of_cnn = Cnn()(columns);
  EXPECT_EQ(of_cnn.fluxes.sizes(), (Shape{2, 3}));
  EXPECT_EQ(of_cnn.heating_rate.sizes(), (Shape{2, 137, 1}));
  const Radiation of_lstm = Lstm()(columns);
  EXPECT_EQ(of_lstm.fluxes.sizes(), (Shape{2, 138, 2}));
  EXPECT_EQ(of_lstm.heating_rate.sizes(), (Shape{2, 137, 1}));
}

TEST(Ap3Cnn, ConservesEnergy) {
  const torch::NoGradGuard no_gradient;
  torch::manual_seed(1);
  const Columns columns = synthetic_batch(4).columns;
  const auto [fluxes, heating_rate] = Cnn()(columns);
  const torch::Tensor absorbed =
      (heating_rate * layer_thickness(columns.pressure)).sum({1, 2}) / heating_per_absorption;
  const torch::Tensor net_at_surface = fluxes.select(1, 1) - fluxes.select(1, 2);
  EXPECT_TRUE(torch::allclose(fluxes.select(1, 0), net_at_surface + absorbed, 1e-4, 1e-2));
}

TEST(Ap3Cnn, TakesNoLightInTheDark) {
  const torch::NoGradGuard no_gradient;
  const Columns columns = synthetic_batch(2).columns;
  columns.scalars.select(1, scalar::cos_zenith_angle).zero_();
  const torch::Tensor fluxes = Cnn()(columns).fluxes;  // (2, 3): net at the top, down, up
  EXPECT_EQ(fluxes.narrow(1, 1, 2).abs().max().item<double>(), 0);
}

TEST(Ap3Lstm, GivesSharesOfTheIncomingFlux) {
  const torch::NoGradGuard no_gradient;
  const Columns columns = synthetic_batch(4).columns;
  const torch::Tensor shares =
      Lstm()(columns).fluxes / incoming_solar_flux(columns.scalars).unsqueeze(1);
  EXPECT_GT(shares.min().item<double>(), 0);
  EXPECT_LT(shares.max().item<double>(), 1);
}

/// Up-flux at a half level before and after a change of the columns.
template <typename Change>
std::pair<float, float> up_flux_around(const Change& change, std::int64_t half_level) {
  const torch::NoGradGuard no_gradient;
  torch::manual_seed(1);
  Lstm network;
  const Columns columns = synthetic_batch(1).columns;
  const auto up_flux = [&] { return network(columns).fluxes[0][half_level][1].item<float>(); };
  const float before = up_flux();
  change(columns);
  return {before, up_flux()};
}

TEST(Ap3Lstm, TellsLayersOfTheSurfaceBelowThem) {
  const auto [before, after] = up_flux_around(
      [](const Columns& columns) {
        columns.scalars.narrow(1, scalar::albedo, scalar::albedos).fill_(0.9);
      },
      half_level_count - 5);
  EXPECT_NE(before, after);
}

TEST(Ap3Lstm, TellsLayersOfThoseAboveThem) {
  const auto [before, after] =
      up_flux_around([](const Columns& columns) { columns.layers.select(1, 0).zero_(); }, 5);
  EXPECT_NE(before, after);
}

TEST(Ap3Lstm, SeesLayersScaledToAboutOne) {
  const Columns columns = synthetic_batch(8).columns;
  const torch::Tensor factors = torch::ones(24);
  const torch::Tensor features = layer_features(columns, factors);  // (8, 137, 28)
  EXPECT_EQ(features.sizes(), (Shape{8, 137, 28}));
  const torch::Tensor layers = columns.layers;
  EXPECT_TRUE(torch::equal(features.select(2, 4), layers.select(2, 4)));
  EXPECT_TRUE(torch::equal(features.select(2, 5), layers.select(2, 6)));   // without oxygen
  EXPECT_TRUE(torch::equal(features.select(2, 7), layers.select(2, 10)));  // and two more
  EXPECT_TRUE(torch::equal(features.select(2, 23), layers.select(2, 26)));
  for (std::int64_t i = 24; i < 28; ++i) {
    EXPECT_GE(features.select(2, i).min().item<double>(), 0) << i;
    EXPECT_LT(features.select(2, i).max().item<double>(), 1.1) << i;
  }
}

// Between 0, 100 and 300 Pa a column absorbs 50 and 20 W m^-2.
TEST(Ap3Physics, HeatingRateIsTheDivergenceOfTheNetFlux) {
  const torch::Tensor pressure = torch::tensor({0.0F, 100.0F, 300.0F}).view({1, 3, 1});
  const torch::Tensor fluxes =
      torch::tensor({200.0F, 20.0F, 140.0F, 10.0F, 115.0F, 5.0F}).view({1, 3, 2});
  const torch::Tensor rate = heating_rate_of(fluxes, pressure);
  EXPECT_EQ(rate.sizes(), (Shape{1, 2, 1}));
  EXPECT_NEAR(heating_per_absorption, 843.92, 0.01);
  EXPECT_NEAR(rate[0][0].item<double>(), 843.92 * 50 / 100, 0.01);
  EXPECT_NEAR(rate[0][1].item<double>(), 843.92 * 20 / 200, 0.01);
}

TEST(Ap3Physics, FluxesAtTheBoundariesFollowFromThoseAtTheSurface) {
  const Batch batch = synthetic_batch(4);
  const torch::Tensor profile = boundary_fluxes(batch.radiation.fluxes);
  const torch::Tensor integrated =
      boundary_fluxes(batch.radiation.fluxes.select(1, half_level_count - 1),
                      batch.radiation.heating_rate, batch.columns.pressure);
  EXPECT_EQ(profile.sizes(), (Shape{4, 3}));
  EXPECT_TRUE(torch::allclose(profile, integrated, 1e-4, 1e-2));
}

/// Fluxes and heating rates that are the same everywhere.
Radiation constant_radiation(const Shape& shape_of_fluxes, double flux, double heating_rate) {
  return {torch::full(shape_of_fluxes, flux), torch::full({2, 137, 1}, heating_rate)};
}

// Heating rates differ by 2, fluxes at the boundaries by 9 (net), 4 and 4.
TEST(Ap3Loss, OfTheCnnIsOfSquares) {
  Radiation predicted = constant_radiation({2, 3}, 14, 3);
  predicted.fluxes.select(1, 0).fill_(9);
  const Radiation target = constant_radiation({2, 138, 2}, 10, 1);  // net 0
  EXPECT_NEAR(cnn_loss(predicted, target).item<double>(), 1000 * 4 + (81 + 16 + 16) / 3.0, 1e-2);
}

// Heating rates differ by 2, fluxes by 4; the flux into the column is 10.
TEST(Ap3Loss, OfTheLstmIsOfAbsoluteErrors) {
  const Radiation predicted = constant_radiation({2, 138, 2}, 14, 3);
  const Radiation target = constant_radiation({2, 138, 2}, 10, 1);
  EXPECT_NEAR(lstm_loss(predicted, target, FluxError::absolute).item<double>(), 0.2 + 4, 1e-5);
  EXPECT_NEAR(lstm_loss(predicted, target, FluxError::of_column).item<double>(), 0.2 + 0.4, 1e-5);
}

TEST(Ap3Loss, OfTheLstmIsFiniteAtNight) {
  const Radiation predicted = constant_radiation({2, 138, 2}, 0, 3);
  const Radiation target = constant_radiation({2, 138, 2}, 0, 1);
  EXPECT_NEAR(lstm_loss(predicted, target, FluxError::of_column).item<double>(), 0.2, 1e-5);
}

TEST(Ap3Synthetic, ColumnsAbsorbAndReflectWhatComesIn) {
  const Batch batch = synthetic_batch(16);
  const torch::Tensor& fluxes = batch.radiation.fluxes;
  EXPECT_TRUE(torch::allclose(fluxes.select(1, 0).narrow(1, 0, 1),
                              incoming_solar_flux(batch.columns.scalars)));
  EXPECT_TRUE((batch.columns.pressure.diff(1, 1) > 0).all().item<bool>());
  EXPECT_TRUE((batch.radiation.heating_rate >= 0).all().item<bool>());
  EXPECT_LT(batch.radiation.heating_rate.max().item<double>(), 200);  // K per day
  const torch::Tensor reflected = fluxes.select(1, half_level_count - 1);
  EXPECT_TRUE(
      torch::allclose(reflected.select(1, 1),
                      reflected.select(1, 0) * batch.columns.scalars.select(1, scalar::albedo)));
}

TEST(Ap3Synthetic, HeatingRatesAreThoseOfTheFluxes) {
  const Batch batch = synthetic_batch(4);
  EXPECT_TRUE(torch::allclose(heating_rate_of(batch.radiation.fluxes, batch.columns.pressure),
                              batch.radiation.heating_rate, 0.05, 0.5));
}

}  // namespace
}  // namespace bench::ap3
