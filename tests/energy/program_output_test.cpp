#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"
#include "support/eventually.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>
#include <bench/energy/program/hdf5.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// The files that the real bench-energy writes and merges.

class ProgramOutputTest : public testing::Test {
 protected:
  CommandOutput run(std::vector<std::string> arguments, const Environment& variables = {}) const {
    arguments.insert(arguments.begin(), BENCH_ENERGY_PROGRAM);
    ProcessSpec spec;
    spec.arguments = std::move(arguments);
    spec.directory = directory_.path();
    return energy::run(spec, variables);
  }

  std::string text(const std::string& name) const { return read_file(directory_.path() / name); }

  std::vector<std::string> files(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path() / folder))
      names.push_back(entry.path().filename());
    return names;
  }

  /// As on a node without HDF5, whatever this one has.
  Environment without_hdf5() const {
    for (const std::string& name : Hdf5Library::names())
      directory_.write(name, "no library");
    return {{"LD_LIBRARY_PATH", directory_.path().string()}};
  }

  TemporaryDirectory directory_;
};

bool has_hdf5() {
  // bench-energy itself is asked: a test process that has loaded the library proves less.
  ProcessSpec spec;
  const TemporaryDirectory directory;
  spec.arguments = {BENCH_ENERGY_PROGRAM, "--out", directory.path().string(),
                    "--format",           "h5",    "--method",
                    "mock:constant=1W",   "--",    "true"};
  return energy::run(spec).status.success();
}

TEST_F(ProgramOutputTest, AProgramThatCannotBeStartedLeavesTheFilesOfAnEarlierRun) {
  const std::vector<std::string> options{
      "--method", "mock:constant=100W", "--regions", "--out", "d", "--"};
  const auto run_with = [&](const std::vector<std::string>& program) {
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.end(), program.begin(), program.end());
    return run(arguments).status.code;
  };
  EXPECT_EQ(run_with({"./nosuch"}), 127);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "d"));
  ASSERT_EQ(run_with({"sh", "-c", "echo begin a >> $BENCH_ENERGY_REGIONS; sleep 0.2"}), 0);
  std::map<std::string, std::string> before;
  for (const std::string& name : files("d"))
    before[name] = text("d/" + name);
  EXPECT_EQ(run_with({"./nosuch"}), 127);
  EXPECT_EQ(run_with({"./d/energy.txt"}), 126);
  EXPECT_EQ(files("d").size(), before.size());
  for (const auto& [name, content] : before)
    EXPECT_EQ(text("d/" + name), content) << name;
}

TEST_F(ProgramOutputTest, WritesTheFormatsThatAreAskedFor) {
  const auto output = run({"--method", "mock:constant=100W", "--out", "d", "--format", "csv,json",
                           "--suffix", "r%q{SLURM_PROCID}_%h", "--", "sleep", "0.05"},
                          {{"SLURM_PROCID", "5"}});
  ASSERT_TRUE(output.status.success()) << output.standard_error;
  const std::string suffix = "r5_" + host_name();
  EXPECT_THAT(files("d"),
              UnorderedElementsAre("power." + suffix + ".csv", "energy." + suffix + ".csv",
                                   "energy." + suffix + ".json", "energy." + suffix + ".txt"));
  EXPECT_THAT(text("d/energy." + suffix + ".json"), HasSubstr("\"program\": \"sleep 0.05\""));
}

TEST_F(ProgramOutputTest, JsonTellsHowTheProgramEnded) {
  run({"--method", "mock:constant=100W", "--out", "d", "--format", "json", "--", "sh", "-c",
       "exit 7"});
  EXPECT_THAT(text("d/energy.json"), HasSubstr("\"exit_code\": 7,"));
}

TEST_F(ProgramOutputTest, AnHdf5FileTakesThePlaceOfTheSamples) {
  if (!has_hdf5())
    GTEST_SKIP() << "no HDF5 library here";
  run({"--method", "mock:constant=100W", "--out", "d", "--format", "h5", "--", "sleep", "0.05"});
  EXPECT_THAT(files("d"), UnorderedElementsAre("energy.h5", "energy.txt"));
  run({"--method", "mock:constant=100W", "--out", "e", "--format", "h5,csv", "--", "sleep",
       "0.05"});
  EXPECT_THAT(files("e"),
              UnorderedElementsAre("energy.h5", "energy.txt", "energy.csv", "power.csv"));
}

TEST_F(ProgramOutputTest, AMissingHdf5IsNoticedBeforeTheProgramStarts) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--out", "d", "--format", "h5"}, {"--df-out", "d"}}) {
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.end(), {"--", "echo", "started"});
    const auto output = run(arguments, without_hdf5());
    EXPECT_EQ(output.status.code, 125);
    EXPECT_EQ(output.standard_output, "");
    EXPECT_THAT(output.standard_error, HasSubstr("no HDF5 library"));
  }
}

TEST_F(ProgramOutputTest, ADirectoryThatCannotBeMadeIsNoticedBeforeTheProgramStarts) {
  const auto output =
      run({"--method", "mock:constant=1W", "--out", "/dev/null/d", "--", "echo", "started"});
  EXPECT_EQ(output.status.code, 125);
  EXPECT_EQ(output.standard_output, "");
  EXPECT_EQ(output.standard_error,
            "bench-energy: error: cannot make files in /dev/null/d: Not a directory\n");
}

TEST_F(ProgramOutputTest, SamplesThatCannotBeWrittenDoNotMatterToTheProgram) {
  std::filesystem::create_directories(directory_.path() / "d/power.csv");
  const auto output =
      run({"--method", "mock:constant=1W", "--out", "d", "--", "sh", "-c", "echo ran; exit 3"});
  EXPECT_EQ(output.status.code, 3);
  EXPECT_EQ(output.standard_output, "ran\n");
  EXPECT_THAT(output.standard_error,
              HasSubstr("bench-energy: warning: cannot write d/power.csv: Is a directory\n"));
  EXPECT_THAT(files("d"), UnorderedElementsAre("power.csv", "energy.csv", "energy.txt"));
}

TEST_F(ProgramOutputTest, TheSecondMeterOfTheSameFilesIsRefused) {
  ProcessSpec first;
  first.arguments = {BENCH_ENERGY_PROGRAM,
                     "--method",
                     "mock:constant=1W",
                     "--out",
                     "d",
                     "--",
                     "sh",
                     "-c",
                     "touch ready; while [ ! -e go ]; do sleep 0.01; done"};
  first.directory = directory_.path();
  Process meter(first);
  ASSERT_TRUE(
      support::eventually([&] { return std::filesystem::exists(directory_.path() / "ready"); }));
  std::filesystem::create_directory_symlink("d", directory_.path() / "link");
  for (const std::string out : {"d", "link", "./d/../d"}) {
    const auto second =
        run({"--method", "mock:constant=1W", "--out", out, "--", "touch", "started"});
    EXPECT_EQ(second.status.code, 125);
    EXPECT_THAT(second.standard_error,
                testing::StartsWith("bench-energy: error: another meter writes " + out +
                                    "/power.csv\nhint: "));
  }
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "started"));
  const auto beside =
      run({"--method", "mock:constant=1W", "--out", "d", "--suffix", "b", "--", "true"});
  EXPECT_EQ(beside.status.code, 0) << beside.standard_error;
  std::ofstream(directory_.path() / "go") << "\n";
  EXPECT_EQ(meter.wait().code, 0);
  EXPECT_EQ(run({"--method", "mock:constant=1W", "--out", "d", "--", "true"}).status.code, 0);
}

TEST_F(ProgramOutputTest, ControlCharactersInMessagesDoNothing) {
  const auto option = run({"--me\x1b[31mthod", "--", "true"});
  EXPECT_THAT(option.standard_error, HasSubstr("unknown option '--me^[[31mthod'"));
  const auto program = run({"--method", "mock:constant=1W", "--", "no\x1b]0;such\x07"});
  EXPECT_THAT(program.standard_error, HasSubstr("cannot run 'no^[]0;such^G'"));
  EXPECT_EQ(program.standard_error.find('\x1b'), std::string::npos);
}

TEST_F(ProgramOutputTest, ThatCannotBePrintedIsAnError) {
  for (const std::string arguments : {"--list", "--help", "combine --help"}) {
    ProcessSpec spec;
    spec.arguments = {"sh", "-c", BENCH_ENERGY_PROGRAM + (" " + arguments) + " > /dev/full"};
    const CommandOutput output = energy::run(spec);
    EXPECT_EQ(output.status.code, 125) << arguments;
    EXPECT_THAT(output.standard_error, HasSubstr("No space left on device"));
  }
}

TEST_F(ProgramOutputTest, AMissingHdf5MattersToNobodyElse) {
  const auto output =
      run({"--method", "mock:constant=1W", "--", "echo", "started"}, without_hdf5());
  EXPECT_EQ(output.standard_output, "started\n");
}

TEST_F(ProgramOutputTest, ResultsOfAnEarlierRunDoNotStandBesideOtherSamples) {
  const std::vector<std::string> options{"--method", "mock:constant=1W", "--out", "d"};
  std::vector<std::string> killed = options;
  killed.insert(killed.end(), {"--", "sh", "-c", "sleep 0.7; kill -KILL $PPID"});
  std::vector<std::string> earlier = options;
  earlier.insert(earlier.end(), {"--format", "csv,json", "--regions", "--", "true"});
  run(earlier);
  EXPECT_THAT(files("d"), testing::IsSupersetOf({"energy.csv", "energy.json", "energy.txt"}));
  run(killed);
  EXPECT_THAT(files("d"), UnorderedElementsAre("power.csv", "regions.log", "unfinished.jsonl"));
}

TEST_F(ProgramOutputTest, TakesJpwrsCommandLineAndWritesItsFiles) {
  const auto output =
      run({"--methods", "pynvml", "--interval", "10", "--df-out", "d", "--df-filetype", "csv",
           "--df-suffix", "%q{SLURM_PROCID}", "sh", "-c", "sleep 0.3; exit 3"},
          {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
           {"FAKE_NVML_DEVICES", "2"},
           {"SLURM_PROCID", "0"}});
  EXPECT_EQ(output.status.code, 3);
  EXPECT_THAT(files("d"),
              UnorderedElementsAre("power.0.csv", "energy.0.csv", "energy_from_counter.0.csv"));
  const auto power = csv_cells(text("d/power.0.csv"));
  ASSERT_GE(power.size(), 3U);
  EXPECT_THAT(power[0], ElementsAre("", "timestamps", "pynvml:0", "pynvml:1"));
  EXPECT_THAT(power[2], ElementsAre("1", testing::_, "250.0", "250.0"));
  EXPECT_GT(std::stod(power[2][1]), std::stod(power[1][1]));
  EXPECT_GT(std::stod(power[1][1]), 1.6e9);  // Unix seconds
  const auto energy = csv_cells(text("d/energy.0.csv"));
  ASSERT_EQ(energy.size(), 3U);
  EXPECT_THAT(energy[0], ElementsAre("", "0"));
  EXPECT_EQ(energy[2][0], "pynvml:1");
  const double wh_of_0_3_s = 250 * 0.3 / 3600;
  EXPECT_GE(std::stod(energy[2][1]), wh_of_0_3_s);
  const auto counter = csv_cells(text("d/energy_from_counter.0.csv"));
  ASSERT_EQ(counter.size(), 2U);
  EXPECT_THAT(counter[0], ElementsAre("", "pynvml:0", "pynvml:1"));
  EXPECT_EQ(counter[1][0], "0");
  EXPECT_GE(std::stod(counter[1][1]), 0.9 * wh_of_0_3_s);
}

TEST_F(ProgramOutputTest, HasAColumnOfJpwrsForEveryIpu) {
  const auto output = run({"--methods", "gc", "--df-out", "d", "--df-filetype", "csv",
                           "--df-suffix", "%q{SLURM_PROCID}", "sleep", "0.3"},
                          {{"PYTHONPATH", FAKE_MODULE_DIRECTORY},
                           {"PYTHONDONTWRITEBYTECODE", "1"},
                           {"SLURM_PROCID", "0"}});
  EXPECT_THAT(csv_cells(text("d/power.0.csv")).at(0),
              ElementsAre("", "timestamps", "gc:0", "gc:1", "gc:2", "gc:3"));
  const auto energy = csv_cells(text("d/energy.0.csv"));
  ASSERT_EQ(energy.size(), 5U) << output.standard_error;
  EXPECT_NEAR(std::stod(energy[4][1]) / std::stod(energy[1][1]), 1.3, 0.001);  // 130 W and 100 W
}

TEST_F(ProgramOutputTest, AddsUpWhatJpwrsColumnsOfAmdGpusTell) {
  for (const char* address : {"0000:c1:00.0", "0000:c2:00.0", "0000:c3:00.0", "0000:c4:00.0"})
    directory_.write(std::string("sys/bus/pci/devices/") + address + "/device", "0x740c");
  const auto output = run({"--methods", "rocm", "--sysfs-root", "sys", "--df-out", "d",
                           "--df-filetype", "csv", "sh", "-c", "sleep 0.3"},
                          {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                           {"FAKE_AMDSMI_DEVICES", "4"},
                           {"FAKE_AMDSMI_DIES", "2"}});
  std::string energy;
  for (const std::string& name : files("d"))
    if (name.starts_with("energy."))
      energy = "d/" + name;
  ASSERT_NE(energy, "") << output.standard_error;
  const auto combined = run({"combine", energy});
  ASSERT_TRUE(combined.status.success()) << combined.standard_error;
  EXPECT_EQ(combined.standard_output, "Writing combined energy DataFrame to combined_energy.csv\n");
  const auto rows = csv_cells(text("combined_energy.csv"));
  EXPECT_THAT(rows.at(0), ElementsAre("", "nodename", "rank", "rocm:0", "rocm:2", "total_wh"));
  EXPECT_NEAR(std::stod(rows.at(1)[5]), 2 * std::stod(rows[1][3]), 0.01 * std::stod(rows[1][5]));
}

TEST_F(ProgramOutputTest, NamesJpwrsFilesByHostAndProcess) {
  run({"--methods", "mock:constant=5W", "--df-out", "d", "--df-filetype", "csv", "true"});
  for (const std::string& name : files("d"))
    EXPECT_THAT(name, HasSubstr("." + host_name() + "."));
}

TEST_F(ProgramOutputTest, NamesMetersByTheLabelsThatTheyHave) {
  directory_.write("sys/class/hwmon/hwmon0/name", "power_meter");
  directory_.write("sys/class/hwmon/hwmon0/device/power1_average", "200000000");
  directory_.write("sys/class/hwmon/hwmon0/device/power1_oem_info", "Module Power Socket 0");
  run({"--methods", "gh", "--sysfs-root", "sys", "--df-out", "d", "--df-filetype", "csv",
       "--df-suffix", "%q{HOME_}x", "true"},
      {{"HOME_", ""}});
  EXPECT_THAT(text("d/power.x.csv"), HasSubstr(",timestamps,gh:Module Power Socket 0\n"));
}

TEST_F(ProgramOutputTest, AMissingFileIsNamedAndNothingIsWritten) {
  const auto output = run({"combine", "missing.csv", "--output", "all.csv"});
  EXPECT_EQ(output.status.code, 125);
  EXPECT_EQ(output.standard_error,
            "bench-energy: error: cannot read missing.csv: No such file or directory\n");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "all.csv"));
}

// The real bench-energy where the file of its samples does not come: a pipe that nobody reads.

/// A meter in the background, whose program ends by 5 when it gets SIGUSR1; then `script`, where $m
/// is the meter, and its exit code.
CommandOutput run_beside(const std::filesystem::path& directory, const std::string& script) {
  EXPECT_EQ(::mkfifo((directory / "power.csv").c_str(), 0600), 0);
  const std::string program =
      R"(trap "" TERM; trap "echo got it; exit 5" USR1; touch started; while :; do sleep 0.02; done)";
  ProcessSpec spec;
  spec.directory = directory;
  spec.arguments = {"sh", "-c",
                    std::string(BENCH_ENERGY_PROGRAM) +
                        " --method mock:constant=100W --interval 10ms --out . -- sh -c '" +
                        program + "' & m=$!; while [ ! -e started ]; do sleep 0.02; done; " +
                        "kill -USR1 $m; " + script + "; wait $m; echo $?"};
  return run(spec);
}

TEST(EnergyFiles, ThatHangDoNotHoldUpSignals) {
  const TemporaryDirectory directory;
  // The reader comes later than the signal.
  const CommandOutput output = run_beside(directory.path(), "sleep 0.5; cat power.csv > samples");
  EXPECT_EQ(output.standard_output, "got it\n5\n");
  EXPECT_THAT(read_file(directory.path() / "energy.txt"), HasSubstr("energy_quality=measured"));
}

TEST(EnergyFiles, ThatHangAtTheEndAreGivenUpForASignal) {
  const TemporaryDirectory directory;
  const CommandOutput output =
      run_beside(directory.path(), "while kill -TERM $m; do sleep 0.1; done 2>/dev/null");
  EXPECT_EQ(output.standard_output, "got it\n5\n");
  EXPECT_THAT(output.standard_error, HasSubstr("energy_quality="));
}

}  // namespace
}  // namespace bench::energy
