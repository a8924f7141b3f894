#include "energy/fixtures.hpp"

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/program/combine.hpp>
#include <bench/energy/program/energy_file.hpp>

namespace bench::energy {
namespace {

ChannelRecord record(const std::string& name, Scope scope, std::optional<double> energy_wh,
                     const std::string& device_id = "", int device = 0) {
  ChannelRecord result;
  result.channel.name = name;
  result.channel.scope = scope;
  result.channel.device_id = device_id;
  result.channel.device = device;
  result.energy_wh = energy_wh;
  return result;
}

EnergyFile file_of(const std::string& node, std::optional<long long> rank,
                   std::vector<ChannelRecord> channels) {
  return {node + ".csv", node, rank, std::move(channels)};
}

struct CombineCase {
  std::string name;
  std::vector<EnergyFile> files;
  std::string expected;
};
void PrintTo(const CombineCase& c, std::ostream* out) {
  *out << c.name;
}
class CombineTest : public testing::TestWithParam<CombineCase> {};

TEST_P(CombineTest, MakesOneTable) {
  EXPECT_EQ(combine(GetParam().files), GetParam().expected);
}

constexpr auto gpu = Scope::gpu;
constexpr auto module = Scope::module;

INSTANTIATE_TEST_SUITE_P(
    Energy, CombineTest,
    testing::Values(
        CombineCase{"RanksOfTwoNodesInOrder",
                    {file_of("b", 10, {record("pynvml:0", gpu, 4)}),
                     file_of("b", 9, {record("pynvml:1", gpu, 3)}),
                     file_of("a", 0, {record("pynvml:0", gpu, 1), record("pynvml:1", gpu, 2)})},
                    ",nodename,rank,pynvml:0,pynvml:1,total_wh\n"
                    "0,a,0,1.0,2.0,3.0\n"
                    "1,b,9,,3.0,3.0\n"
                    "2,b,10,4.0,,4.0\n"},
        CombineCase{"WhatTwoRanksSawIsCountedOnce",
                    {file_of("a", 0, {record("pynvml:0", gpu, 1), record("pynvml:1", gpu, 2)}),
                     file_of("a", 1, {record("pynvml:0", gpu, 1.5), record("pynvml:1", gpu, 2.5)})},
                    ",nodename,rank,pynvml:0,pynvml:1,total_wh\n"
                    "0,a,0,1.0,2.0,3.0\n"
                    "1,a,1,,,\n"},
        CombineCase{"AValueGoesBeforeAnAbsentOne",
                    {file_of("a", 0, {record("pynvml:0", gpu, {})}),
                     file_of("a", 1, {record("pynvml:0", gpu, 1.5)})},
                    ",nodename,rank,pynvml:0,total_wh\n"
                    "0,a,0,,\n"
                    "1,a,1,1.5,1.5\n"},
        CombineCase{"GpusAreToldApartByTheirIdentity",
                    {file_of("a", 0, {record("nvml:0:gpu", gpu, 1, "GPU-1")}),
                     file_of("a", 1, {record("nvml:0:gpu", gpu, 2, "GPU-2")}),
                     file_of("a", 2, {record("nvml:7:gpu", gpu, 1, "GPU-1", 7)})},
                    ",nodename,rank,nvml:0:gpu,total_wh\n"
                    "0,a,0,1.0,1.0\n"
                    "1,a,1,2.0,2.0\n"
                    "2,a,2,,\n"},
        CombineCase{"ScopesOfOneGpuAreNoDoubles",
                    {file_of("a", 0,
                             {record("nvml:0:gpu", gpu, 1, "GPU-1"),
                              record("nvml:0:gpu_average", Scope::gpu_average, 1.5, "GPU-1")})},
                    ",nodename,rank,nvml:0:gpu,nvml:0:gpu_average,total_wh\n"
                    "0,a,0,1.0,1.5,1.0\n"},
        CombineCase{"WhatANodeMeterOfAnotherRankContainsIsNotAdded",
                    {file_of("a", 0, {record("hwmon:hwmon3:node", Scope::node, 10, "", -1)}),
                     file_of("a", 1, {record("nvml:0:gpu", gpu, 4, "GPU-1")}),
                     file_of("b", 2, {record("nvml:0:gpu", gpu, 5, "GPU-2")})},
                    ",nodename,rank,hwmon:hwmon3:node,nvml:0:gpu,total_wh\n"
                    "0,a,0,10.0,,10.0\n"
                    "1,a,1,,4.0,\n"
                    "2,b,2,,5.0,5.0\n"},
        CombineCase{"WithoutOneOfItsPartsThereIsNoTotal",
                    {file_of("a", 0, {record("pynvml:0", gpu, 1), record("pynvml:1", gpu, {})})},
                    ",nodename,rank,pynvml:0,pynvml:1,total_wh\n"
                    "0,a,0,1.0,,\n"},
        CombineCase{
            "WhatNobodyKnowsIsNotAdded",
            {file_of("a", {},
                     {record("x:0", Scope::other, 1), record("gh:Module Power Socket 0", module, 3),
                      record("pynvml:0", gpu, 2)})},
            ",nodename,rank,x:0,gh:Module Power Socket 0,pynvml:0,total_wh\n"
            "0,a,,1.0,3.0,2.0,3.0\n"}),
    [](const auto& test) { return test.param.name; });

TEST(Combine, TheSameRankTwiceIsAnError) {
  for (const auto& [rank, message] :
       {std::pair{std::optional<long long>(3), "a.csv and a.csv are both of node a, rank 3"},
        {std::nullopt, "a.csv and a.csv are both of node a"}})
    try {
      combine({file_of("a", rank, {}), file_of("b", rank, {}), file_of("a", rank, {})});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), message);
    }
}

TEST(Combine, SaysWhereTheTableIsAsCaramlDoes) {
  const TemporaryDirectory directory;
  directory.write("a.csv", ",0\npynvml:0,0.5\nnodename,a\nrank,0");
  const auto output = directory.path() / "combined.csv";
  EXPECT_EQ(combine_files(std::vector{directory.path() / "a.csv"}, output),
            "Writing combined energy DataFrame to " + output.string());
  EXPECT_EQ(read_file(output), ",nodename,rank,pynvml:0,total_wh\n0,a,0,0.5,0.5\n");
}

TEST(Combine, LeavesOutWhatTheFileSaysIsSharedOrMeasuredTwice) {
  const TemporaryDirectory directory;
  directory.write("a.csv",
                  "channel,energy_wh,shared,parent,scope,device,device_id,host,rank\n"
                  "pm_counters:node,90,1,,node,,,a,0\n"
                  "rapl:package-0,20,1,,package,0,,a,0\n"
                  "amdgpu:0:gpu,40,0,,gpu,,0000:c1:00.0,a,0\n"
                  "hwmon:hwmon4:gpu,41,0,amdgpu:0:gpu,gpu,,,a,0\n"
                  "total,40,,,,,,a,0");
  EXPECT_EQ(combine({read_energy_file(directory.path() / "a.csv")}),
            ",nodename,rank,pm_counters:node,rapl:package-0,amdgpu:0:gpu,hwmon:hwmon4:gpu,"
            "total_wh\n0,a,0,90.0,20.0,40.0,41.0,40.0\n");
}

TEST(Combine, NeverOverwritesWhatItReads) {
  const TemporaryDirectory directory;
  directory.write("a.csv", ",0\npynvml:0,0.5\nnodename,a\nrank,0");
  const std::vector files{directory.path() / "a.csv"};
  EXPECT_THROW(combine_files(files, directory.path() / "./a.csv"), Error);
  EXPECT_EQ(read_energy_file(files[0]).channels.size(), 1U);
}

TEST(Combine, WritesNothingIfAFileIsMissing) {
  const TemporaryDirectory directory;
  directory.write("a.csv", ",0\npynvml:0,0.5\nnodename,a\nrank,0");
  const auto output = directory.path() / "combined.csv";
  EXPECT_THROW(
      combine_files(std::vector{directory.path() / "a.csv", directory.path() / "b.csv"}, output),
      Error);
  EXPECT_FALSE(std::filesystem::exists(output));
}

}  // namespace
}  // namespace bench::energy
