#include "deepcam/value_range.hpp"

#include "data/data_error.hpp"
#include "data/fields.hpp"
#include "data/hdf5_fields.hpp"
#include "deepcam/sample.hpp"

#include <cstddef>
#include <span>
#include <string>

#include <fmt/core.h>

namespace bench::deepcam {

ValueRange read_value_range(const std::string& file) {
  using steps::FieldType;
  const auto source = steps::open_hdf5_fields(
      {file},
      {.fields = {
           {.name = "minval", .variable = "climate/minval", .axes = {}, .type = FieldType::float32},
           {.name = "maxval",
            .variable = "climate/maxval",
            .axes = {},
            .type = FieldType::float32}}});
  for (const steps::Field& field : source->fields())
    if (field.elements() != channel_count)
      throw steps::DataError(file, fmt::format("variable 'climate/{}' has {} numbers, expected {}",
                                               field.name, field.elements(), channel_count));
  ValueRange range{};
  source->reader()->read(0, {std::as_writable_bytes(std::span(range.smallest)),
                             std::as_writable_bytes(std::span(range.largest))});
  for (std::size_t i = 0; i < range.smallest.size(); ++i)
    if (!(range.smallest[i] < range.largest[i]))
      throw steps::DataError(
          file, fmt::format("variable 'climate/maxval' at ({}): {} is not above the smallest, {}",
                            i, range.largest[i], range.smallest[i]));
  return range;
}

}  // namespace bench::deepcam
