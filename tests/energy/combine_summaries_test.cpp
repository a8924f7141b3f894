#include "energy/fixtures.hpp"

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/energy/combine_summaries.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using Summaries = std::vector<std::vector<NameValue>>;

TEST(CombineSummaries, AddsEnergiesAndPowersAndTakesTheLongestTime) {
  EXPECT_THAT(combine_summaries(Summaries{{{"energy_wh", "1.5"},
                                           {"power_mean_w", "100"},
                                           {"energy_nvml_0_gpu_wh", "1"},
                                           {"duration_s", "54"},
                                           {"duration_region_epoch_s", "30"}},
                                          {{"energy_wh", "2"},
                                           {"power_mean_w", "120.5"},
                                           {"energy_nvml_0_gpu_wh", "1.25"},
                                           {"duration_s", "60"},
                                           {"duration_region_epoch_s", "29"}}}),
              ElementsAre(NameValue{"energy_wh", "3.5"}, NameValue{"power_mean_w", "220.5"},
                          NameValue{"energy_nvml_0_gpu_wh", "2.25"}, NameValue{"duration_s", "60"},
                          NameValue{"duration_region_epoch_s", "30"}));
}

TEST(CombineSummaries, NamesAllSourcesAndTheWorstQuality) {
  EXPECT_THAT(combine_summaries(
                  Summaries{{{"energy_source", "rapl,nvml"}, {"energy_quality", "measured"}},
                            {{"energy_source", "nvml,model"}, {"energy_quality", "estimated"}}}),
              ElementsAre(NameValue{"energy_source", "rapl,nvml,model"},
                          NameValue{"energy_quality", "estimated"}));
}

TEST(CombineSummaries, HasNoTotalWhereOneHasNone) {
  EXPECT_THAT(
      combine_summaries(Summaries{{{"energy_wh", "1"}, {"energy_quality", "measured"}},
                                  {{"energy_quality", "none"}, {"energy_absent", "no sensor"}}}),
      ElementsAre(NameValue{"energy_quality", "none"}, NameValue{"energy_absent", "no sensor"}));
}

TEST(CombineSummaries, ReadsAndWritesFiles) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "energy_wh=1\nenergy_quality=measured");
  directory.write("b.txt", "energy_wh=2\nenergy_quality=measured");
  const auto output = directory.path() / "energy.txt";
  combine_summary_files(
      std::vector<std::filesystem::path>{directory.path() / "a.txt", directory.path() / "b.txt"},
      output);
  EXPECT_EQ(read_file(output), "energy_wh=3\nenergy_quality=measured\n");
}

TEST(CombineSummaries, RefusesWhatIsNone) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "channel,energy_wh");
  const std::vector<std::filesystem::path> files{directory.path() / "a.txt"};
  EXPECT_THROW(combine_summary_files(files, directory.path() / "energy.txt"), Error);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "energy.txt"));
}

}  // namespace
}  // namespace bench::energy
