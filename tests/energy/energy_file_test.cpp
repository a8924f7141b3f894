#include "energy/fixtures.hpp"
#include "support/deep_json.hpp"
#include "support/error_of.hpp"

#include <string>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_file.hpp>
#include <bench/energy/program/energy_table.hpp>

namespace bench::energy {
namespace {

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
