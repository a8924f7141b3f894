#include "ap6/sample.hpp"

#include "data/fields.hpp"

#include <vector>

namespace bench::ap6 {
namespace {

steps::Field index_field() {
  return {.name = "index", .type = steps::FieldType::int64, .shape = {}};
}

}  // namespace

Grid crop_of(const Grid& grid) {
  return {.height = grid.height * 4 / 5, .width = grid.width * 4 / 5};
}

std::vector<steps::Field> stored_fields(const Grid& grid) {
  return {{.name = "fields", .shape = {channel_count, grid.height, grid.width}}, index_field()};
}

std::vector<steps::Field> cropped_fields(const Grid& grid) {
  const Grid crop = crop_of(grid);
  return {{.name = "crops", .shape = {crop_count, channel_count, crop.height, crop.width}},
          index_field()};
}

}  // namespace bench::ap6
