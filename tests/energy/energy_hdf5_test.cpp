#include "energy/energy_hdf5_fixture.hpp"
#include "energy/hdf5_reader.hpp"

#include <cstddef>
#include <string>

#include <gmock/gmock.h>

#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/hdf5.hpp>

namespace bench::energy {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsNan;

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

}  // namespace
}  // namespace bench::energy
