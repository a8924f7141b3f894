#pragma once

#include "data/fields.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// The right to call HDF5, or netCDF, which calls HDF5: neither may be called by two threads at
/// once. HDF5 then prints no errors.
///
/// A thread may hold several. Others wait and get their turn in the order in which they came: a
/// mutex would let a thread that reads sample after sample keep it. All threads of a process
/// together read as fast as one does.
class Hdf5Lock {
 public:
  Hdf5Lock();
  Hdf5Lock(const Hdf5Lock&) = delete;
  Hdf5Lock& operator=(const Hdf5Lock&) = delete;
  ~Hdf5Lock();
};

/// The share of a sample in a dimension of a variable.
enum class Axis {
  sample,        ///< One index: the dimension numbers the samples.
  tile_rows,     ///< As many as a tile has rows.
  tile_columns,  ///< As many as a tile has columns.
  whole,         ///< All of them, in every sample.
};

/// A field, and the variable that holds it in files of HDF5 or netCDF.
struct ArrayField {
  std::string name;
  std::string variable = name;  ///< With its groups: `climate/data`. By default as the field.
  std::vector<Axis> axes;       ///< Of the slowest dimensions; those that follow are `whole`.
  /// float32 for integers that are wanted as real numbers. By default the file decides: integers
  /// are int64, real and scaled numbers float32.
  std::optional<FieldType> type = std::nullopt;
  /// netCDF: a missing value in a float32 field becomes NaN. Otherwise it is an error.
  bool missing_as_nan = false;
};

/// A float32 field with the indices of a sample along the dimensions of one axis: its index along
/// `sample` in its file, a single number, or those of the rows or columns of its tile, a row of
/// numbers.
struct IndexField {
  std::string name;
  Axis axis = Axis::sample;  ///< Not `whole`.
};

/// The samples in files of arrays.
///
/// The samples are numbered file after file, in each file along the `sample` dimensions, for each
/// index there tile after tile in rows. Without a `sample` dimension in any field, a file is one
/// index. A field without one is repeated. Tiles do not overlap; what is left over at the end of a
/// dimension is not read.
///
///     DeepCAM, a file per sample   climate/data(768, 1152, 16)         {}
///     AP4                          fields(time, 14, 361, 720)          {sample}
///     AP1, tiles of 256 x 256      predictors(leadtime, y, x, 8)       {sample, tile_rows,
///     tile_columns}
///                                  static_predictors(y, x, 6)          {tile_rows, tile_columns}
struct ArrayLayout {
  std::vector<ArrayField> fields;
  std::vector<IndexField> indices = {};  ///< Behind the others in a sample.
  std::uint64_t tile_rows = 0;           ///< In one tile.
  std::uint64_t tile_columns = 0;

  /// True if a dimension of a field numbers samples, so that a file may have any number of them.
  bool has_sample_axis() const;
};

/// A variable as its file describes it.
struct ArrayVariable {
  std::vector<std::uint64_t> shape;  ///< Slowest dimension first; empty for a single number.
  NumberType type = NumberType::float32;
  Packing packing;
  std::vector<std::uint64_t> chunk;  ///< The shape that is stored together; empty if it is all.
};

/// A box of indices of a variable.
struct Slab {
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;

  std::size_t elements() const;
  /// The indices of an element of the box: `(5, 256, 0)`.
  std::string index_text(std::size_t element) const;
};

/// The place of a sample in its file.
struct SamplePlace {
  std::size_t file = 0;
  std::uint64_t index = 0;  ///< Along the `sample` dimensions.
  std::uint64_t tile_row = 0;
  std::uint64_t tile_column = 0;
};

/// The part of each sample in one variable of one file.
class VariableLayout {
 public:
  /// @param path of the file, for messages
  /// @throws UsageError if the layout does not fit any file, DataError if it does not fit this one
  VariableLayout(const ArrayLayout& layout, const ArrayField& field, ArrayVariable variable,
                 const std::string& path);

  const Field& field() const { return field_; }
  const ArrayVariable& variable() const { return variable_; }
  /// Entries along the dimension with that axis, if the variable has one.
  std::optional<std::uint64_t> extent(Axis axis) const;
  Slab slab(const SamplePlace& place) const;

  /// Chunks that should stay in memory because the next sample may need them again: as many as a
  /// sample touches. 0 if each chunk belongs to one sample, or the variable has none.
  std::size_t shared_chunks() const;
  std::size_t chunk_bytes() const;

 private:
  std::vector<Axis> axes_;  ///< Of all dimensions.
  std::vector<std::uint64_t> count_;
  ArrayVariable variable_;
  Field field_;
};

/// The samples in one file.
struct FileLayout {
  std::vector<VariableLayout> variables;  ///< One for each field.
  std::uint64_t indices = 1;              ///< Along the `sample` dimensions.
  std::uint64_t tiles_down = 1;
  std::uint64_t tiles_across = 1;

  /// @param variables one for each field
  /// @throws UsageError, DataError as VariableLayout, or if fields disagree on the number of
  /// samples
  FileLayout(const ArrayLayout& layout, std::vector<ArrayVariable> variables,
             const std::string& path);

  /// @throws DataError naming the first difference, if samples here and there differ in type or
  ///         shape
  void check_same_samples(const ArrayLayout& layout, const FileLayout& other,
                          const std::string& path, const std::string& other_path) const;
};

/// An open file of HDF5 or netCDF, for one thread.
class ArrayFile {
 public:
  ArrayFile() = default;
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;
  virtual ~ArrayFile() = default;

  /// The variables of the fields, in their order.
  virtual const std::vector<ArrayVariable>& variables() const = 0;

  /// Keeps this many chunks of a variable in memory, of that size together.
  virtual void cache_chunks(std::size_t variable, std::size_t chunks, std::size_t bytes) = 0;

  /// Reads the stored numbers of a slab, in the byte order of this machine.
  /// @throws DataError naming file, variable and index
  virtual void read(std::size_t variable, const Slab& slab, std::span<std::byte> numbers) = 0;
};

/// Slots of HDF5's hash table for that many chunks: HDF5's default, or a hundred for each, which
/// the manual of H5Pset_chunk_cache recommends.
inline std::size_t cache_slots(std::size_t chunks) {
  return std::max<std::size_t>(521, 100 * chunks + 1);
}

/// Opens a file and the variables of the fields in it.
/// @throws UsageError if it cannot be opened, DataError if it is damaged or lacks a variable
using OpenArrayFile = std::function<std::unique_ptr<ArrayFile>(
    const std::string& path, const std::vector<ArrayField>& fields)>;

/// The samples of files of arrays. Their `bytes` are those of the stored numbers before
/// compression.
///
/// With `sample` dimensions, every file is opened once, to know how many samples it has. Without,
/// only the first is, and the others are compared with it when they are read: there may be 100,000.
///
/// A reader keeps up to 16 files open, fewer where their cached chunks would need more than 512
/// MiB.
///
/// @param files at least one; their samples are numbered in this order
/// @throws UsageError if a file cannot be opened or the layout does not fit any file
/// @throws DataError if a file is damaged, lacks a variable, has another type or shape than the
///         first, or there are no samples
std::unique_ptr<FieldSource> open_array_fields(std::vector<std::string> files, ArrayLayout layout,
                                               OpenArrayFile open);

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

}  // namespace bench::steps
