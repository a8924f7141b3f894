#include "ap3/column.hpp"

#include "data/fields.hpp"
#include "harness/batch.hpp"

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

}  // namespace bench::ap3
