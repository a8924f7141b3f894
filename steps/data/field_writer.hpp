#pragma once

#include "data/array_fields.hpp"
#include "data/fields.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::steps {

/// Writes samples into one file.
class FieldWriter {
 public:
  FieldWriter() = default;
  FieldWriter(const FieldWriter&) = delete;
  FieldWriter& operator=(const FieldWriter&) = delete;
  virtual ~FieldWriter() = default;

  /// @param sample a span for each field
  /// @throws std::runtime_error if it cannot be written
  virtual void add(const FieldMemory& sample) = 0;

  /// Must be called at the end.
  /// @throws std::runtime_error if not everything could be written
  virtual void finish() = 0;
};

enum class FieldFormat { tfrecord, hdf5, netcdf };

/// The samples of a file to be written.
struct FieldFile {
  std::uint64_t samples = 1;
  /// The first dimension of each variable numbers the samples. Without, the file has one sample.
  /// TFRecord files have no dimensions.
  bool sample_axis = true;
  int compression = 0;  ///< Level of deflate, 1 to 9; 0: none.
  /// Names of the fields that the file has once, for all of its samples: they have no dimension
  /// that numbers samples, and those of the first sample are written. Not in TFRecord files.
  std::vector<std::string> once = {};

  bool has_sample_axis(const Field& field) const;
  /// True if the field of a sample has a place in the file.
  bool has_place(const Field& field, std::uint64_t sample) const;
  /// The variable of a field in HDF5 or netCDF.
  std::vector<std::uint64_t> shape_of(const Field& field) const;
  /// One sample, or as many small ones as are worth compressing together.
  std::vector<std::uint64_t> chunk_of(const Field& field) const;
  Slab slab_of(const Field& field, std::uint64_t sample) const;
};

/// Begins a file. Features and variables have the names of the fields. A name such as
/// `climate/data` is one of a variable in a group.
/// @throws UsageError if the file cannot be opened, or this build has no library for the format
std::unique_ptr<FieldWriter> make_field_writer(FieldFormat format, const std::string& path,
                                               const std::vector<Field>& fields,
                                               const FieldFile& file);

}  // namespace bench::steps
