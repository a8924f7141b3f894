#include "ap3/data.hpp"

#include "data/example.hpp"
#include "data/field_samples.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/batches.hpp"
#include "harness/loader_options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bench::ap3 {

torch::Tensor factors_of_layers() {
  return torch::tensor(torch::ArrayRef<double>(layer_factors), torch::kFloat);
}

std::vector<steps::Field> fields() {
  return {{.name = "sca_inputs", .shape = {scalar::count}},
          {.name = "col_inputs", .shape = {layer_count, layer::count}},
          {.name = "hl_inputs", .shape = {half_level_count, half_level::count}},
          {.name = "inter_inputs", .shape = {interface_count, 1}},
          {.name = "pressure_hl", .shape = {half_level_count, 1}},
          {.name = "sw", .shape = {half_level_count, 2}},
          {.name = "hr_sw", .shape = {layer_count, 1}}};
}

Columns columns_of(const steps::Batch& batch) {
  return {.scalars = batch["sca_inputs"],
          .layers = batch["col_inputs"],
          .half_levels = batch["hl_inputs"],
          .interfaces = batch["inter_inputs"],
          .pressure = batch["pressure_hl"]};
}

Radiation target_of(const steps::Batch& batch) {
  return {.fluxes = batch["sw"], .heating_rate = batch["hr_sw"]};
}

namespace {

constexpr auto layers_of_column = static_cast<std::size_t>(layer_count);
constexpr auto half_levels_of_column = static_cast<std::size_t>(half_level_count);
constexpr auto layer_variables = static_cast<std::size_t>(layer::count);

double uniform(steps::Random& random, double least, double most) {
  return least + (most - least) * random.uniform();
}

/// Layers are thinnest at the top, where the pressure is 0.
void fill_pressure_and_temperature(steps::Random& random, const ColumnMemory& sample) {
  const double surface_pressure = uniform(random, 9.5e4, 1.03e5);
  const double top_temperature = uniform(random, 190, 220);
  const double surface_temperature = sample.scalars[scalar::skin_temperature];
  for (std::size_t k = 0; k < half_levels_of_column; ++k) {
    const double depth = static_cast<double>(k) / static_cast<double>(layers_of_column);
    const double sigma = depth * depth;  // pressure as a share of that at the surface
    sample.pressure[k] = static_cast<float>(surface_pressure * sigma);
    float* const variables = &sample.half_levels[k * half_level::count];
    variables[half_level::pressure] = sample.pressure[k];
    variables[half_level::temperature] =
        static_cast<float>(top_temperature + (surface_temperature - top_temperature) * sigma);
  }
}

void fill_inputs(steps::Random& random, const ColumnMemory& sample) {
  std::ranges::generate(sample.scalars,
                        [&] { return static_cast<float>(uniform(random, 0.05, 1)); });
  sample.scalars[scalar::skin_temperature] = static_cast<float>(uniform(random, 250, 310));
  sample.scalars[scalar::solar_irradiance] = static_cast<float>(uniform(random, 1315, 1415));
  for (std::size_t i = 0; i < sample.layers.size(); ++i)
    sample.layers[i] = static_cast<float>(random.uniform() / layer_factors[i % layer_variables]);
  std::ranges::generate(sample.interfaces, [&] { return static_cast<float>(random.uniform()); });
  fill_pressure_and_temperature(random, sample);
}

/// Optical depth of what lies above each half level.
std::array<double, half_levels_of_column> optical_depths(const ColumnMemory& sample) {
  constexpr double vapour_absorption = 0.01;  // m^2/kg: two thirds of the light from overhead
  constexpr double water_absorption = 0.1;    // m^2/kg, where there are clouds
  constexpr double gravity = 9.80665;
  std::array<double, half_levels_of_column> depths{};
  for (std::size_t k = 0; k < layers_of_column; ++k) {
    const float* const variables = &sample.layers[k * layer_variables];
    const double mass = (sample.pressure[k + 1] - sample.pressure[k]) / gravity;  // kg/m^2
    depths[k + 1] = depths[k] + mass * (vapour_absorption * variables[layer::specific_humidity] +
                                        water_absorption * variables[layer::cloud_fraction] *
                                            variables[layer::liquid_water]);
  }
  return depths;
}

void fill_targets(const ColumnMemory& sample) {
  constexpr double diffuse_path = 1.66;
  const std::array<double, half_levels_of_column> depths = optical_depths(sample);
  const double cosine = sample.scalars[scalar::cos_zenith_angle];
  const double incoming = cosine * sample.scalars[scalar::solar_irradiance];
  const double albedo = sample.scalars[scalar::albedo];
  const double reflected = albedo * incoming * std::exp(-depths.back() / cosine);
  std::array<double, half_levels_of_column> net{};
  for (std::size_t k = 0; k < half_levels_of_column; ++k) {
    const double down = incoming * std::exp(-depths[k] / cosine);
    const double up = reflected * std::exp(-diffuse_path * (depths.back() - depths[k]));
    net[k] = down - up;
    sample.fluxes[2 * k] = static_cast<float>(down);
    sample.fluxes[2 * k + 1] = static_cast<float>(up);
  }
  for (std::size_t k = 0; k < layers_of_column; ++k)
    sample.heating_rate[k] = static_cast<float>(heating_per_absorption * (net[k] - net[k + 1]) /
                                                (sample.pressure[k + 1] - sample.pressure[k]));
}

}  // namespace

void make_synthetic_sample(steps::Random random, const ColumnMemory& sample) {
  fill_inputs(random, sample);
  fill_targets(sample);
}

void generate_sample(steps::Random random, const steps::FieldMemory& sample) {
  make_synthetic_sample(random, {.scalars = steps::floats(sample[0]),
                                 .layers = steps::floats(sample[1]),
                                 .half_levels = steps::floats(sample[2]),
                                 .interfaces = steps::floats(sample[3]),
                                 .pressure = steps::floats(sample[4]),
                                 .fluxes = steps::floats(sample[5]),
                                 .heating_rate = steps::floats(sample[6])});
}

std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 int threads) {
  std::vector<steps::ExampleField> examples;
  for (const steps::Field& field : fields())
    examples.push_back({.field = field, .feature = field.name, .raw = {}});
  return steps::open_example_fields(files, examples, threads);
}

steps::SampleFormat sample_format() {
  return {.synthetic = steps::generated_samples(fields(), generate_sample),
          .endings = {steps::tfrecord_endings.begin(), steps::tfrecord_endings.end()},
          .open = open_dataset};
}

}  // namespace bench::ap3
