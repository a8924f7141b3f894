#include "data/field_files.hpp"

#include "data/array_fields.hpp"
#include "data/example.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::steps {
namespace {

bool is_hdf5(const std::string& file) {
  return std::ranges::any_of(hdf5_endings,
                             [&](std::string_view ending) { return file.ends_with(ending); });
}

std::string text_of(const Field& field) {
  return fmt::format("{} ({})", field.type == FieldType::float32 ? "float32" : "int64",
                     fmt::join(field.shape, ", "));
}

}  // namespace

std::vector<std::string_view> array_endings() {
  std::vector<std::string_view> endings(netcdf_endings.begin(), netcdf_endings.end());
  endings.insert(endings.end(), hdf5_endings.begin(), hdf5_endings.end());
  return endings;
}

std::unique_ptr<FieldSource> open_array_files(const std::vector<std::string>& files,
                                              const ArrayLayout& layout,
                                              const std::vector<Field>& expected) {
  auto source =
      is_hdf5(files.front()) ? open_hdf5_fields(files, layout) : open_netcdf_fields(files, layout);
  const std::vector<Field>& found = source->fields();
  for (std::size_t i = 0; i < layout.fields.size(); ++i)
    if (found[i].type != expected[i].type || found[i].shape != expected[i].shape)
      throw DataError(
          files.front(),
          fmt::format("a sample of variable '{}' is {}, expected {}", layout.fields[i].variable,
                      text_of(found[i]), text_of(expected[i])),
          "use files that were made for this program");
  return source;
}

std::unique_ptr<FieldWriter> make_field_writer(FieldFormat format, const std::string& path,
                                               const std::vector<Field>& fields,
                                               const FieldFile& file) {
  switch (format) {
    case FieldFormat::hdf5:
      return make_hdf5_writer(path, fields, file);
    case FieldFormat::netcdf:
      return make_netcdf_writer(path, fields, file);
    default:
      return make_example_writer(path, fields, file.compression);
  }
}

}  // namespace bench::steps
