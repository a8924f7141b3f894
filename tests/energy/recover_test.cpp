#include "energy/fixtures.hpp"
#include "energy/hdf5_fixture.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/recover.hpp>
#include <bench/energy/program/report.hpp>
#include <bench/energy/program/run_record.hpp>

namespace bench::energy {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr const char* killed_early = "the meter was killed before the first sample";

/// A record of a run with these channels, all added up.
RecordedRun recorded(const std::vector<std::string>& names) {
  RecordedRun run;
  run.start.emplace();
  run.start->provenance.host = "node7";
  run.start->provenance.interval_s = 1;
  run.start->provenance.started_monotonic_s = 100;
  run.start->regions = true;
  for (const std::string& name : names) {
    run.channels.emplace_back().channel.name = name;
    run.channels.back().channel.additive = true;
  }
  return run;
}

class RecoveredRunTest : public testing::Test {
 protected:
  /// @param text a power log
  RecoveredRun recover(const std::string& text, const std::optional<RecordedRun>& record,
                       const std::string& region_log = "") const {
    std::ofstream(file()) << text;
    return recover_run(file(), record, region_log);
  }
  std::filesystem::path file() const { return directory_.path() / "power.csv"; }

 private:
  TemporaryDirectory directory_;
};

struct RecoveredCase {
  std::string name;
  std::string log;
  RecordedRun record;
  double duration_s;
  std::vector<std::optional<double>> energies_j;
  std::optional<double> total_j;
  std::optional<double> total_max_w;
};

RecordedRun with_counter(RecordedRun run, std::vector<RecordedCounter> readings) {
  run.counters[run.channels[0].channel.name] = std::move(readings);
  return run;
}

RecordedRun counter_only(RecordedRun run) {
  run.channels[0].channel.counter_only = true;
  return run;
}

RecordedRun slow_second(RecordedRun run) {
  run.channels[1].slow = true;
  return run;
}

RecordedRun of_jpwr(RecordedRun run) {
  run.start->layout = PowerLayout::jpwr;
  run.start->provenance.started_unix_s = 1000;
  return run;
}

class RecoveredEnergyTest : public RecoveredRunTest,
                            public testing::WithParamInterface<RecoveredCase> {};

TEST_P(RecoveredEnergyTest, IsThatUpToTheLastSample) {
  const Measurement run = recover(GetParam().log, GetParam().record).measurement;
  EXPECT_NEAR(run.duration_s, GetParam().duration_s, 1e-9);
  std::vector<std::optional<double>> energies_j;
  for (const ChannelEnergy& channel : run.channels)
    energies_j.push_back(channel.energy_j);
  EXPECT_EQ(energies_j, GetParam().energies_j);
  EXPECT_EQ(total_of(run).energy_j, GetParam().total_j);
  EXPECT_EQ(run.total_power.max_w, GetParam().total_max_w);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, RecoveredEnergyTest,
    testing::Values(
        RecoveredCase{"OneChannel",
                      "time_s,unix_time_s,a_w\n0,9,100\n1,10,100\n3,12,200\n",
                      recorded({"a"}),
                      3,
                      {400},
                      400,
                      200},
        RecoveredCase{"ALineThatWasCutOff",
                      "time_s,unix_time_s,a_w\n0,9,100\n1,10,100\n3,12,2",
                      recorded({"a"}),
                      1,
                      {100},
                      100,
                      100},
        RecoveredCase{"RowsThatWereTorn",
                      std::string("time_s,unix_time_s,a_w\n0,9,100\n\0\0.5,9.5,7\n0.6,\0,7\n", 50) +
                          "2,11,100\n1,10,7\n3,12,100\n",
                      recorded({"a"}),
                      3,
                      {300},
                      300,
                      100},
        RecoveredCase{"TimesThatNoRunHas",
                      "time_s,unix_time_s,a_w\n0,9,100\n1e300,10,7\n1,1e300,7\n1.5,inf,7\n"
                      "inf,11,7\n2,11,100\n",
                      recorded({"a"}),
                      2,
                      {200},
                      200,
                      100},
        RecoveredCase{"SeveralChannels",
                      "time_s,unix_time_s,a_w,b_w\n0,9,100,1\n2,11,100,3\n",
                      recorded({"a", "b"}),
                      2,
                      {200, 4},
                      204,
                      103},
        // As the meter does: the first sample stands for what was before it.
        RecoveredCase{"AChannelThatCameLate",
                      "time_s,unix_time_s,a_w,b_w\n0,9,1,\n1,10,1,\n2,11,1,5\n3,12,1,5\n",
                      recorded({"a", "b"}),
                      3,
                      {3, 15},
                      18,
                      6},
        RecoveredCase{"AChannelThatCameAfterTheLastSample",
                      "time_s,unix_time_s,a_w\n0,9,1\n1,10,1\n",
                      recorded({"a", "b"}),
                      1,
                      {1, std::nullopt},
                      std::nullopt,
                      std::nullopt},
        RecoveredCase{
            "ASlowSource",
            "time_s,unix_time_s,a_w,b_w\n0,9,1,10\n1,10,5,\n2,11,1,\n3,12,1,10\n4,13,1,\n",
            slow_second(recorded({"a", "b"})),
            4,
            {8, 40},
            48,
            15},
        RecoveredCase{"ADeviceThatWasLost",
                      "time_s,unix_time_s,a_w\n0,9,100\n1,10,100\n2,11,\n3,12,\n4,13,\n5,14,\n",
                      recorded({"a"}),
                      5,
                      {std::nullopt},
                      std::nullopt,
                      100},
        RecoveredCase{"ASlopeOfACounter",
                      "time_s,unix_time_s,a_w\n0,9,\n1,10,100\n3,12,200\n",
                      counter_only(recorded({"a"})),
                      3,
                      {500},
                      500,
                      200},
        RecoveredCase{"ACounterBesideThePower",
                      "time_s,unix_time_s,a_w\n0,9,100\n1,10,100\n2,11,100\n",
                      with_counter(recorded({"a"}), {{0, 1000}, {1, 1110}}),
                      2,
                      {220},
                      220,
                      100},
        RecoveredCase{"OneReadingOfACounter",
                      "time_s,unix_time_s,a_w\n0,9,100\n1,10,100\n",
                      with_counter(recorded({"a"}), {{0, 1000}}),
                      1,
                      {100},
                      100,
                      100},
        RecoveredCase{"TheLayoutOfJpwr",
                      ",timestamps,pynvml:0\n0,1001.0,100.0\n1,1003.0,100.0\n",
                      of_jpwr(recorded({"nvml:0:gpu"})),
                      3,
                      {300},
                      300,
                      100},
        RecoveredCase{
            "NoSample", "", recorded({"a"}), 0, {std::nullopt}, std::nullopt, std::nullopt},
        RecoveredCase{"OnlyAHeader",
                      "time_s,unix_ti",
                      recorded({"a"}),
                      0,
                      {std::nullopt},
                      std::nullopt,
                      std::nullopt}),
    [](const auto& test) { return test.param.name; });

TEST_F(RecoveredRunTest, SaysWhatItIs) {
  const RecoveredRun run =
      recover("time_s,unix_time_s,a_w\n0.5,9.5,100\n1,10,100\n2,11,100\n", recorded({"a"}));
  EXPECT_EQ(run.measurement.recovered,
            "the meter was killed: figures end with its last sample, 2 s after the start, and how "
            "the program ended is not known");
  EXPECT_EQ(total_of(run.measurement).quality, "recovered");
  EXPECT_EQ(run.rows, 3U);
  EXPECT_EQ(run.provenance.host, "node7");
  EXPECT_EQ(run.provenance.started_unix_s, 9);
  EXPECT_FALSE(run.provenance.status);
  EXPECT_EQ(run.measurement.channels[0].samples, 3U);
  EXPECT_FALSE(run.measurement.channels[0].jitter_std_s);
  EXPECT_FALSE(run.measurement.channels[0].jitter_p99_s);
}

struct ReasonCase {
  std::string name;
  std::string log;
  std::optional<RecordedRun> record;
  std::string absent;
};
class RecoveredReasonTest : public RecoveredRunTest,
                            public testing::WithParamInterface<ReasonCase> {};

TEST_P(RecoveredReasonTest, StandsWhereThereIsNoTotal) {
  EXPECT_EQ(total_of(recover(GetParam().log, GetParam().record).measurement).absent,
            GetParam().absent);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, RecoveredReasonTest,
    testing::Values(
        ReasonCase{"NoSample", "", recorded({"a"}), std::string("a: ") + killed_early},
        ReasonCase{"NeitherSampleNorChannel", "", recorded({}),
                   std::string("power.csv: ") + killed_early},
        ReasonCase{"ADeviceThatWasLost",
                   "time_s,unix_time_s,a_w\n0,9,100\n1,10,100\n2,11,\n3,12,\n4,13,\n5,14,\n",
                   recorded({"a"}), "a: failed after 1 s of 5 s: it has no sample after that"},
        ReasonCase{"NoRecord", "time_s,unix_time_s,a_w\n0,9,100\n1,10,100\n", std::nullopt,
                   "unfinished.jsonl: it is missing or cut off, and it says which channels count "
                   "towards the total; no available channel counts towards the total"}),
    [](const auto& test) { return test.param.name; });

TEST_F(RecoveredRunTest, WithoutARecordChannelsHaveTheirEnergies) {
  const RecoveredRun run =
      recover("time_s,unix_time_s,nvml:0:gpu_w\n0,9,100\n2,11,100\n", std::nullopt);
  ASSERT_EQ(run.measurement.channels.size(), 1U);
  EXPECT_EQ(run.measurement.channels[0].channel.name, "nvml:0:gpu");
  EXPECT_EQ(run.measurement.channels[0].energy_j, 200);
  EXPECT_EQ(run.provenance.started_unix_s, 9);
}

TEST_F(RecoveredRunTest, KnowsTheIdlePowerAndWhatWasAbsent) {
  RecordedRun record = recorded({"a"});
  record.start->idle_w = {{"a", 40}};
  record.start->absences = {{"nvml", "no library"}};
  const Measurement run =
      recover("time_s,unix_time_s,a_w\n0,9,100\n1,10,100\n", record).measurement;
  EXPECT_EQ(run.channels[0].power_idle_w, 40);
  EXPECT_EQ(run.absences.at(0).reason, "no library");
}

TEST_F(RecoveredRunTest, CutsRegionsAtTheTimesOfTheirMarks) {
  RecordedRun record = recorded({"a"});
  record.mark_times_s = {1, 2};
  const Measurement run =
      recover("time_s,unix_time_s,a_w\n0,9,10\n2,11,10\n4,13,10\n", record,
              "begin warm\nbegin@100500000000 told\nend@101500000000 told\nend warm\nnonsense\n"
              "begin@103000000000 open\nend@105000000000 open\nbegin after\n")
          .measurement;
  ASSERT_EQ(run.regions.size(), 3U);
  EXPECT_EQ(run.regions[0].name, "warm");
  EXPECT_EQ(run.regions[1].name, "told");
  EXPECT_EQ(run.regions[2].name, "open");
  std::vector<double> energies_j;
  for (const RegionEnergy& region : run.channels[0].regions)
    energies_j.push_back(region.energy_j.value_or(-1));
  EXPECT_THAT(energies_j, ElementsAre(10, 10, 10));
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("nonsense"), HasSubstr("still open at the end")));
}

TEST_F(RecoveredRunTest, TakesNoMarksThatTheMeterWasNotAskedToTake) {
  RecordedRun record = recorded({"a"});
  record.start->regions = false;
  EXPECT_THAT(recover("time_s,unix_time_s,a_w\n0,9,10\n4,13,10\n", record,
                      "begin@100500000000 of an earlier run\n")
                  .measurement.regions,
              IsEmpty());
}

TEST_F(RecoveredRunTest, RefusesAnotherFile) {
  for (const char* text : {"a,b\n1,2\n", "a\n1\n", "\n\n", "\r\n1\r\n", "time_s\n1\n"}) {
    SCOPED_TRACE(text);
    try {
      recover(text, std::nullopt);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "the columns are not those of samples");
      EXPECT_EQ(error.place(), (Place{.file = file().string(), .line = 1}));
      EXPECT_NE(error.hint(), "");
    }
  }
}

constexpr const char* samples = "time_s,unix_time_s,a_w\n0,9,100\n2,11,100\n";

/// The same, with times of today.
std::string samples_since(double unix_time_s) {
  return "time_s,unix_time_s,a_w\n0," + std::to_string(unix_time_s) + ",100\n2," +
         std::to_string(unix_time_s + 2) + ",100\n";
}

class RecoverTest : public testing::Test {
 protected:
  std::filesystem::path directory() const { return directory_.path(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory() / name) << text;
  }

  /// What a meter on this node that was killed leaves behind.
  void write_record(const std::string& name, const std::set<Format>& formats = {Format::csv},
                    const std::string& host = host_name()) const {
    RunRecord record(directory() / name);
    add_to(record, formats, host);
  }

  void add_to(RunRecord& record, const std::set<Format>& formats = {Format::csv},
              const std::string& host = host_name()) const {
    Channel channel;
    channel.name = "a";
    channel.additive = true;
    RunStart start{.provenance = {}, .formats = formats};
    start.provenance.host = host;
    record.add_start(start);
    record.add_channels({channel}, {false});
    record.open();
  }

  std::vector<RecoveredFiles> recover() const { return recover_directory(options()).made; }
  RecoverOptions options() const { return {.directory = directory(), .suffix = {}, .formats = {}}; }

  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory()))
      found.insert(entry.path().filename());
    return found;
  }

  /// Every file with what it holds.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> found;
    for (const std::string& name : names())
      found[name] = read_file(directory() / name);
    return found;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(RecoverTest, MakesTheFilesThatTheMeterWasAskedFor) {
  write("power.csv", samples);
  write_record("unfinished.jsonl", {Format::json});
  const auto made = recover();
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].line,
            "recovered " + (directory() / "power.csv").string() + ": 2 rows of samples");
  EXPECT_THAT(names(),
              UnorderedElementsAre("power.csv", "unfinished.jsonl", "energy.txt", "energy.json"));
  const std::string text = read_file(directory() / "energy.txt");
  EXPECT_THAT(text, HasSubstr("energy_wh=0.05555556\n"));
  EXPECT_THAT(text, HasSubstr("energy_quality=recovered\n"));
}

TEST_F(RecoverTest, WithoutARecordMakesATable) {
  write("power.csv", samples);
  recover();
  EXPECT_THAT(names(), UnorderedElementsAre("power.csv", "energy.txt", "energy.csv"));
  EXPECT_THAT(read_file(directory() / "energy.txt"), HasSubstr("energy_quality=none\n"));
}

TEST_F(RecoverTest, MakesOtherFormatsIfToldTo) {
  write("power.csv", samples);
  write_record("unfinished.jsonl", {Format::json});
  RecoverOptions csv = options();
  csv.formats = {Format::csv};
  recover_directory(csv);
  EXPECT_EQ(names().count("energy.csv"), 1U);
  EXPECT_EQ(names().count("energy.json"), 0U);
}

TEST_F(RecoverTest, ChangesNothingThatIsThere) {
  write("power.csv", std::string(samples) + "3,12,1");
  write_record("unfinished.jsonl");
  const auto before = contents();
  recover();
  auto after = contents();
  for (const auto& [name, text] : before)
    EXPECT_EQ(after.at(name), text) << name;
  EXPECT_THROW(recover(), Error);
  EXPECT_EQ(contents(), after);
}

TEST_F(RecoverTest, MakesTheSameOnceMore) {
  write("power.csv", samples);
  write_record("unfinished.jsonl", {Format::csv, Format::json});
  recover();
  const auto first = contents();
  for (const char* name : {"energy.txt", "energy.csv", "energy.json"})
    std::filesystem::remove(directory() / name);
  recover();
  EXPECT_EQ(contents(), first);
}

TEST_F(RecoverTest, TakesEveryRunThatHasNoResults) {
  for (const char* suffix : {".rank0", ".rank1", ".n.rank2", ""}) {
    write(std::string("power") + suffix + ".csv", samples);
    write_record(std::string("unfinished") + suffix + ".jsonl");
  }
  write("energy.rank1.txt", "energy_wh=1\n");
  write("powerless.csv", "other");
  EXPECT_EQ(recover().size(), 3U);
  EXPECT_EQ(read_file(directory() / "energy.rank1.txt"), "energy_wh=1\n");
  EXPECT_EQ(names().count("energy.n.rank2.csv") + names().count("energy.rank0.csv") +
                names().count("energy.csv"),
            3U);
  EXPECT_EQ(names().count("energy.rank1.csv"), 0U);
}

TEST_F(RecoverTest, TakesTheRunThatIsNamed) {
  for (const char* suffix : {"rank0", "rank1"})
    write(std::string("power.") + suffix + ".csv", samples);
  RecoverOptions one = options();
  one.suffix = "rank1";
  recover_directory(one);
  EXPECT_EQ(names().count("energy.rank1.txt"), 1U);
  EXPECT_EQ(names().count("energy.rank0.txt"), 0U);
}

TEST_F(RecoverTest, AnEmptyLogHasAReason) {
  write("power.csv", "");
  write_record("unfinished.jsonl", {Format::h5});  // which would hold samples
  recover();
  EXPECT_THAT(names(),
              UnorderedElementsAre("power.csv", "unfinished.jsonl", "energy.txt", "energy.csv"));
  EXPECT_EQ(read_file(directory() / "energy.txt"),
            "energy_source=a\nenergy_quality=none\n"
            "energy_recovered=the meter was killed before the first sample\n"
            "energy_absent=a: the meter was killed before the first sample\n");
}

TEST_F(RecoverTest, OneThatCannotBeUsedIsToldAndTheOthersAreMade) {
  write("power.a.csv", samples);
  write("power.b.csv", "");
  write("power.model.csv", "watts,hours\n1,2\n");  // of a program
  const RecoveredDirectory recovery = recover_directory(options());
  EXPECT_EQ(recovery.made.size(), 1U);
  EXPECT_EQ(names().count("energy.a.txt"), 1U);
  ASSERT_EQ(recovery.failures.size(), 1U);
  EXPECT_THAT(recovery.failures[0].message(), HasSubstr("power.b.csv is empty"));
}

TEST_F(RecoverTest, ALivingMeterIsLeftAlone) {
  write("power.rank1.csv", samples);
  RunRecord living(directory() / "unfinished.rank1.jsonl");
  add_to(living);
  const auto before = contents();
  EXPECT_EQ(message_and_hint_of([&] { recover(); }),
            "a meter still writes " + (directory() / "power.rank1.csv").string() + " (process " +
                std::to_string(::getpid()) + " on " + host_name() +
                ") | wait for its end, when it writes the results itself");
  EXPECT_EQ(contents(), before);
}

TEST_F(RecoverTest, AMeterOnAnotherNodeMayBeAliveAsLongAsItsSamplesAreYoung) {
  const double now_s = unix_time_now();
  write("power.csv", samples_since(now_s - 12));
  write_record("unfinished.jsonl", {Format::csv}, "another-node");
  EXPECT_THAT(message_and_hint_of([&] { recover(); }),
              AllOf(HasSubstr(" s old, and its meter (process "),
                    EndsWith(" | try again when it is older than 60 s")));
  EXPECT_EQ(names().size(), 2U);
  write("power.csv", samples_since(now_s - 72));
  EXPECT_EQ(recover().size(), 1U);
}

struct RefusalCase {
  std::string name;
  std::vector<std::pair<std::string, std::string>> files;
  std::string suffix;
  std::string message;  ///< `DIR` is the directory.
};
class RecoverRefusalTest : public RecoverTest, public testing::WithParamInterface<RefusalCase> {};

TEST_P(RecoverRefusalTest, HasAReasonAndAHintAndWritesNothing) {
  for (const auto& [name, text] : GetParam().files)
    write(name, text);
  const auto before = contents();
  RecoverOptions asked = options();
  if (!GetParam().suffix.empty())
    asked.suffix = GetParam().suffix;
  const std::string error = message_and_hint_of([&] { recover_directory(asked); });
  const std::string without_hint =
      replace_all(GetParam().message, "DIR", directory().string()) + " | ";
  EXPECT_THAT(error, StartsWith(without_hint));
  EXPECT_NE(error, without_hint);
  EXPECT_EQ(contents(), before);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, RecoverRefusalTest,
    testing::Values(RefusalCase{"NoLog", {{"other.csv", "x"}}, "", "no power.csv in DIR"},
                    RefusalCase{
                        "NoLogOfThatName", {{"power.csv", samples}}, "a", "no power.a.csv in DIR"},
                    RefusalCase{"Results",
                                {{"power.csv", samples}, {"energy.txt", "energy_wh=1\n"}},
                                "",
                                "DIR/energy.txt is there already"},
                    RefusalCase{"OneOfTheResults",
                                {{"power.csv", samples}, {"energy.json", "{}"}},
                                "",
                                "DIR/energy.json is there already"},
                    RefusalCase{"AMeterThatHasNotBegun",
                                {{"power.csv", ""}},
                                "",
                                "DIR/power.csv is empty, and DIR/unfinished.jsonl is not there"},
                    RefusalCase{"SomethingElse",
                                {{"power.csv", "a,b\n1,2\n"}},
                                "",
                                "the columns are not those of samples"}),
    [](const auto& test) { return test.param.name; });

TEST_F(RecoverTest, ADirectoryThatIsNotThereIsNamed) {
  RecoverOptions asked = options();
  asked.directory = directory() / "missing";
  EXPECT_EQ(message_of([&] { recover_directory(asked); }),
            "cannot read " + asked.directory.string() + ": No such file or directory");
}

class RecoverHdf5Test : public Hdf5Test {};

TEST_F(RecoverHdf5Test, KeepsTheSamplesAsTheyWere) {
  write_file("power.csv", samples);
  RecoverOptions h5{
      .directory = file("power.csv").parent_path(), .suffix = {}, .formats = std::set{Format::h5}};
  recover_directory(h5);
  EXPECT_EQ(read_file(file("power.csv")), samples);
  EXPECT_THAT(Hdf5Reader(file("energy.h5")).dimensions("/power"), ElementsAre(2));
}

}  // namespace
}  // namespace bench::energy
