#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include <bench/energy/program/hdf5_library.hpp>

namespace bench::energy {

/// A member of the rows of a table.
struct Hdf5Column {
  std::string name;
  std::size_t text_size = 0;  ///< Bytes of a text, padded with zeros; 0: a double.
};

/// An HDF5 file that is written. Takes the place of an older one only when it is complete.
class Hdf5File {
 public:
  /// @throws bench::Error if it cannot be written; so do all members
  Hdf5File(const Hdf5Library& library, const std::filesystem::path& file);
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  ~Hdf5File();

  void add_group(const std::string& path);
  /// Attributes of a group or dataset; `/` is the file.
  void set_text(const std::string& path, const std::string& name, const std::string& text);
  void set_real(const std::string& path, const std::string& name, double value);
  void set_integer(const std::string& path, const std::string& name, long long value);
  void add_texts(const std::string& path, std::span<const std::string> texts);
  /// The numbers 0 to `count` - 1.
  void add_counting(const std::string& path, std::size_t count);

  /// Puts the bytes of the next row behind those that are there.
  using NextRow = std::function<void(std::string& bytes)>;
  /// A dataset with one dimension whose elements have named members, in chunks, as PyTables wants.
  void add_table(const std::string& path, std::span<const Hdf5Column> columns, std::size_t rows,
                 const NextRow& next_row);
  /// A dataset of doubles with two dimensions.
  void add_matrix(const std::string& path, std::size_t rows, std::size_t columns,
                  const NextRow& next_row);
  /// A dataset of doubles with one dimension.
  void add_reals(const std::string& path, std::span<const double> values);

  /// Completes the file and gives it its name.
  void close();

 private:
  class Object;

  Object object(hdf5::Id id) const;
  Object text_type(std::size_t size) const;
  Object simple_space(std::span<const hdf5::Size> dimensions) const;
  void add_attribute(const std::string& path, const std::string& name, hdf5::Id type,
                     const void* value);
  void add_dataset(const std::string& path, hdf5::Id type, std::span<const hdf5::Size> dimensions,
                   const void* values);
  void write_rows(hdf5::Id dataset, hdf5::Id type, std::span<const hdf5::Size> dimensions,
                  const NextRow& next_row) const;
  void check(int code) const;
  [[noreturn]] void fail() const;

  const Hdf5Library& library_;
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  hdf5::Id id_ = -1;
};

}  // namespace bench::energy
