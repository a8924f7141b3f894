#pragma once

#include "energy/fixtures.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <bench/energy/program/hdf5.hpp>
#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/sampler.hpp>

namespace bench::energy {

/// Reads what the meter wrote, through the same library's reading half. The library must have been
/// loaded by an Hdf5Library before.
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::filesystem::path& file) {
    for (const std::string& name : Hdf5Library::names())
      if (!handle_)
        handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
    file_ = symbol<hdf5::Id (*)(const char*, unsigned, hdf5::Id)>("H5Fopen")(file.c_str(), 0, 0);
    if (file_ < 0)
      throw std::runtime_error("no HDF5 file");
  }
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;
  ~Hdf5Reader() { symbol<int (*)(hdf5::Id)>("H5Fclose")(file_); }

  std::vector<hdf5::Size> dimensions(const std::string& path) {
    const hdf5::Id space = symbol<hdf5::Id (*)(hdf5::Id)>("H5Dget_space")(dataset(path));
    std::vector<hdf5::Size> result(
        static_cast<std::size_t>(symbol<int (*)(hdf5::Id)>("H5Sget_simple_extent_ndims")(space)));
    symbol<int (*)(hdf5::Id, hdf5::Size*, hdf5::Size*)>("H5Sget_simple_extent_dims")(
        space, result.data(), nullptr);
    return result;
  }

  /// All doubles of a dataset.
  std::vector<double> reals(const std::string& path) {
    return read(path, real(), std::vector<double>(size(path)));
  }

  /// One member of a table's rows, a double.
  std::vector<double> column(const std::string& path, const std::string& name) {
    const hdf5::Id type = create_type(sizeof(double), name, real());
    return read(path, type, std::vector<double>(size(path)));
  }

  /// The same for a text, which may be up to 63 bytes long.
  std::vector<std::string> text_column(const std::string& path, const std::string& name) {
    return texts_as(path, create_type(text_size, name, text_type()));
  }

  /// All texts of a dataset.
  std::vector<std::string> texts(const std::string& path) { return texts_as(path, text_type()); }

  /// An attribute as text; of up to 63 bytes.
  std::string text(const std::string& path, const std::string& name) {
    std::array<char, text_size> value{};
    const hdf5::Id type = text_type();
    symbol<int (*)(hdf5::Id, int)>("H5Tset_cset")(type, 1);
    read_attribute(path, name, type, value.data());
    return value.data();
  }
  double number(const std::string& path, const std::string& name) {
    double value = 0;
    read_attribute(path, name, real(), &value);
    return value;
  }

 private:
  static constexpr std::size_t text_size = 64;

  template <typename Function>
  Function symbol(const char* name) {
    return reinterpret_cast<Function>(::dlsym(handle_, name));
  }

  hdf5::Id real() { return *symbol<hdf5::Id*>("H5T_NATIVE_DOUBLE_g"); }

  hdf5::Id text_type() {
    const hdf5::Id type =
        symbol<hdf5::Id (*)(hdf5::Id)>("H5Tcopy")(*symbol<hdf5::Id*>("H5T_C_S1_g"));
    symbol<int (*)(hdf5::Id, std::size_t)>("H5Tset_size")(type, text_size);
    return type;
  }

  hdf5::Id create_type(std::size_t bytes, const std::string& name, hdf5::Id member) {
    const hdf5::Id type =
        symbol<hdf5::Id (*)(int, std::size_t)>("H5Tcreate")(hdf5::compound, bytes);
    symbol<int (*)(hdf5::Id, const char*, std::size_t, hdf5::Id)>("H5Tinsert")(type, name.c_str(),
                                                                               0, member);
    return type;
  }

  hdf5::Id dataset(const std::string& path) {
    const hdf5::Id id =
        symbol<hdf5::Id (*)(hdf5::Id, const char*, hdf5::Id)>("H5Dopen2")(file_, path.c_str(), 0);
    if (id < 0)
      throw std::runtime_error("no dataset " + path);
    return id;
  }

  std::size_t size(const std::string& path) {
    std::size_t product = 1;
    for (const hdf5::Size dimension : dimensions(path))
      product *= dimension;
    return product;
  }

  template <typename Values>
  Values read(const std::string& path, hdf5::Id type, Values values) {
    using Read = int (*)(hdf5::Id, hdf5::Id, hdf5::Id, hdf5::Id, hdf5::Id, void*);
    if (symbol<Read>("H5Dread")(dataset(path), type, 0, 0, 0, values.data()) < 0)
      throw std::runtime_error("cannot read " + path);
    return values;
  }

  std::vector<std::string> texts_as(const std::string& path, hdf5::Id type) {
    std::vector<std::string> result;
    const std::string bytes = read(path, type, std::string(size(path) * text_size, '\0'));
    for (std::size_t i = 0; i < size(path); ++i)
      result.emplace_back(bytes.c_str() + i * text_size);
    return result;
  }

  void read_attribute(const std::string& path, const std::string& name, hdf5::Id type,
                      void* value) {
    using Open = hdf5::Id (*)(hdf5::Id, const char*, const char*, hdf5::Id, hdf5::Id);
    const hdf5::Id id = symbol<Open>("H5Aopen_by_name")(file_, path.c_str(), name.c_str(), 0, 0);
    if (id < 0 || symbol<int (*)(hdf5::Id, hdf5::Id, void*)>("H5Aread")(id, type, value) < 0)
      throw std::runtime_error("no attribute " + name);
  }

  void* handle_ = nullptr;
  hdf5::Id file_ = -1;
};

/// Ten seconds in which a GPU took 1 Wh.
inline Measurement run_of_a_gpu() {
  ChannelEnergy gpu;
  gpu.channel.name = "nvml:0:gpu";
  gpu.channel.additive = true;
  gpu.energy_j = 3600;
  Measurement run;
  run.duration_s = 10;
  run.channels = {gpu};
  return run;
}

inline const std::vector<JpwrEnergy> jpwr_energies{{"rocm:0", 1.25},
                                                   {"gh:Grace Power Socket 0", {}}};

/// A test that writes HDF5 files; skipped where there is no library.
class Hdf5Test : public testing::Test {
 protected:
  void SetUp() override {
    bool found = false;
    for (const std::string& name : Hdf5Library::names())
      found = found || ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!found)
      GTEST_SKIP() << "no HDF5 library here";
    library_.emplace();
  }

  const Hdf5Library& library() const { return *library_; }
  std::filesystem::path file(const std::string& name) const { return directory_.path() / name; }
  void write_file(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
  }

 private:
  TemporaryDirectory directory_;
  std::optional<Hdf5Library> library_;
};

}  // namespace bench::energy
