#include "data/array_layout.hpp"

#include "data/data_error.hpp"
#include "data/fields.hpp"
#include "data/number_type.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench::steps {
namespace {

template <typename Number>
std::string shape_text(const std::vector<Number>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

bool is_tile(Axis axis) {
  return axis == Axis::tile_rows || axis == Axis::tile_columns;
}

/// The word for the entries along a dimension.
std::string_view entries_of(Axis axis) {
  return axis == Axis::sample ? "samples" : axis == Axis::tile_rows ? "rows" : "columns";
}

std::string type_text(const ArrayVariable& variable) {
  return fmt::format("{}{} numbers", variable.packing.scaled ? "scaled " : "",
                     name_of(variable.type));
}

/// @throws UsageError if the layout does not fit any variable
void check_axes(const ArrayLayout& layout, const ArrayField& field) {
  for (const Axis axis : field.axes) {
    if (axis != Axis::whole && std::ranges::count(field.axes, axis) > 1)
      throw UsageError(fmt::format("field '{}' has two dimensions for one axis", field.name),
                       "give each axis to one dimension");
    const std::uint64_t tile = axis == Axis::tile_rows ? layout.tile_rows : layout.tile_columns;
    if (is_tile(axis) && tile == 0)
      throw UsageError(fmt::format("field '{}' is cut into tiles without a size", field.name),
                       "give the size of a tile");
  }
}

/// @throws UsageError if a field cannot have the numbers
FieldType wanted_type(const ArrayField& field, const ArrayVariable& variable) {
  const FieldType stored = variable.packing.scaled ? FieldType::float32 : field_type(variable.type);
  if (field.type == FieldType::int64 && stored == FieldType::float32)
    throw UsageError(fmt::format("field '{}' has integers, variable '{}' has {}", field.name,
                                 field.variable, type_text(variable)),
                     "make the field float32");
  return field.type.value_or(stored);
}

/// True if the sizes of the samples can be computed with.
bool is_countable(const std::vector<std::uint64_t>& shape) {
  constexpr std::uint64_t most = std::uint64_t{1} << 56;
  std::uint64_t elements = 1;
  return std::ranges::all_of(shape, [&](std::uint64_t extent) {
    return !__builtin_mul_overflow(elements, std::max<std::uint64_t>(extent, 1), &elements) &&
           elements <= most;
  });
}

/// Entries along the dimensions with that axis; nothing if no variable has one.
/// @throws DataError if two variables have another number
std::optional<std::uint64_t> common_extent(const ArrayLayout& layout,
                                           const std::vector<VariableLayout>& variables, Axis axis,
                                           const std::string& path) {
  std::optional<std::uint64_t> common;
  std::size_t first = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto extent = variables[i].extent(axis);
    if (extent && !common)
      first = i;
    if (extent && common && *extent != *common)
      throw DataError(
          path, fmt::format("variable '{}' has {} {}, variable '{}' {}", layout.fields[i].variable,
                            *extent, entries_of(axis), layout.fields[first].variable, *common));
    if (extent)
      common = extent;
  }
  return common;
}

}  // namespace

std::size_t Slab::elements() const {
  std::size_t elements = 1;
  for (const std::uint64_t extent : count)
    elements *= static_cast<std::size_t>(extent);
  return elements;
}

std::string Slab::index_text(std::size_t element) const {
  std::vector<std::uint64_t> index = start;
  for (std::size_t i = count.size(); i-- > 0; element /= count[i])
    index[i] += element % count[i];
  return shape_text(index);
}

bool ArrayLayout::has_sample_axis() const {
  return std::ranges::any_of(fields, [](const ArrayField& field) {
    return std::ranges::find(field.axes, Axis::sample) != field.axes.end();
  });
}

VariableLayout::VariableLayout(const ArrayLayout& layout, const ArrayField& field,
                               ArrayVariable variable, const std::string& path)
    : axes_(field.axes), variable_(std::move(variable)) {
  check_axes(layout, field);
  const std::vector<std::uint64_t>& shape = variable_.shape;
  const auto fail = [&](const std::string& message) {
    throw DataError(path, fmt::format("variable '{}' of shape {} {}", field.variable,
                                      shape_text(shape), message));
  };
  if (axes_.size() > shape.size())
    fail(fmt::format("has fewer dimensions than field '{}' names, {}", field.name, axes_.size()));
  if (!is_countable(shape))
    fail("has too many numbers");
  axes_.resize(shape.size(), Axis::whole);
  variable_.packing.missing_as_nan = field.missing_as_nan;
  field_ = {.name = field.name, .type = wanted_type(field, variable_), .shape = {}};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (axes_[i] == Axis::sample) {
      count_.push_back(1);
      continue;
    }
    count_.push_back(axes_[i] == Axis::whole       ? shape[i]
                     : axes_[i] == Axis::tile_rows ? layout.tile_rows
                                                   : layout.tile_columns);
    if (count_.back() == 0)
      fail("has no numbers");
    if (count_.back() > shape[i])
      fail(fmt::format("is smaller than a tile of {} x {}", layout.tile_rows, layout.tile_columns));
    field_.shape.push_back(static_cast<std::int64_t>(count_.back()));
  }
}

std::optional<std::uint64_t> VariableLayout::extent(Axis axis) const {
  const auto found = std::ranges::find(axes_, axis);
  if (found == axes_.end())
    return std::nullopt;
  return variable_.shape[static_cast<std::size_t>(found - axes_.begin())];
}

Slab VariableLayout::slab(const SamplePlace& place) const {
  Slab slab{.start = {}, .count = count_};
  for (std::size_t i = 0; i < axes_.size(); ++i)
    slab.start.push_back(axes_[i] == Axis::sample         ? place.index
                         : axes_[i] == Axis::tile_rows    ? place.tile_row * count_[i]
                         : axes_[i] == Axis::tile_columns ? place.tile_column * count_[i]
                                                          : 0);
  return slab;
}

std::size_t VariableLayout::shared_chunks() const {
  bool shared = false;
  std::uint64_t chunks = 1;
  for (std::size_t i = 0; i < variable_.chunk.size(); ++i) {
    const std::uint64_t chunk = variable_.chunk[i];
    const bool aligned = axes_[i] == Axis::whole || count_[i] % chunk == 0;
    // Not aligned, a part may begin with the last element of a chunk.
    const std::uint64_t touched = (count_[i] - 1 + (aligned ? 0 : chunk - 1)) / chunk + 1;
    chunks *= std::min(touched, (variable_.shape[i] + chunk - 1) / chunk);
    shared = shared || !aligned;
  }
  return shared ? static_cast<std::size_t>(chunks) : 0;
}

std::size_t VariableLayout::chunk_bytes() const {
  return Slab{.start = {}, .count = variable_.chunk}.elements() * bytes_of(variable_.type);
}

FileLayout::FileLayout(const ArrayLayout& layout, std::vector<ArrayVariable> read,
                       const std::string& path) {
  for (std::size_t i = 0; i < layout.fields.size(); ++i)
    variables.emplace_back(layout, layout.fields[i], std::move(read[i]), path);
  indices = common_extent(layout, variables, Axis::sample, path).value_or(1);
  if (const auto rows = common_extent(layout, variables, Axis::tile_rows, path))
    tiles_down = *rows / layout.tile_rows;
  if (const auto columns = common_extent(layout, variables, Axis::tile_columns, path))
    tiles_across = *columns / layout.tile_columns;
}

void FileLayout::check_same_samples(const ArrayLayout& layout, const FileLayout& other,
                                    const std::string& path, const std::string& other_path) const {
  const auto fail = [&](std::size_t i, const std::string& here, const std::string& there) {
    throw DataError(path, fmt::format("variable '{}' has {}, in {} {}", layout.fields[i].variable,
                                      here, other_path, there));
  };
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const VariableLayout& here = variables[i];
    const VariableLayout& there = other.variables[i];
    if (here.field().shape != there.field().shape)
      fail(i, "samples of shape " + shape_text(here.field().shape),
           shape_text(there.field().shape));
    if (type_text(here.variable()) != type_text(there.variable()))
      fail(i, type_text(here.variable()), type_text(there.variable()));
    for (const Axis axis : {Axis::tile_rows, Axis::tile_columns})
      if (here.extent(axis) != there.extent(axis))
        fail(i, fmt::format("{} {}", *here.extent(axis), entries_of(axis)),
             std::to_string(*there.extent(axis)));
  }
}

}  // namespace bench::steps
