#include "energy/fixtures.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/program/jpwr.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;

Channel channel(const std::string& name, int device, const std::string& label = "") {
  Channel result;
  result.name = name;
  result.device = device;
  result.label = label;
  return result;
}

ChannelEnergy measured(const std::string& name, int device, std::optional<double> integrated_j,
                       std::optional<double> counter_j) {
  ChannelEnergy result;
  result.channel = channel(name, device);
  result.energy_j = counter_j ? counter_j : integrated_j;
  result.energy_integrated_j = integrated_j;
  result.energy_counter_j = counter_j;
  return result;
}

TEST(Jpwr, MethodsHaveOtherNamesHere) {
  EXPECT_EQ(method_of_jpwr("pynvml"), "nvml");
  EXPECT_EQ(method_of_jpwr("rocm"), "amd");
  EXPECT_EQ(method_of_jpwr("gh"), "hwmon");
  EXPECT_EQ(method_of_jpwr("gc"), "gcipu");
  EXPECT_EQ(method_of_jpwr("nonsense"), "nonsense");
}

TEST(Jpwr, HasOneColumnForADevice) {
  Channel board = channel("gcipu:0:board", 0);
  board.scope = Scope::board;
  EXPECT_THAT(
      jpwr_columns(std::vector{channel("nvml:0:gpu", 0), channel("nvml:0:gpu_average", 0),
                               channel("nvml:3:gpu", 3), channel("amdsmi:1:gpu", 1),
                               channel("amdgpu:2+3:gpu", 2), channel("gcipu:2:ipu", 0), board}),
      ElementsAre("pynvml:0", "", "pynvml:3", "rocm:1", "rocm:2", "gc:2", "gcipu:0:board"));
}

TEST(Jpwr, NamesMetersByTheirLabels) {
  EXPECT_THAT(
      jpwr_columns(std::vector{channel("hwmon:0:module", 0, "Module Power Socket 0"),
                               channel("hwmon:0:grace", 0, "Grace Power Socket 0"),
                               channel("hwmon:hwmon3:node", -1)}),
      ElementsAre("gh:Module Power Socket 0", "gh:Grace Power Socket 0", "hwmon:hwmon3:node"));
}

TEST(Jpwr, TwoMetersWithOneLabelKeepTwoColumns) {
  EXPECT_THAT(jpwr_columns(std::vector{channel("hwmon:0:grace", 0, "Grace Power Socket 0"),
                                       channel("hwmon:0:grace-hwmon4", 0, "Grace Power Socket 0")}),
              ElementsAre("gh:Grace Power Socket 0", "hwmon:0:grace-hwmon4"));
}

TEST(Jpwr, WhatItDoesNotKnowKeepsItsName) {
  EXPECT_THAT(jpwr_columns(std::vector{channel("rapl:package-0", 0)}),
              ElementsAre("rapl:package-0"));
}

struct ColumnCase {
  std::string column;
  Scope scope;
  int device;
};

TEST(Jpwr, ColumnsTellScopeAndDevice) {
  for (const ColumnCase& c :
       {ColumnCase{"pynvml:3", Scope::gpu, 3}, ColumnCase{"rocm:0", Scope::gpu, 0},
        ColumnCase{"gc:1", Scope::gpu, 1}, ColumnCase{"gh:Module Power Socket 2", Scope::module, 2},
        ColumnCase{"gh:CPU Power Socket 0", Scope::cpu_rail, 0},
        ColumnCase{"gh:fan", Scope::other, -1}, ColumnCase{"pynvml:x", Scope::other, -1},
        ColumnCase{"energy", Scope::other, -1}}) {
    const Channel found = channel_of_jpwr(c.column);
    EXPECT_EQ(found.name, c.column);
    EXPECT_EQ(found.scope, c.scope) << c.column;
    EXPECT_EQ(found.device, c.device) << c.column;
  }
}

TEST(Jpwr, WritesIntegratedEnergyAsAnUnnamedSeries) {
  const std::vector channels{measured("nvml:0:gpu", 0, 1800.0, 3600.0),
                             measured("nvml:0:gpu_average", 0, 7.0, {}),
                             measured("rapl:package-0", 0, {}, 900.0)};
  EXPECT_EQ(render_jpwr_energy(jpwr_energy(channels)), ",0\npynvml:0,0.5\nrapl:package-0,0.25\n");
}

TEST(Jpwr, WritesCountersAsOneRow) {
  const std::vector channels{measured("amdgpu:0:gpu", 0, 1800.0, 4500.0),
                             measured("hwmon:0:grace", 0, 7.0, {}),
                             measured("amdgpu:1:gpu", 1, 1800.0, 3600.0)};
  EXPECT_EQ(render_jpwr_energy_from_counter(jpwr_energy_from_counter(channels)),
            ",rocm:0,rocm:1\n0,1.25,1.0\n");
}

TEST(Jpwr, ALostDeviceIsEmptyThoughAPartWasMeasured) {
  std::vector channels{measured("nvml:0:gpu", 0, 1800.0, 3600.0)};
  channels[0].energy_j.reset();
  EXPECT_EQ(render_jpwr_energy(jpwr_energy(channels)), ",0\npynvml:0,\n");
  EXPECT_TRUE(jpwr_energy_from_counter(channels).empty());
}

}  // namespace
}  // namespace bench::energy
