#pragma once

#include "energy/fixtures.hpp"
#include "energy/hdf5_reader.hpp"

#include <fstream>
#include <optional>

#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/sampler.hpp>

namespace bench::energy {

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
