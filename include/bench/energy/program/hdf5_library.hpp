#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

  // Types, and the class of a dataset's creation properties.
  hdf5::Id real = -1;     ///< A double.
  hdf5::Id integer = -1;  ///< A long long.
  hdf5::Id text = -1;     ///< One byte, padded with zeros.
  hdf5::Id dataset_properties = -1;
};

}  // namespace bench::energy
