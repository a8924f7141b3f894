#pragma once

#include "data/array_layout.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::steps {

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

}  // namespace bench::steps
