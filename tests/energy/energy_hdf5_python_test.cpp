// What the Python libraries that people read HDF5 with make of the files, where they are installed.
#include "energy/energy_hdf5_fixture.hpp"

#include <cstdlib>
#include <ostream>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/hdf5.hpp>

namespace bench::energy {
namespace {

/// A Python that has these modules, empty where there is none: Debian's has what Debian installs,
/// also where another one comes first on PATH.
std::string python_with(const std::string& modules) {
  for (const std::string python : {"python3", "/usr/bin/python3"})
    if (std::system(fmt::format("{} -c 'import {}' 2> /dev/null", python, modules).c_str()) == 0)
      return python;
  return "";
}

struct ReaderCase {
  std::string name;
  std::string modules;
  std::string script;
};
void PrintTo(const ReaderCase& c, std::ostream* out) {
  *out << c.name;
}

class Hdf5InPythonTest : public Hdf5Test, public testing::WithParamInterface<ReaderCase> {
 protected:
  void write_own() const {
    const Measurement run = run_of_a_gpu();
    Provenance of;
    of.host = "node7";
    write_file("samples.csv", "time_s,unix_time_s,a_w\n0.5,100.5,20\n1.5,101.5,\n");
    write_energy_hdf5(library(), file("own.h5"), energy_table(run, of), run, of,
                      file("samples.csv"));
  }

  void write_jpwr() const {
    write_file("power.csv", ",timestamps,pynvml:0\n0,100.5,20\n1,101.5,\n");
    write_jpwr_power_hdf5(library(), file("power.h5"), file("power.csv"));
    write_jpwr_energy_hdf5(library(), file("energy.h5"), jpwr_energies);
    write_jpwr_counter_hdf5(library(), file("counter.h5"), jpwr_energies);
  }
};

TEST_P(Hdf5InPythonTest, IsWhatWasWritten) {
  const std::string python = python_with(GetParam().modules);
  if (python.empty())
    GTEST_SKIP() << "no Python with " << GetParam().modules << " here";
  write_own();
  write_jpwr();
  write_file("read.py", "import " + GetParam().modules + "\n" + GetParam().script);
  const std::string command =
      fmt::format("cd {} && {} -W ignore read.py", file("").string(), python);
  EXPECT_EQ(std::system(command.c_str()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, Hdf5InPythonTest,
    testing::Values(ReaderCase{"PowerOfJpwr", "pandas, tables",
                               "power = pandas.read_hdf('power.h5', 'jpwr')\n"
                               "assert list(power.columns) == ['timestamps', 'pynvml:0']\n"
                               "assert power['pynvml:0'][0] == 20\n"
                               "assert power['pynvml:0'].isna()[1]\n"
                               "assert power['timestamps'].sum() == 202\n"},
                    ReaderCase{"EnergyOfJpwr", "pandas, tables",
                               "energy = pandas.read_hdf('energy.h5', 'jpwr')\n"
                               "assert energy['rocm:0'] == 1.25\n"
                               "assert energy.sum() == 1.25\n"},
                    ReaderCase{"CountersOfJpwr", "pandas, tables",
                               "counters = pandas.read_hdf('counter.h5', 'jpwr')\n"
                               "assert counters.shape == (1, 2)\n"
                               "assert counters['rocm:0'][0] == 1.25\n"},
                    ReaderCase{"SamplesByPandas", "pandas, tables",
                               "power = pandas.read_hdf('own.h5', 'power')\n"
                               "assert list(power.columns) == ['time_s', 'unix_time_s', 'a_w']\n"
                               "assert power['a_w'].sum() == 20\n"},
                    ReaderCase{"SamplesByH5py", "h5py",
                               "power = h5py.File('own.h5')['power'][:]\n"
                               "assert power.dtype.names == ('time_s', 'unix_time_s', 'a_w')\n"
                               "assert power['unix_time_s'][1] == 101.5\n"},
                    ReaderCase{"EnergyByH5py", "h5py",
                               "file = h5py.File('own.h5')\n"
                               "assert file.attrs['host'] == b'node7'\n"
                               "energy = file['energy'][:]\n"
                               "assert list(energy['channel']) == [b'nvml:0:gpu', b'total']\n"
                               "assert energy['energy_wh'][1] == 1\n"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::energy
