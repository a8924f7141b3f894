// Every library of a vendor's GPUs, over every shape and fault of its fake, against the closed form
// of the power. The fakes' clock is the test's and not the machine's, so the result is exact
// however busy that is; sampler_test.cpp has the times of real threads.
#include "energy/fixtures.hpp"
#include "fake/waveform.hpp"
#include "support/environment_variable.hpp"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <stdlib.h>

#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd.hpp>
#include <bench/energy/sources/nvml.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;

constexpr double exact = 0.001;
constexpr double interval_s = 0.001;
/// On the fakes' clock. The run begins when all shapes do, so that every edge of theirs lies in the
/// middle of two readings, where the trapezoidal rule is right about it.
constexpr double begin_s = 1;
constexpr double run_s = 2.5;

struct Library {
  std::string name;
  std::string prefix;  ///< Of its fake's variables.
  std::unique_ptr<PowerSource> (*open)(const std::string& directory);
  double power_step_w;  ///< It shows a multiple of this, rounded down.
  bool is_nvidia;
};
void PrintTo(const Library& library, std::ostream* out) {
  *out << library.name;
}

const Library nvml_library{"Nvml", "FAKE_NVML",
                           [](const std::string& directory) {
                             NvmlSettings settings{.libraries = {directory + "/libnvidia-ml.so.1"}};
                             settings.now_s = [] {
                               return std::atof(std::getenv("FAKE_NVML_CLOCK_S"));
                             };
                             return open_nvml(settings);
                           },
                           1e-3, true};
const Library amdsmi_library{"AmdSmi", "FAKE_AMDSMI",
                             [](const std::string& directory) {
                               return open_amd_smi({directory + "/libamd_smi.so.26"},
                                                   "/nonexistent", {});
                             },
                             1, false};

/// What a run of a device must have.
struct Known {
  bool counter = true;   ///< An energy by the counter.
  bool integral = true;  ///< One by the power over the whole run.
};

struct ShapeCase {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;  ///< Of the fake, without its prefix.
  Known of_nvidia = {};
  Known of_amd = {};
};
void PrintTo(const ShapeCase& shape, std::ostream* out) {
  *out << shape.name;
}

/// The fake of one library, its clock, and the meter of its first device.
class FakeDevice {
 public:
  FakeDevice(const Library& library, const ShapeCase& shape)
      : clock_name_(library.prefix + "_CLOCK_S"), clock_(clock_name_, "0") {
    for (const auto& [name, value] : shape.settings)
      settings_.push_back(
          std::make_unique<EnvironmentVariable>(library.prefix + "_" + name, value));
    wave_ = std::make_unique<fake::Waveform>(library.prefix, 1);
    wave_->start();
    source_ = library.open(FAKE_NVML_DIRECTORY);
  }

  ChannelEnergy measure() {
    ChannelMeter meter(source_->channels()[0], interval_s);
    const auto reads = static_cast<int>(std::round(run_s / interval_s));
    for (int i = 0; i <= reads; ++i) {  // the first before the run, the last behind it
      const double time_s = (i - 0.5) * interval_s;
      ::setenv(clock_name_.c_str(), std::to_string(begin_s + time_s).c_str(), 1);
      if (i == reads)
        source_->want_counters();
      meter.add(time_s, read_channels(*source_)[0]);
      if (i == reads - 1)
        meter.close(run_s);
    }
    return meter.result();
  }

  /// The closed form, from the begin of the run on.
  double energy_j(double end_s) const {
    return wave_->energy_j(begin_s + end_s) - wave_->energy_j(begin_s);
  }

 private:
  std::string clock_name_;
  EnvironmentVariable clock_;
  std::vector<std::unique_ptr<EnvironmentVariable>> settings_;
  std::unique_ptr<fake::Waveform> wave_;
  std::unique_ptr<PowerSource> source_;
};

class FakeShapesTest : public testing::TestWithParam<std::tuple<Library, ShapeCase>> {
 protected:
  const Library& library() const { return std::get<0>(GetParam()); }
  const ShapeCase& shape() const { return std::get<1>(GetParam()); }
  FakeDevice device_{library(), shape()};
};

TEST_P(FakeShapesTest, EnergyIsTheClosedForm) {
  const Known known = library().is_nvidia ? shape().of_nvidia : shape().of_amd;
  const ChannelEnergy result = device_.measure();
  const double energy_j = device_.energy_j(run_s);
  const double by_power_j = exact * energy_j + library().power_step_w * run_s;
  EXPECT_EQ(result.distrust, "");
  EXPECT_EQ(result.energy_counter_j.has_value(), known.counter);
  if (known.counter) {
    EXPECT_NEAR(*result.energy_counter_j, energy_j, exact * energy_j);
  }
  if (known.integral) {
    EXPECT_NEAR(result.energy_integrated_j.value_or(0), energy_j, by_power_j);
  }
  ASSERT_TRUE(result.energy_j) << result.absent;
  EXPECT_NEAR(*result.energy_j, energy_j, known.counter ? exact * energy_j : by_power_j);
}

const auto libraries = testing::Values(nvml_library, amdsmi_library);
const auto name_of_case = [](const auto& test) {
  return std::get<0>(test.param).name + std::get<1>(test.param).name;
};

INSTANTIATE_TEST_SUITE_P(
    Energy, FakeShapesTest,
    testing::Combine(
        libraries,
        testing::Values(ShapeCase{"Constant", {{"SHAPE", "constant"}}},
                        ShapeCase{"Ramp", {{"SHAPE", "ramp"}}},
                        ShapeCase{"Square", {{"SHAPE", "square"}}},
                        ShapeCase{"Spike", {{"SHAPE", "spike"}}},
                        // NVIDIA's counters have 64 bits: one that starts again was
                        // reset, and the power remains.
                        ShapeCase{"CounterWrap",
                                  {{"COUNTER_J", "65000"}, {"WRAP_J", "65536"}},
                                  {.counter = false},
                                  {}},
                        // From the 1000th reading on: of the power with NVML, of the
                        // counter with the others. The other of the two goes on.
                        ShapeCase{"Error",
                                  {{"SHAPE", "ramp"}, {"FAIL_AFTER", "1000"}, {"FAIL_CODE", "21"}},
                                  {.integral = false},
                                  {.counter = false}})),
    name_of_case);

class GoneDeviceTest : public FakeShapesTest {};

TEST_P(GoneDeviceTest, HasNoEnergyButWhatItDrewUntilThen) {
  const ChannelEnergy result = device_.measure();
  EXPECT_FALSE(result.energy_j);
  EXPECT_THAT(result.absent, testing::StartsWith("failed after 1 s of 2.5 s: "));
  const double until_s = 1 - interval_s / 2;  // the last reading of it
  const double energy_j = device_.energy_j(until_s);
  EXPECT_NEAR(result.energy_integrated_j.value_or(0), energy_j,
              exact * energy_j + library().power_step_w * until_s);
  EXPECT_EQ(result.samples, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Energy, GoneDeviceTest,
                         testing::Combine(libraries,
                                          testing::Values(ShapeCase{
                                              "Gone", {{"SHAPE", "ramp"}, {"GONE_MS", "2000"}}})),
                         name_of_case);

}  // namespace
}  // namespace bench::energy
