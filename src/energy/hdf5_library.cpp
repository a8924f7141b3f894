#include <dlfcn.h>
#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/hdf5_library.hpp>

namespace bench::energy {
namespace {

constexpr const char* hdf5_remedy =
    "install HDF5 (Debian: hdf5-tools; elsewhere: module load HDF5), or use another format";

void* load(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return handle;
  throw Error("this node has no HDF5 library, which the format h5 needs", hdf5_remedy);
}

void* symbol(void* handle, const char* name) {
  void* const found = ::dlsym(handle, name);
  if (!found)
    throw Error(fmt::format("the HDF5 library has no {}", name), hdf5_remedy);
  return found;
}

template <typename Function>
void resolve(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(symbol(handle, name));
}

/// A constant that the library fills in when it is opened.
hdf5::Id identifier(void* handle, const char* name) {
  return *static_cast<const hdf5::Id*>(symbol(handle, name));
}

/// Before 1.10 an identifier had 32 bits.
void check_version(void* handle) {
  int (*get_version)(unsigned*, unsigned*, unsigned*) = nullptr;
  resolve(handle, "H5get_libversion", get_version);
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (get_version(&major, &minor, &release) < 0 || major != 1 || minor < 10)
    throw Error(fmt::format("HDF5 {}.{}.{} is none of 1.10 and later", major, minor, release),
                hdf5_remedy);
}

/// Failures become messages here; the library shall not print them as well.
void open_silently(void* handle) {
  int (*open)() = nullptr;
  int (*set_printer)(hdf5::Id, void*, void*) = nullptr;
  resolve(handle, "H5open", open);
  resolve(handle, "H5Eset_auto2", set_printer);
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
  void* const handle = load(names);
  check_version(handle);
  open_silently(handle);
  resolve(handle, "H5Fcreate", create_file);
  resolve(handle, "H5Fclose", close_file);
  resolve(handle, "H5Idec_ref", close);
  resolve(handle, "H5Gcreate2", create_group);
  resolve(handle, "H5Screate", create_space);
  resolve(handle, "H5Screate_simple", create_simple_space);
  resolve(handle, "H5Sselect_hyperslab", select_block);
  resolve(handle, "H5Tcopy", copy_type);
  resolve(handle, "H5Tset_size", set_size);
  resolve(handle, "H5Tset_cset", set_character_set);
  resolve(handle, "H5Tcreate", create_type);
  resolve(handle, "H5Tinsert", insert_member);
  resolve(handle, "H5Pcreate", create_properties);
  resolve(handle, "H5Pset_chunk", set_chunk);
  resolve(handle, "H5Dcreate2", create_dataset);
  resolve(handle, "H5Dwrite", write_dataset);
  resolve(handle, "H5Acreate_by_name", create_attribute);
  resolve(handle, "H5Awrite", write_attribute);
  real = identifier(handle, "H5T_NATIVE_DOUBLE_g");
  integer = identifier(handle, "H5T_NATIVE_LLONG_g");
  text = identifier(handle, "H5T_C_S1_g");
  dataset_properties = identifier(handle, "H5P_CLS_DATASET_CREATE_ID_g");
}

}  // namespace bench::energy
