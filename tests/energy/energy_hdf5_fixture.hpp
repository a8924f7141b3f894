#pragma once

#include "energy/fixtures.hpp"
#include "energy/hdf5_reader.hpp"

#include <fstream>
#include <optional>

namespace bench::energy {

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
