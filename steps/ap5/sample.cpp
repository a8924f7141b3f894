#include "ap5/sample.hpp"

#include "data/fields.hpp"

#include <vector>

namespace bench::ap5 {

std::vector<steps::Field> fields(const Grid& grid) {
  return {{.name = "predictors", .shape = {predictor_count, grid.height, grid.width}},
          {.name = "target", .shape = {target_count, grid.height, grid.width}}};
}

}  // namespace bench::ap5
