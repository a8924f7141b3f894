#include "energy/fixtures.hpp"
#include "support/deep_json.hpp"
#include "support/error_of.hpp"

#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bench/base/text.hpp>
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

class EnergyFileTest : public testing::Test {
 protected:
  EnergyFile read(const std::string& name, const std::string& text) {
    directory_.write(name, text);
    return read_energy_file(directory_.path() / name);
  }

  TemporaryDirectory directory_;
};

Measurement two_gpus() {
  Measurement run;
  run.duration_s = 10;
  run.channels.resize(2);
  run.channels[0].channel.name = "nvml:1:module";
  run.channels[0].channel.scope = Scope::gpu_module;
  run.channels[0].channel.device = 1;
  run.channels[0].channel.device_id = "GPU-7";
  run.channels[0].channel.description = "a, \"b\"";
  run.channels[0].energy_j = 1800;
  run.channels[1].channel.name = "rapl:package-0";
  run.channels[1].channel.scope = Scope::package;
  run.channels[1].channel.shared = true;
  return run;
}

Provenance rank_4() {
  Provenance of;
  of.host = "node7";
  of.rank = 4;
  return of;
}

void expect_measurement(const EnergyFile& found) {
  EXPECT_EQ(found.node, "node7");
  EXPECT_EQ(found.rank, 4);
  ASSERT_EQ(found.channels.size(), 2U);  // without the total
  EXPECT_EQ(found.channels[0].channel.name, "nvml:1:module");
  EXPECT_EQ(found.channels[0].channel.scope, Scope::gpu_module);
  EXPECT_EQ(found.channels[0].channel.device, 1);
  EXPECT_EQ(found.channels[0].channel.device_id, "GPU-7");
  EXPECT_EQ(found.channels[0].energy_wh, 0.5);
  EXPECT_EQ(found.channels[1].channel.device, -1);
  EXPECT_FALSE(found.channels[1].energy_wh);
  EXPECT_FALSE(found.channels[0].channel.shared);
  EXPECT_TRUE(found.channels[1].channel.shared);
}

TEST_F(EnergyFileTest, ReadsWhatThisProgramWrites) {
  const EnergyTable table = energy_table(two_gpus(), rank_4());
  expect_measurement(read("energy.csv", render_csv(table)));
  expect_measurement(read("energy.json", render_json(table, two_gpus(), rank_4())));
}

TEST_F(EnergyFileTest, ReadsCaramlsLines) {
  const EnergyFile found = read("GH200_power.3.energy.csv",
                                ",0\npynvml:0,0.25\ngh:Module Power Socket 0,\n"
                                "nodename,jrc0042\nrank,3");
  EXPECT_EQ(found.node, "jrc0042");
  EXPECT_EQ(found.rank, 3);
  ASSERT_EQ(found.channels.size(), 2U);
  EXPECT_EQ(found.channels[0].channel.scope, Scope::gpu);
  EXPECT_EQ(found.channels[0].energy_wh, 0.25);
  EXPECT_EQ(found.channels[1].channel.scope, Scope::module);
  EXPECT_FALSE(found.channels[1].energy_wh);
}

TEST_F(EnergyFileTest, TakesTheNodeOfAPlainFileOfJpwrFromItsName) {
  const EnergyFile found = read("energy.jrc0042.12345.csv", ",0\nrocm:0,0.25");
  EXPECT_EQ(found.node, "jrc0042");
  EXPECT_FALSE(found.rank);
}

struct BadFileCase {
  std::string name;
  std::string file;
  std::string text;
  std::string message;  ///< DIR stands for the directory.
};
class EnergyFileMistakeTest : public EnergyFileTest,
                              public testing::WithParamInterface<BadFileCase> {};

TEST_P(EnergyFileMistakeTest, IsAnError) {
  const std::string message = message_of([&] { read(GetParam().file, GetParam().text); });
  EXPECT_EQ(replace_all(message, directory_.path().string(), "DIR"), GetParam().message);
}

constexpr const char* own_header = "channel,energy_wh,scope,device,device_id,host,rank\n";

INSTANTIATE_TEST_SUITE_P(
    Energy, EnergyFileMistakeTest,
    testing::Values(
        BadFileCase{"Power", "power.csv", "time_s,unix_time_s\n1,2",
                    "DIR/power.csv is not an energy file"},
        BadFileCase{"Empty", "empty.csv", "", "DIR/empty.csv is not an energy file"},
        BadFileCase{"Hdf5", "energy.h5", "\x89HDF\r\n\x1a\n,\"a\"b",
                    "DIR/energy.h5 is an HDF5 file"},
        BadFileCase{"Quotes", "e.csv", "a \"b\" c\n\"d\"e,f", "DIR/e.csv is not an energy file"},
        BadFileCase{"OtherJson", "e.json", "{\"channels\": 1}", "DIR/e.json is not an energy file"},
        BadFileCase{"NoJson", "e.json", "{\"channels\": [", "DIR/e.json is not an energy file"},
        BadFileCase{"JsonOfAnOlderProgram", "e.json",
                    R"({"channels": [], "total": {"channel": "total", "energy_wh": 1}})",
                    "it has no column scope"},
        BadFileCase{"JsonWithoutANumber", "e.json",
                    R"({"channels": [{"channel": "a", "energy_wh": "much"}],
                        "total": {"channel": "total", "energy_wh": 1, "scope": null, "device": null,
                                  "device_id": null, "host": "n", "rank": null}})",
                    "'much' is not a number"},
        BadFileCase{"Joules", "energy.csv", "channel,energy_j,host\na,1,b",
                    "its energies are in j, not in Wh"},
        BadFileCase{"OlderProgram", "energy.csv", "channel,energy_wh\na,1",
                    "it has no column scope"},
        BadFileCase{"AnyDepth", "energy.json",
                    R"({"channels": )" + support::deep_json() + R"(, "total": []})",
                    "it has no column channel"},
        BadFileCase{"NoNumber", "energy.csv", std::string(own_header) + "a,much,gpu,0,,n,0",
                    "'much' is not a number"},
        BadFileCase{"NoHost", "energy.csv", std::string(own_header) + "a,1,gpu,0,,,0",
                    "it does not name its host"},
        BadFileCase{"NoNumberOfJpwr", "energy.n.1.csv", ",0\npynvml:0,much",
                    "'much' is not a number"},
        BadFileCase{"NoRankOfCaraml", "e.csv", ",0\nnodename,n\nrank,first",
                    "'first' is not a number"},
        BadFileCase{"RankInTheName", "energy.3.csv", ",0\npynvml:0,1",
                    "DIR/energy.3.csv does not name its node"},
        // The suffix may be another one for each rank, which would make many nodes of one.
        BadFileCase{"SuffixInTheName", "energy.r0.node7.1234.csv", ",0\npynvml:0,1",
                    "DIR/energy.r0.node7.1234.csv does not name its node"}),
    [](const auto& test) { return test.param.name; });

TEST_F(EnergyFileTest, AMistakeHasItsPlace) {
  EXPECT_EQ(support::fault_of([&] {
              read("energy.csv", std::string(own_header) + "a,1,gpu,0,,n,0\nb,much,gpu,1,,n,0");
            }),
            (directory_.path() / "energy.csv").string() + ":3: unusable-file");
}

TEST_F(EnergyFileTest, AFormatThatIsNotReadHasAHint) {
  EXPECT_EQ(message_and_hint_of([&] { read("energy.h5", "\x89HDF\r\n\x1a\n"); }),
            (directory_.path() / "energy.h5").string() +
                " is an HDF5 file | combine reads our energy.csv, energy.json and energy.txt, and "
                "jpwr's energy as csv: measure with --format csv,h5, or --df-filetype csv");
}

}  // namespace
}  // namespace bench::energy
