#include <cstdlib>
#include <vector>

#include <fmt/core.h>
#include <stdlib.h>

#include <bench/base/error.hpp>
#include <bench/energy/program/hdf5_library.hpp>
#include <bench/energy/sources/shared_library.hpp>

namespace bench::energy {
namespace {

constexpr const char* hdf5_remedy =
    "install HDF5 (Debian: hdf5-tools; elsewhere: module load HDF5), or use another format";

/// Before 1.10 an identifier had 32 bits.
void check_version(int (*get_version)(unsigned*, unsigned*, unsigned*)) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (get_version(&major, &minor, &release) < 0 || major != 1 || minor < 10)
    throw Error(fmt::format("HDF5 {}.{}.{} is none of 1.10 and later", major, minor, release),
                hdf5_remedy);
}

/// Failures become messages here; the library must not print them, too.
void open_silently(int (*open)(), int (*set_printer)(hdf5::Id, void*, void*)) {
  if (open() < 0)
    throw Error("the HDF5 library does not start", hdf5_remedy);
  set_printer(hdf5::standard, nullptr, nullptr);
}

}  // namespace

std::vector<std::string> Hdf5Library::names() {
  return {"libhdf5.so",     "libhdf5_serial.so",     "libhdf5.so.103",
          "libhdf5.so.200", "libhdf5_serial.so.103", "libhdf5_serial.so.310",
          "libhdf5.so.310"};
}

Hdf5Library::Hdf5Library(const std::vector<std::string>& names) {
  // On file systems without locks, as Lustre often is mounted, a file could not be made. Here,
  // since no other thread runs yet that could read the environment meanwhile.
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  int (*get_version)(unsigned*, unsigned*, unsigned*) = nullptr;
  int (*open)() = nullptr;
  int (*set_printer)(hdf5::Id, void*, void*) = nullptr;
  const hdf5::Id* real_id = nullptr;
  const hdf5::Id* integer_id = nullptr;
  const hdf5::Id* text_id = nullptr;
  const hdf5::Id* dataset_properties_id = nullptr;
  load_library({.names = names,
                .product = "the HDF5 library",
                .absence = "this node has no HDF5 library, which the format h5 needs",
                .hint = hdf5_remedy},
               {{get_version, "H5get_libversion", Need::required},
                {open, "H5open", Need::required},
                {set_printer, "H5Eset_auto2", Need::required},
                {create_file, "H5Fcreate", Need::required},
                {close_file, "H5Fclose", Need::required},
                {close, "H5Idec_ref", Need::required},
                {create_group, "H5Gcreate2", Need::required},
                {create_space, "H5Screate", Need::required},
                {create_simple_space, "H5Screate_simple", Need::required},
                {select_block, "H5Sselect_hyperslab", Need::required},
                {copy_type, "H5Tcopy", Need::required},
                {set_size, "H5Tset_size", Need::required},
                {set_character_set, "H5Tset_cset", Need::required},
                {create_type, "H5Tcreate", Need::required},
                {insert_member, "H5Tinsert", Need::required},
                {create_properties, "H5Pcreate", Need::required},
                {set_chunk, "H5Pset_chunk", Need::required},
                {create_dataset, "H5Dcreate2", Need::required},
                {write_dataset, "H5Dwrite", Need::required},
                {create_attribute, "H5Acreate_by_name", Need::required},
                {write_attribute, "H5Awrite", Need::required},
                {real_id, "H5T_NATIVE_DOUBLE_g", Need::required},
                {integer_id, "H5T_NATIVE_LLONG_g", Need::required},
                {text_id, "H5T_C_S1_g", Need::required},
                {dataset_properties_id, "H5P_CLS_DATASET_CREATE_ID_g", Need::required}});
  check_version(get_version);
  open_silently(open, set_printer);
  // The library fills its constants in when it is opened.
  real = *real_id;
  integer = *integer_id;
  text = *text_id;
  dataset_properties = *dataset_properties_id;
}

}  // namespace bench::energy
