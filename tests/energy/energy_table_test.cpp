#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/energy_table.hpp>

namespace bench::energy {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Measurement one_gpu() {
  Measurement run;
  run.duration_s = 10;
  run.overruns = 2;
  run.total_power = {300, 400};
  run.absences = {{"rapl", "not here"}};
  ChannelEnergy gpu;
  gpu.channel.name = "nvml:0:gpu";
  gpu.channel.scope = Scope::gpu;
  gpu.channel.device = 0;
  gpu.channel.device_id = "GPU-7";
  gpu.channel.additive = true;
  gpu.channel.description = "H100, \"fake\"";
  gpu.energy_j = gpu.energy_counter_j = 3600;
  gpu.energy_integrated_j = 3000;
  gpu.uncertainty = Uncertainty{.ends_j = 36};
  gpu.difference_percent = 20;
  gpu.power_min_w = 300;
  gpu.power_mean_w = 360;
  gpu.power_max_w = 400;
  gpu.samples = 90;
  gpu.failures = 3;
  gpu.first_sample_s = 0.0625;
  gpu.longest_gap_s = 0.5;
  gpu.jitter_std_s = 0.25;
  gpu.jitter_p99_s = 0.125;
  run.channels = {gpu};
  return run;
}

Provenance provenance() {
  Provenance result;
  result.host = "node7";
  result.rank = 4;
  result.program = {"./train", "--name", "a b"};
  result.interval_s = 0.1;
  result.started_unix_s = 1700000000.25;
  result.started_monotonic_s = 12.5;
  return result;
}

/// The cells of a row of the CSV form by the names of their columns.
std::map<std::string, std::string> row(const Measurement& run, std::size_t index) {
  const auto lines = parse_csv(render_csv(energy_table(run, provenance())), "energy.csv");
  std::map<std::string, std::string> cells;
  for (std::size_t i = 0; i < lines[0].cells.size(); ++i)
    cells[lines[0].cells[i]] = lines.at(index + 1).cells[i];
  return cells;
}

TEST(EnergyTable, HasARowOfFiguresForEachChannel) {
  const std::map<std::string, std::string> expected{{"channel", "nvml:0:gpu"},
                                                    {"energy_wh", "1"},
                                                    {"energy_counter_wh", "1"},
                                                    {"energy_integrated_wh", "0.8333333"},
                                                    {"difference_percent", "20"},
                                                    {"power_min_w", "300"},
                                                    {"power_mean_w", "360"},
                                                    {"power_max_w", "400"},
                                                    {"power_idle_w", ""},
                                                    {"energy_net_wh", ""},
                                                    {"energy_uncertainty_wh", "0.01"},
                                                    {"samples", "90"},
                                                    {"samples_lost", "3"},
                                                    {"overruns", "2"},
                                                    {"first_sample_s", "0.0625"},
                                                    {"longest_gap_s", "0.5"},
                                                    {"jitter_std_s", "0.25"},
                                                    {"jitter_p99_s", "0.125"},
                                                    {"additive", "1"},
                                                    {"shared", "0"},
                                                    {"estimated", "0"},
                                                    {"parent", ""},
                                                    {"scope", "gpu"},
                                                    {"device", "0"},
                                                    {"device_id", "GPU-7"},
                                                    {"host", "node7"},
                                                    {"rank", "4"},
                                                    {"description", "H100, \"fake\""},
                                                    {"absent", ""},
                                                    {"recovered", ""}};
  EXPECT_EQ(row(one_gpu(), 0), expected);
}

TEST(EnergyTable, EndsWithTheTotal) {
  auto total = row(one_gpu(), 1);
  std::erase_if(total, [](const auto& cell) { return cell.second.empty(); });
  const std::map<std::string, std::string> expected{{"channel", "total"},
                                                    {"energy_wh", "1"},
                                                    {"energy_uncertainty_wh", "0.01"},
                                                    {"energy_counter_wh", "1"},
                                                    {"energy_integrated_wh", "0.8333333"},
                                                    {"difference_percent", "20"},
                                                    {"power_min_w", "300"},
                                                    {"power_mean_w", "360"},
                                                    {"power_max_w", "400"},
                                                    {"overruns", "2"},
                                                    {"estimated", "0"},
                                                    {"host", "node7"},
                                                    {"rank", "4"}};
  EXPECT_EQ(total, expected);
}

TEST(EnergyTable, TakesTheIdlePowerOffTheEnergy) {
  Measurement run = one_gpu();
  run.channels[0].power_idle_w = 90;
  for (const std::size_t index : {0U, 1U}) {
    EXPECT_EQ(row(run, index)["power_idle_w"], "90");
    EXPECT_EQ(row(run, index)["energy_net_wh"], "0.75");
  }
}

TEST(EnergyTable, AnAbsentEnergyIsEmptyWithItsReason) {
  Measurement run = one_gpu();
  run.channels[0].energy_j.reset();
  run.channels[0].absent = "GPU is lost";
  EXPECT_EQ(row(run, 0)["energy_wh"], "");
  EXPECT_EQ(row(run, 0)["absent"], "GPU is lost");
  EXPECT_EQ(row(run, 1)["absent"], "rapl: not here; nvml:0:gpu: GPU is lost");
}

TEST(EnergyTable, OfARecoveryHasNoCountsOfWhatTheMeterMissed) {
  Measurement run = one_gpu();
  run.recovered = "the meter was killed";
  for (const std::size_t index : {0U, 1U}) {
    auto cells = row(run, index);
    EXPECT_EQ(cells["samples_lost"], "");
    EXPECT_EQ(cells["overruns"], "");
    EXPECT_EQ(cells["recovered"], "the meter was killed");
  }
}

json document(const Measurement& run, const Provenance& of) {
  return json::parse(render_json(energy_table(run, of), run, of));
}

TEST(EnergyJson, HoldsTheTable) {
  const json found = document(one_gpu(), provenance());
  ASSERT_EQ(found["channels"].size(), 1U);
  EXPECT_EQ(found["channels"][0]["channel"], "nvml:0:gpu");
  EXPECT_EQ(found["channels"][0]["energy_wh"], 1.0);
  EXPECT_EQ(found["channels"][0]["samples_lost"], 3);
  EXPECT_TRUE(found["channels"][0]["power_idle_w"].is_null());
  EXPECT_EQ(found["total"]["power_max_w"], 400.0);
  EXPECT_EQ(found["quality"], "measured");
}

TEST(EnergyJson, SaysWhatItBelongsTo) {
  const json found = document(one_gpu(), provenance())["provenance"];
  EXPECT_EQ(found, json::parse(R"({"host": "node7", "rank": 4, "program": "./train --name 'a b'",
      "exit_code": 0, "signal": null, "started_unix_s": 1700000000.25, "started_monotonic_s": 12.5,
      "duration_s": 10.0, "interval_s": 0.1, "recovered": null})"));
}

TEST(EnergyJson, AKilledProgramHasASignalAndNoExitCode) {
  Provenance killed = provenance();
  killed.status->signal = 9;
  const json found = document(one_gpu(), killed)["provenance"];
  EXPECT_EQ(found["signal"], 9);
  EXPECT_TRUE(found["exit_code"].is_null());
}

TEST(EnergyJson, OfARecoveryTellsOnlyWhatIsKnown) {
  Measurement run = one_gpu();
  run.recovered = "the meter was killed";
  run.duration_s = 0;
  Provenance unknown;
  unknown.status.reset();
  const json found = document(run, unknown);
  for (const auto& [name, value] : found["provenance"].items())
    EXPECT_EQ(value.is_null(), name != "recovered") << name;
  EXPECT_EQ(found["warnings"][0], "the meter was killed");
}

TEST(EnergyJson, ListsWhatIsNotThereAndWhatToBeware) {
  Measurement run = one_gpu();
  run.warnings = {"bytes that are not UTF-8: \xff"};
  const json found = document(run, provenance());
  EXPECT_EQ(found["absences"], json::parse(R"([{"source": "rapl", "reason": "not here"}])"));
  EXPECT_EQ(found["warnings"][0], "bytes that are not UTF-8: \xEF\xBF\xBD");
}

}  // namespace
}  // namespace bench::energy
