#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/program/before_run.hpp>
#include <bench/energy/program/options.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

struct ThermalCase {
  std::string name;
  std::string condition;
  std::vector<std::optional<double>> temperatures_c;  ///< One every 4 s.
  std::optional<double> over_at_s;
};
class ThermalTest : public testing::TestWithParam<ThermalCase> {};

TEST_P(ThermalTest, EndsTheWaitInTime) {
  ThermalCriterion judge(thermal_condition(GetParam().condition));
  std::optional<double> over_at_s;
  double time_s = 0;
  for (const auto& temperature_c : GetParam().temperatures_c) {
    if (!over_at_s && judge.is_over(time_s, temperature_c))
      over_at_s = time_s;
    time_s += 4;
  }
  EXPECT_EQ(over_at_s, GetParam().over_at_s);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, ThermalTest,
    testing::Values(ThermalCase{"Time", "6s", {{}, {}, {}}, 8},
                    ThermalCase{"Temperature", "45C", {60, 46, 45, 44}, 8},
                    ThermalCase{"TooWarm", "45C", {60, 50, 46}, {}},
                    ThermalCase{"Stable", "stable", {40, 40.5, 40, 41, 40}, 12},
                    ThermalCase{"Cooling", "stable", {60, 55, 51, 49, 48.5, 48, 48}, 24},
                    ThermalCase{"SlowlyWarming", "stable", {40, 40.6, 41.2, 41.8, 42.4, 43}, {}},
                    ThermalCase{"UnreadableMeanwhile", "stable", {40, 40, {}, 40, 40, 40, 40}, 24}),
    [](const auto& test) { return test.param.name; });

TEST(Thermal, TakesNoOtherWords) {
  for (const char* text : {"", "cool", "45", "-5C", "C", "0s"})
    EXPECT_THROW(thermal_condition(text), Error) << text;
}

TEST(EnergyProgram, WaitsUntilTheNodeIsCool) {
  const TemporaryDirectory root;
  root.write("class/hwmon/hwmon0/name", "coretemp");
  root.write("class/hwmon/hwmon0/temp1_input", "70000");
  const std::string sensor = (root.path() / "class/hwmon/hwmon0/temp1_input").string();
  // Whoever starts first: the program runs only when the sensor has been set.
  ProcessSpec spec;
  spec.arguments = {"sh", "-c",
                    std::string("(sleep 0.3; echo 44000 > ") + sensor +
                        ") & " BENCH_ENERGY_PROGRAM
                        " --method mock:constant=100W --thermal 45C --sysfs-root " +
                        root.path().string() + " -- cat " + sensor};
  EXPECT_EQ(run(std::move(spec)).standard_output, "44000\n");
}

TEST(EnergyProgram, CannotWaitForATemperatureThatNobodyShows) {
  const TemporaryDirectory empty;
  const auto output = run(metered({"--method", "mock:constant=100W", "--thermal", "stable",
                                   "--sysfs-root", empty.path().string()},
                                  "echo started"),
                          {{"LD_LIBRARY_PATH", empty.path().string()}});
  EXPECT_EQ(output.status.code, 125);
  EXPECT_THAT(output.standard_error,
              HasSubstr("error: no temperature of a processor or GPU can be read\n"
                        "hint: wait for a time instead: --thermal 60s"));
}

}  // namespace
}  // namespace bench::energy
