#include "ap3/column.hpp"

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

}  // namespace bench::ap3
