#include "energy/fixtures.hpp"
#include "support/deep_json.hpp"

#include <filesystem>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/run_record.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;

RunStart start() {
  RunStart start;
  start.provenance.host = "node7";
  start.provenance.rank = 3;
  start.provenance.program = {"./train", "a b\xff"};
  start.provenance.interval_s = 0.05;
  start.provenance.started_unix_s = 1700000000.25;
  start.provenance.started_monotonic_s = 12.5;
  start.formats = {Format::json, Format::h5};
  start.layout = PowerLayout::jpwr;
  start.regions = true;
  start.idle_w = {{"rapl:package-0", 20.5}};
  start.absences = {{"nvml", "no library", false}, {"rapl", "elsewhere", true}};
  return start;
}

std::vector<Channel> gpu_and_package() {
  std::vector<Channel> channels(2);
  channels[0].name = "nvml:0:gpu";
  channels[0].description = "H100, \"fake\"";
  channels[0].scope = Scope::gpu_module;
  channels[0].label = "label";
  channels[0].device_id = "GPU-7";
  channels[0].device = 0;
  channels[0].additive = true;
  channels[0].parent = "parent";
  channels[0].averaging_window_s = 0.025;
  channels[1].name = "rapl:package-0";
  channels[1].estimated = true;
  channels[1].duplicate = true;
  channels[1].counter_only = true;
  channels[1].counter_period_s = 0.001;
  return channels;
}

TEST(RunRecord, IsReadAgain) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "unfinished.jsonl";
  RunRecord record(file);
  record.open();
  record.add_start(start());
  record.add_channels(gpu_and_package(), {false, true});
  record.add_mark(1.5);
  const RecordedRun run = parse_run_record(read_file(file));
  EXPECT_EQ(run.pid, ::getpid());
  ASSERT_TRUE(run.start);
  EXPECT_EQ(run.start->provenance.host, "node7");
  EXPECT_EQ(run.start->provenance.rank, 3);
  EXPECT_THAT(run.start->provenance.program, ElementsAre("./train", "a b\xef\xbf\xbd"));
  EXPECT_EQ(run.start->provenance.interval_s, 0.05);
  EXPECT_EQ(run.start->provenance.started_unix_s, 1700000000.25);
  EXPECT_EQ(run.start->provenance.started_monotonic_s, 12.5);
  EXPECT_EQ(run.start->formats, (std::set{Format::json, Format::h5}));
  EXPECT_EQ(run.start->layout, PowerLayout::jpwr);
  EXPECT_TRUE(run.start->regions);
  EXPECT_EQ(run.start->idle_w.at("rapl:package-0"), 20.5);
  ASSERT_EQ(run.start->absences.size(), 2U);
  EXPECT_EQ(run.start->absences[0].reason, "no library");
  EXPECT_TRUE(run.start->absences[1].elsewhere);
  EXPECT_THAT(run.mark_times_s, ElementsAre(1.5));
}

TEST(RunRecord, HoldsAllThatResultsTellOfAChannel) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "unfinished.jsonl";
  const std::vector<Channel> written = gpu_and_package();
  RunRecord record(file);
  record.open();
  record.add_channels(written, {false, true});
  const auto read = parse_run_record(read_file(file)).channels;
  ASSERT_EQ(read.size(), 2U);
  EXPECT_FALSE(read[0].slow);
  EXPECT_TRUE(read[1].slow);
  EXPECT_EQ(read[0].channel, written[0]);
  EXPECT_EQ(read[1].channel, written[1]);
}

TEST(RunRecord, KnowsTheDevicesThatCannotBeRead) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "unfinished.jsonl";
  RunRecord record(file);
  record.open();
  std::vector<Channel> holes(1);
  holes[0].name = "nvml:1:gpu";
  holes[0].additive = true;
  holes[0].unreadable = "Insufficient Permissions";
  record.add_channels(gpu_and_package(), {false, false}, holes);
  const RecordedRun run = parse_run_record(read_file(file));
  EXPECT_EQ(run.channels.size(), 2U);
  ASSERT_EQ(run.unreadable.size(), 1U);
  EXPECT_EQ(run.unreadable[0].unreadable, holes[0].unreadable);
  EXPECT_TRUE(run.unreadable[0].additive);
}

TEST(RunRecord, TheLastListOfChannelsHolds) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "unfinished.jsonl";
  RunRecord record(file);
  record.open();
  const std::vector<Channel> all = gpu_and_package();
  record.add_channels({all[0]}, {false});
  record.add_channels(all, {false, false});
  EXPECT_EQ(parse_run_record(read_file(file)).channels.size(), 2U);
}

TEST(RunRecord, HasCountersThatStandBesideAPower) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "unfinished.jsonl";
  RunRecord record(file);
  record.open();
  const std::vector<Reading> readings{{.power_w = 100.0, .energy_j = 7.5, .failure = ""},
                                      {.power_w = {}, .energy_j = 3.0, .failure = ""}};
  EXPECT_TRUE(record.add_counters(0.5, gpu_and_package(), readings));
  const auto counters = parse_run_record(read_file(file)).counters;
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters.at("nvml:0:gpu").at(0).time_s, 0.5);
  EXPECT_EQ(counters.at("nvml:0:gpu").at(0).energy_j, 7.5);
}

TEST(RunRecord, CountersTakeFewLines) {
  int lines = 0;
  for (double time_s = 0; time_s < 86400; time_s = next_counters_s(time_s))
    ++lines;
  EXPECT_LT(lines, 600);
}

TEST(RunRecord, ALineThatWasCutOffIsNone) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "unfinished.jsonl";
  RunRecord record(file);
  record.open();
  record.add_mark(1);
  record.add_start(start());
  const std::string text = read_file(file);
  const RecordedRun run = parse_run_record(text.substr(0, text.size() - 5));
  EXPECT_THAT(run.mark_times_s, ElementsAre(1));
  EXPECT_FALSE(run.start);
}

TEST(RunRecord, TakesWhatItUnderstandsOfOneThatIsDamaged) {
  const RecordedRun run = parse_run_record(
      "7\n[1]\n{\"start\": 3}\n{\"start\": {\"provenance\": [], \"formats\": [\"xml\", 2, "
      "\"json\"], "
      "\"power_idle_w\": 1, \"absences\": [2]}, \"pid\": 1.5}\n"
      "{\"channels\": [{\"name\": 4, \"slow\": 1}]}\n{\"channels\": 4}\n{\"counters_j\": []}\n"
      "{\"counters_j\": {\"a\": \"b\", \"c\": 2}}\n{\"mark_s\": \"x\"}\n");
  ASSERT_TRUE(run.start);
  EXPECT_EQ(run.pid, 0);
  EXPECT_EQ(run.start->formats, std::set{Format::json});
  EXPECT_TRUE(run.channels.empty());
  EXPECT_EQ(run.counters.size(), 1U);
  EXPECT_THAT(run.mark_times_s, ElementsAre(0));
}

TEST(RunRecord, OneOfAnyDepthIsRead) {
  const RecordedRun run = parse_run_record("{\"channels\": " + support::deep_json() + "}\n");
  ASSERT_EQ(run.channels.size(), 1U);
  EXPECT_EQ(run.channels[0].channel.name, "");
}

TEST(RunRecord, WaitsInMemoryUntilItIsOpened) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "unfinished.jsonl";
  RunRecord record(file);
  record.add_mark(1);
  EXPECT_TRUE(record.add_counters(1, {}, {}));
  EXPECT_FALSE(std::filesystem::exists(file));
  record.open();
  record.add_mark(2);
  EXPECT_THAT(parse_run_record(read_file(file)).mark_times_s, ElementsAre(1, 2));
}

TEST(RunRecord, IsLockedForAsLongAsItsMeterLives) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "unfinished.jsonl";
  std::optional<UniqueFd> other;
  {
    RunRecord record(file);
    record.open();
    other.emplace(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_NE(::flock(other->get(), LOCK_EX | LOCK_NB), 0);
  }
  EXPECT_EQ(::flock(other->get(), LOCK_EX | LOCK_NB), 0);
}

TEST(RunRecord, GoesAwayWhereThereAreResults) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "unfinished.jsonl";
  RunRecord record(file);
  record.open();
  record.add_mark(1);
  record.remove();
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(RunRecord, WhatCannotBeWrittenIsNoError) {
  const TemporaryDirectory directory;
  RunRecord record(directory.path() / "missing" / "unfinished.jsonl");
  EXPECT_NO_THROW(record.add_mark(1));
  EXPECT_NO_THROW(record.remove());
}

}  // namespace
}  // namespace bench::energy
