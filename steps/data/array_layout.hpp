#pragma once

#include "data/fields.hpp"
#include "data/number_type.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::steps {

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
  std::string variable;    ///< With its groups: `climate/data`.
  std::vector<Axis> axes;  ///< Of the slowest dimensions; those that follow are `whole`.
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

}  // namespace bench::steps
