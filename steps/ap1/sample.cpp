#include "ap1/sample.hpp"

#include "data/fields.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap1 {

std::vector<steps::Field> fields(std::int64_t patch) {
  return {{.name = "predictors", .shape = {predictor_count, patch, patch}},
          {.name = "target", .shape = {1, patch, patch}}};
}

}  // namespace bench::ap1
