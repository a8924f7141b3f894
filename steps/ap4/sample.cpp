#include "ap4/sample.hpp"

#include "data/fields.hpp"

#include <vector>

namespace bench::ap4 {

std::vector<steps::Field> fields(const Grid& grid) {
  return {{.name = "predictors", .shape = {predictor_count, grid.height, grid.width}},
          {.name = "scale", .shape = {2, grid.height, grid.width}},
          {.name = "target", .shape = {1, grid.height, grid.width}}};
}

}  // namespace bench::ap4
