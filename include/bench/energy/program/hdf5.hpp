#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/jpwr.hpp>

namespace bench::energy {

/// The part of the HDF5 library that is used here, loaded at run time, so that the meter starts and
/// runs without it. Names and numbers as in the HDF5 1.10 reference manual, which 1.12 and 1.14
/// keep.
namespace hdf5 {

using Id = std::int64_t;  ///< hid_t since 1.10; negative is a failure.
using Size = unsigned long long;

inline constexpr Id standard = 0;  ///< H5P_DEFAULT, H5S_ALL and H5E_DEFAULT.
inline constexpr unsigned truncate = 2;
inline constexpr int scalar = 0;
inline constexpr int select_set = 0;
inline constexpr int compound = 6;
inline constexpr int utf8 = 1;

}  // namespace hdf5

/// The loaded and initialised library; stays mapped for the life of the process.
class Hdf5Library {
 public:
  /// Where it is looked for: without a version, and by the versions of the releases known to keep
  /// the interface, also under the name that Debian gives the serial library.
  static std::vector<std::string> names();

  /// @throws bench::Error if none of `names` can be loaded, or if it is older than 1.10
  explicit Hdf5Library(const std::vector<std::string>& names = Hdf5Library::names());

  hdf5::Id (*create_file)(const char*, unsigned, hdf5::Id, hdf5::Id) = nullptr;
  int (*close_file)(hdf5::Id) = nullptr;
  int (*close)(hdf5::Id) = nullptr;  ///< Of any object: lets go of the one reference there is.
  hdf5::Id (*create_group)(hdf5::Id, const char*, hdf5::Id, hdf5::Id, hdf5::Id) = nullptr;
  hdf5::Id (*create_space)(int) = nullptr;
  hdf5::Id (*create_simple_space)(int, const hdf5::Size*, const hdf5::Size*) = nullptr;
  int (*select_block)(hdf5::Id, int, const hdf5::Size*, const hdf5::Size*, const hdf5::Size*,
                      const hdf5::Size*) = nullptr;
  hdf5::Id (*copy_type)(hdf5::Id) = nullptr;
  int (*set_size)(hdf5::Id, std::size_t) = nullptr;
  int (*set_character_set)(hdf5::Id, int) = nullptr;
  hdf5::Id (*create_type)(int, std::size_t) = nullptr;
  int (*insert_member)(hdf5::Id, const char*, std::size_t, hdf5::Id) = nullptr;
  hdf5::Id (*create_properties)(hdf5::Id) = nullptr;
  int (*set_chunk)(hdf5::Id, int, const hdf5::Size*) = nullptr;
  hdf5::Id (*create_dataset)(hdf5::Id, const char*, hdf5::Id, hdf5::Id, hdf5::Id, hdf5::Id,
                             hdf5::Id) = nullptr;
  int (*write_dataset)(hdf5::Id, hdf5::Id, hdf5::Id, hdf5::Id, hdf5::Id, const void*) = nullptr;
  hdf5::Id (*create_attribute)(hdf5::Id, const char*, const char*, hdf5::Id, hdf5::Id, hdf5::Id,
                               hdf5::Id, hdf5::Id) = nullptr;
  int (*write_attribute)(hdf5::Id, hdf5::Id, const void*) = nullptr;

  // Types, and the class of a dataset's creation properties: the library sets them when it starts.
  const hdf5::Id* real = nullptr;     ///< A double.
  const hdf5::Id* integer = nullptr;  ///< A long long.
  const hdf5::Id* text = nullptr;     ///< One byte, padded with zeros.
  const hdf5::Id* dataset_properties = nullptr;
};

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

  const Hdf5Library& library() const { return library_; }
  void add_group(const std::string& path);
  /// Sets an attribute of a group or dataset; `/` is the file.
  void set(const std::string& path, const std::string& name, const Value& value);

  /// Puts the bytes of the next row behind those that are there.
  using NextRow = std::function<void(std::string& bytes)>;
  /// A dataset with one dimension or two, of a type of the library; a row is an element of the
  /// first.
  void add_dataset(const std::string& path, hdf5::Id type, std::span<const hdf5::Size> dimensions,
                   const NextRow& next_row, hdf5::Id properties = hdf5::standard);
  void add_texts(const std::string& path, std::span<const std::string> texts);
  /// A dataset with one dimension whose elements have named members, in chunks, as PyTables wants.
  void add_table(const std::string& path, std::span<const Hdf5Column> columns, std::size_t rows,
                 const NextRow& next_row);

  /// Completes the file and gives it its name.
  void close();

 private:
  class Object;

  Object object(hdf5::Id id) const;
  Object text_type(std::size_t size) const;
  Object simple_space(std::span<const hdf5::Size> dimensions) const;
  void check(int code) const;
  [[noreturn]] void fail() const;

  const Hdf5Library& library_;
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  hdf5::Id id_ = -1;
};

// All throw bench::Error if the file cannot be written.

/// Our own HDF5 file: a table `power` with the columns of the power log, a table `energy` with
/// those of `energy_table` (numbers are doubles, absent ones NaN), and as attributes of the file
/// what `provenance_values` holds. h5py reads a table as a structured array, pandas by `read_hdf`.
void write_energy_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                       const EnergyTable& table, const Measurement& measurement,
                       const Provenance& provenance, const std::filesystem::path& power_log);

// jpwr's files: one object of pandas each, under the key `jpwr`, in what pandas calls the fixed
// format. Layout: as pandas 1.5 writes it, looked at with h5py.

/// Its power: a frame of the columns of the power log but for the row's number.
void write_jpwr_power_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                           const std::filesystem::path& power_log);
/// Its energy: a series.
void write_jpwr_energy_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                            std::span<const JpwrEnergy> energies);
/// Its energy from counters: a frame of one row.
void write_jpwr_counter_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                             std::span<const JpwrEnergy> energies);

}  // namespace bench::energy
