#include "energy/hdf5_fixture.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/hdf5.hpp>

namespace bench::energy {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsNan;

using Hdf5FileTest = Hdf5Test;

TEST_F(Hdf5FileTest, HasTextsOfAnyLength) {
  Hdf5File out(library(), file("f.h5"));
  out.add_texts("/texts", std::vector<std::string>{"", "long enough", "x"});
  out.set("/texts", "empty", "");
  out.close();
  Hdf5Reader reader(file("f.h5"));
  EXPECT_THAT(reader.texts("/texts"), ElementsAre("", "long enough", "x"));
  EXPECT_EQ(reader.text("/texts", "empty"), "");
}

TEST_F(Hdf5FileTest, LeavesTheOldFileUntilItIsComplete) {
  write_file("f.h5", "old");
  {
    Hdf5File out(library(), file("f.h5"));
    out.add_texts("/texts", std::vector<std::string>{"half"});
  }
  std::string text;
  std::ifstream(file("f.h5")) >> text;
  EXPECT_EQ(text, "old");
  const std::filesystem::directory_iterator entries(file(""));
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);  // nothing half is left
}

TEST_F(Hdf5FileTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(Hdf5File(library(), file("missing/f.h5")), Error);
}

TEST_F(Hdf5FileTest, WhatTheLibraryRefusesIsAnErrorAndLeavesNothing) {
  Hdf5File out(library(), file("f.h5"));
  EXPECT_THROW(out.add_group("/a/b"), Error);  // its parent is missing
  EXPECT_FALSE(std::filesystem::exists(file("f.h5")));
}

TEST(Hdf5Library, ThatIsAbsentIsAnErrorWithARemedy) {
  try {
    Hdf5Library({"libno-such-hdf5.so"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(),
                testing::StartsWith("this node has no HDF5 library, which the format h5 needs: "));
    EXPECT_NE(error.hint().find("hdf5-tools"), std::string::npos);
  }
}

TEST(Hdf5Library, AnotherLibraryOfThatNameIsAnError) {
  try {
    Hdf5Library({"libm.so.6"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the HDF5 library has no H5get_libversion");
  }
}

class EnergyHdf5Test : public Hdf5Test {
 protected:
  void SetUp() override {
    Hdf5Test::SetUp();
    of_.host = "node7";
    of_.status->code = 3;
    of_.interval_s = 0.1;
  }

  void write() {
    write_energy_hdf5(library(), file("energy.h5"), energy_table(run_, of_), run_, of_,
                      file("power.csv"));
  }

  Measurement run_ = run_of_a_gpu();
  Provenance of_;
};

TEST_F(EnergyHdf5Test, HoldsTheSamples) {
  write_file("power.csv", "time_s,unix_time_s,a_w\n0.5,100.5,20\n1.5,101.5,\n");
  write();
  Hdf5Reader reader(file("energy.h5"));
  EXPECT_THAT(reader.dimensions("/power"), ElementsAre(2));
  EXPECT_THAT(reader.column("/power", "unix_time_s"), ElementsAre(100.5, 101.5));
  EXPECT_THAT(reader.column("/power", "a_w"), ElementsAre(DoubleEq(20), IsNan()));
}

TEST_F(EnergyHdf5Test, HoldsMoreSamplesThanOneBlock) {
  constexpr int rows = 10001;
  std::string text = "time_s,unix_time_s\n";
  for (int i = 0; i < rows; ++i)
    text += std::to_string(i) + "," + std::to_string(2 * i) + "\n";
  write_file("power.csv", text);
  write();
  const auto times = Hdf5Reader(file("energy.h5")).column("/power", "unix_time_s");
  ASSERT_EQ(times.size(), static_cast<std::size_t>(rows));
  for (int i = 0; i < rows; ++i)
    ASSERT_EQ(times[static_cast<std::size_t>(i)], 2.0 * i);
}

TEST_F(EnergyHdf5Test, TakesARunWithoutASample) {
  write_file("power.csv", "time_s,unix_time_s\n");
  write();
  EXPECT_THAT(Hdf5Reader(file("energy.h5")).dimensions("/power"), ElementsAre(0));
}

TEST_F(EnergyHdf5Test, HoldsTheEnergyTable) {
  write_file("power.csv", "time_s,unix_time_s\n");
  write();
  Hdf5Reader reader(file("energy.h5"));
  EXPECT_THAT(reader.text_column("/energy", "channel"), ElementsAre("nvml:0:gpu", "total"));
  EXPECT_THAT(reader.column("/energy", "energy_wh"), ElementsAre(1, 1));
  EXPECT_THAT(reader.column("/energy", "power_idle_w"), ElementsAre(IsNan(), IsNan()));
}

TEST_F(EnergyHdf5Test, SaysWhatItBelongsTo) {
  write_file("power.csv", "time_s,unix_time_s\n");
  write();
  Hdf5Reader reader(file("energy.h5"));
  EXPECT_EQ(reader.text("/", "host"), "node7");
  EXPECT_EQ(reader.number("/", "exit_code"), 3);
  EXPECT_EQ(reader.number("/", "interval_s"), 0.1);
}

TEST_F(EnergyHdf5Test, PowerOfJpwrIsAFrameOfPandas) {
  write_file("power.csv", ",timestamps,pynvml:0\n0,100.5,20\n1,101.5,\n");
  write_jpwr_power_hdf5(library(), file("power.h5"), file("power.csv"));
  Hdf5Reader reader(file("power.h5"));
  EXPECT_EQ(reader.text("/jpwr", "pandas_type"), "frame");
  EXPECT_EQ(reader.text("/jpwr/axis0", "kind"), "string");
  EXPECT_THAT(reader.texts("/jpwr/axis0"), ElementsAre("timestamps", "pynvml:0"));
  EXPECT_THAT(reader.reals("/jpwr/axis1"), ElementsAre(0, 1));
  EXPECT_THAT(reader.dimensions("/jpwr/block0_values"), ElementsAre(2, 2));
  EXPECT_THAT(reader.reals("/jpwr/block0_values"),
              ElementsAre(DoubleEq(100.5), DoubleEq(20), DoubleEq(101.5), IsNan()));
}

TEST_F(EnergyHdf5Test, EnergyOfJpwrIsASeriesOfPandas) {
  write_jpwr_energy_hdf5(library(), file("energy.h5"), jpwr_energies);
  Hdf5Reader reader(file("energy.h5"));
  EXPECT_EQ(reader.text("/jpwr", "pandas_type"), "series");
  EXPECT_THAT(reader.texts("/jpwr/index"), ElementsAre("rocm:0", "gh:Grace Power Socket 0"));
  EXPECT_THAT(reader.reals("/jpwr/values"), ElementsAre(DoubleEq(1.25), IsNan()));
}

TEST_F(EnergyHdf5Test, CountersOfJpwrAreAFrameOfOneRow) {
  write_jpwr_counter_hdf5(library(), file("counter.h5"), jpwr_energies);
  Hdf5Reader reader(file("counter.h5"));
  EXPECT_EQ(reader.text("/jpwr", "pandas_type"), "frame");
  EXPECT_THAT(reader.dimensions("/jpwr/block0_values"), ElementsAre(1, 2));
  EXPECT_THAT(reader.reals("/jpwr/block0_values"), ElementsAre(DoubleEq(1.25), IsNan()));
}

// What the Python libraries that people read HDF5 with make of the files, where they are installed.
struct ReaderCase {
  std::string name;
  std::string modules;
  std::string script;
};

class Hdf5InPythonTest : public Hdf5Test, public testing::WithParamInterface<ReaderCase> {
 protected:
  void SetUp() override {
    Hdf5Test::SetUp();
    if (IsSkipped())
      return;
    const Measurement run = run_of_a_gpu();
    Provenance of;
    of.host = "node7";
    write_file("samples.csv", "time_s,unix_time_s,a_w\n0.5,100.5,20\n1.5,101.5,\n");
    write_energy_hdf5(library(), file("own.h5"), energy_table(run, of), run, of,
                      file("samples.csv"));
    write_file("power.csv", ",timestamps,pynvml:0\n0,100.5,20\n1,101.5,\n");
    write_jpwr_power_hdf5(library(), file("power.h5"), file("power.csv"));
    write_jpwr_energy_hdf5(library(), file("energy.h5"), jpwr_energies);
    write_jpwr_counter_hdf5(library(), file("counter.h5"), jpwr_energies);
  }

  /// The exit code of a script; 77 if this Python has not the modules.
  int run_script(const std::string& python) const {
    write_file("read.py", fmt::format("import sys\ntry:\n    import {}\nexcept ImportError:\n"
                                      "    sys.exit(77)\n{}",
                                      GetParam().modules, GetParam().script));
    const int status = std::system(
        fmt::format("cd {} && {} -W ignore read.py", file("").string(), python).c_str());
    return WEXITSTATUS(status);
  }
};

TEST_P(Hdf5InPythonTest, IsWhatWasWritten) {
  int code = 77;
  // Debian's has what Debian installs, also where another one comes first on PATH.
  for (const char* python : {"python3", "/usr/bin/python3"})
    if (code == 77)
      code = run_script(python);
  if (code == 77 || code == 127)
    GTEST_SKIP() << "no Python with " << GetParam().modules << " here";
  EXPECT_EQ(code, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, Hdf5InPythonTest,
    testing::Values(ReaderCase{"Pandas", "pandas, tables",
                               "power = pandas.read_hdf('power.h5', 'jpwr')\n"
                               "assert list(power.columns) == ['timestamps', 'pynvml:0']\n"
                               "assert power['pynvml:0'][0] == 20\n"
                               "assert power['pynvml:0'].isna()[1]\n"
                               "assert power['timestamps'].sum() == 202\n"
                               "energy = pandas.read_hdf('energy.h5', 'jpwr')\n"
                               "assert energy['rocm:0'] == 1.25\n"
                               "assert energy.sum() == 1.25\n"
                               "counters = pandas.read_hdf('counter.h5', 'jpwr')\n"
                               "assert counters.shape == (1, 2)\n"
                               "assert counters['rocm:0'][0] == 1.25\n"
                               "own = pandas.read_hdf('own.h5', 'power')\n"
                               "assert list(own.columns) == ['time_s', 'unix_time_s', 'a_w']\n"
                               "assert own['a_w'].sum() == 20\n"},
                    ReaderCase{"H5py", "h5py",
                               "file = h5py.File('own.h5')\n"
                               "assert file['power'].chunks == (2,)\n"
                               "power = file['power'][:]\n"
                               "assert power.dtype.names == ('time_s', 'unix_time_s', 'a_w')\n"
                               "assert power['unix_time_s'][1] == 101.5\n"
                               "assert file.attrs['host'] == b'node7'\n"
                               "energy = file['energy'][:]\n"
                               "assert list(energy['channel']) == [b'nvml:0:gpu', b'total']\n"
                               "assert energy['energy_wh'][1] == 1\n"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::energy
