#include "data/field_writer.hpp"

#include "data/array_fields.hpp"
#include "data/example.hpp"
#include "data/fields.hpp"
#include "data/hdf5.hpp"
#include "data/netcdf.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::steps {

bool FieldFile::has_sample_axis(const Field& field) const {
  return sample_axis && std::ranges::count(once, field.name) == 0;
}

bool FieldFile::has_place(const Field& field, std::uint64_t sample) const {
  return sample == 0 || has_sample_axis(field);
}

std::vector<std::uint64_t> FieldFile::shape_of(const Field& field) const {
  std::vector<std::uint64_t> shape(field.shape.begin(), field.shape.end());
  if (has_sample_axis(field))
    shape.insert(shape.begin(), samples);
  return shape;
}

std::vector<std::uint64_t> FieldFile::chunk_of(const Field& field) const {
  constexpr std::uint64_t least_bytes = std::uint64_t{1} << 16;
  std::vector<std::uint64_t> chunk = shape_of(field);
  if (has_sample_axis(field))
    chunk.front() = std::clamp<std::uint64_t>(least_bytes / field.bytes(), 1, samples);
  return chunk;
}

Slab FieldFile::slab_of(const Field& field, std::uint64_t sample) const {
  Slab slab{.start = {}, .count = shape_of(field)};
  slab.start.resize(slab.count.size(), 0);
  if (has_sample_axis(field)) {
    slab.start.front() = sample;
    slab.count.front() = 1;
  }
  return slab;
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
