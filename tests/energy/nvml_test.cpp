#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/sources/nvml.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NvmlSettings fake_gpus(std::optional<std::string> visible_devices = {}) {
  return {{std::string(FAKE_NVML_DIRECTORY) + "/libnvidia-ml.so.1"}, std::move(visible_devices)};
}

std::string nvml_error(const NvmlSettings& settings) {
  return message_of([&] { open_nvml(settings); });
}

TEST(Nvml, ReadsPowerAndTheCounter) {
  const auto source = open_nvml(fake_gpus());
  EXPECT_THAT(names(*source), ElementsAre("nvml:0:gpu", "nvml:0:gpu_average"));
  EXPECT_EQ(source->channels()[0].description, "Fake H100 GPU-00000000-fake");
  EXPECT_EQ(source->channels()[0].device_id, "GPU-00000000-fake");
  const auto readings = read_channels(*source);
  EXPECT_DOUBLE_EQ(*readings[0].power_w, 250);
  EXPECT_GT(*readings[0].energy_j, 1e6);
  EXPECT_DOUBLE_EQ(*readings[1].power_w, 250);
  EXPECT_FALSE(readings[1].energy_j);
  EXPECT_DOUBLE_EQ(source->channels()[1].averaging_window_s, 1);
}

TEST(Nvml, WithoutFieldsUsesThePlainReadingAndItsWindow) {
  const support::EnvironmentVariable no_fields("FAKE_NVML_NO_FIELDS", "1");
  const auto source = open_nvml(fake_gpus());
  EXPECT_THAT(names(*source), ElementsAre("nvml:0:gpu"));
  EXPECT_DOUBLE_EQ(source->channels()[0].averaging_window_s, 1);  // a Hopper: mean over 1 s
  EXPECT_DOUBLE_EQ(*read_channels(*source)[0].power_w, 250);
}

TEST(Nvml, WithoutACounterSaysWhy) {
  const support::EnvironmentVariable no_counter("FAKE_NVML_NO_COUNTER", "1");
  const auto source = open_nvml(fake_gpus());
  EXPECT_THAT(source->notes(),
              ElementsAre("nvml:0: no energy counter: Not Supported (NVML code 3)"));
  EXPECT_FALSE(read_channels(*source)[0].energy_j);
}

TEST(Nvml, TheModuleOfASuperchipIsNotAddedToItsGpu) {
  const support::EnvironmentVariable module("FAKE_NVML_MODULE", "1");
  std::vector<Channel> channels = open_nvml(fake_gpus())->channels();
  mark_additive(channels);
  ASSERT_EQ(channels.size(), 3U);
  EXPECT_EQ(channels[2].name, "nvml:0:module");
  EXPECT_TRUE(channels[0].additive);
  EXPECT_FALSE(channels[1].additive);
  EXPECT_FALSE(channels[2].additive);
}

TEST(Nvml, ALostDeviceStaysLostAndTheOthersGoOn) {
  const support::EnvironmentVariable devices("FAKE_NVML_DEVICES", "2");
  const support::EnvironmentVariable limit("FAKE_NVML_FAIL_AFTER", "5");  // 3 at the start, then 2
  const auto source = open_nvml(fake_gpus());
  read_channels(*source);
  read_channels(*source);
  for (int i = 0; i < 2; ++i) {
    const auto readings = read_channels(*source);
    EXPECT_TRUE(readings[0].lost && readings[1].lost);
    EXPECT_EQ(readings[0].failure, "GPU is lost (NVML code 15)");
    EXPECT_FALSE(readings[0].power_w || readings[0].energy_j);
    EXPECT_TRUE(readings[2].power_w && !readings[2].lost);
  }
}

TEST(Nvml, APassingErrorIsAFailedReadingOnly) {
  const support::EnvironmentVariable limit("FAKE_NVML_FAIL_AFTER", "3");
  const support::EnvironmentVariable code("FAKE_NVML_FAIL_CODE", "21");
  const auto source = open_nvml(fake_gpus());
  const auto readings = read_channels(*source);
  EXPECT_FALSE(readings[0].lost);
  EXPECT_FALSE(readings[0].power_w);
  EXPECT_TRUE(readings[0].energy_j);
}

TEST(Nvml, HonoursVisibleDevices) {
  const support::EnvironmentVariable devices("FAKE_NVML_DEVICES", "3");
  EXPECT_EQ(open_nvml(fake_gpus("2"))->channels()[0].name, "nvml:2:gpu");
  EXPECT_EQ(open_nvml(fake_gpus("GPU-00000001"))->channels()[0].name, "nvml:1:gpu");
  EXPECT_EQ(open_nvml(fake_gpus("MIG-fake"))->channels()[0].name, "nvml:1:gpu");
  EXPECT_EQ(nvml_error(fake_gpus("")), "CUDA_VISIBLE_DEVICES= selects none of 3 devices");
}

TEST(Nvml, DoubtsNumbersOfGpusThatCudaMayCountInAnotherOrder) {
  const support::EnvironmentVariable devices("FAKE_NVML_DEVICES", "2");
  const auto notes = [](const std::string& visible_devices, const std::string& order) {
    NvmlSettings settings = fake_gpus(visible_devices);
    settings.device_order = order;
    return open_nvml(settings)->notes();
  };
  EXPECT_THAT(notes("0", ""), ElementsAre());
  const support::EnvironmentVariable display("FAKE_NVML_PRODUCT_0", "Fake T400");
  EXPECT_THAT(notes("0", ""),
              ElementsAre("CUDA_VISIBLE_DEVICES=0 may select other GPUs for the program: they are "
                          "not all alike, and CUDA counts the fastest first; export "
                          "CUDA_DEVICE_ORDER=PCI_BUS_ID"));
  EXPECT_THAT(notes("0", "PCI_BUS_ID"), ElementsAre());
  EXPECT_THAT(notes("GPU-00000001", ""), ElementsAre());
  EXPECT_THAT(notes("1,0", ""), ElementsAre());
}

TEST(Nvml, MeasuresTheGpusOfTheJobWhereTheOthersAreNotHidden) {
  const support::EnvironmentVariable three("FAKE_NVML_DEVICES", "3");
  NvmlSettings settings = fake_gpus();
  settings.job_devices = "0,2";
  EXPECT_THAT(names(*open_nvml(settings)),
              ElementsAre("nvml:0:gpu", "nvml:0:gpu_average", "nvml:2:gpu", "nvml:2:gpu_average"));
}

TEST(Nvml, MeasuresAllGpusWhereThoseOfOtherJobsAreHidden) {
  const support::EnvironmentVariable two("FAKE_NVML_DEVICES", "2");
  NvmlSettings settings = fake_gpus();
  settings.job_devices = "1,2";  // their numbers on the node
  EXPECT_EQ(names(*open_nvml(settings)).size(), 4U);
}

TEST(Nvml, WhatCudaSeesGoesBeforeWhatTheJobHas) {
  const support::EnvironmentVariable two("FAKE_NVML_DEVICES", "2");
  NvmlSettings settings = fake_gpus("1");
  settings.job_devices = "0";
  EXPECT_EQ(names(*open_nvml(settings)).front(), "nvml:1:gpu");
}

TEST(Nvml, SkipsADeviceOfAnotherJob) {
  const support::EnvironmentVariable devices("FAKE_NVML_DEVICES", "2");
  const support::EnvironmentVariable forbidden("FAKE_NVML_FORBIDDEN", "0");
  const auto source = open_nvml(fake_gpus());
  EXPECT_EQ(source->channels()[0].name, "nvml:1:gpu");
  EXPECT_THAT(source->notes(), ElementsAre("nvml:0: Insufficient Permissions (NVML code 4)"));
}

std::vector<std::string> unreadable(const NvmlSettings& settings) {
  std::vector<std::string> result;
  const auto source = open_nvml(settings);
  for (const Channel& channel : source->unreadable())
    result.push_back(channel.name + ": " + channel.unreadable);
  return result;
}

TEST(Nvml, ADeviceThatTheProgramMayUseAndNobodyMayOpenIsAHole) {
  const support::EnvironmentVariable devices("FAKE_NVML_DEVICES", "3");
  const support::EnvironmentVariable forbidden("FAKE_NVML_FORBIDDEN", "1");
  const std::string hole = "nvml:1:gpu: Insufficient Permissions (NVML code 4)";
  EXPECT_THAT(unreadable(fake_gpus()), ElementsAre(hole));
  EXPECT_THAT(unreadable(fake_gpus("0,1")), ElementsAre(hole));
  EXPECT_THAT(unreadable(fake_gpus("0,2")), ElementsAre());
}

TEST(Nvml, ADeviceThatTheBatchSystemHidesIsAnothers) {
  const support::EnvironmentVariable devices("FAKE_NVML_DEVICES", "3");
  const support::EnvironmentVariable forbidden("FAKE_NVML_FORBIDDEN", "0");
  NvmlSettings of_job = fake_gpus("0,1");  // as CUDA counts what is left
  of_job.job_devices = "1,2";
  EXPECT_THAT(unreadable(of_job), ElementsAre());
  EXPECT_EQ(names(*open_nvml(of_job)).front(), "nvml:1:gpu");
  NvmlSettings of_task = fake_gpus();
  of_task.several_tasks = true;
  EXPECT_THAT(unreadable(of_task), ElementsAre());
}

TEST(Nvml, TheProgramHasOnlyAPartOfAGpuInMigMode) {
  const support::EnvironmentVariable devices("FAKE_NVML_DEVICES", "2");
  EXPECT_TRUE(open_nvml(fake_gpus("MIG-fake"))->channels()[0].partly_owned);
  EXPECT_FALSE(open_nvml(fake_gpus("1"))->channels()[0].partly_owned);
  const support::EnvironmentVariable mig("FAKE_NVML_MIG", "1");
  EXPECT_TRUE(open_nvml(fake_gpus("1"))->channels()[0].partly_owned);
}

TEST(Nvml, ALibraryThatCannotStartSaysWhy) {
  const support::EnvironmentVariable code("FAKE_NVML_INIT_CODE", "9");
  EXPECT_EQ(nvml_error(fake_gpus()), "nvmlInit: Driver Not Loaded (NVML code 9)");
}

TEST(Nvml, AMissingLibraryIsAnAbsence) {
  EXPECT_THAT(nvml_error({{"libbench-no-such.so.1", "libbench-no-such.so"}, {}}),
              HasSubstr("no NVIDIA driver: libbench-no-such.so.1: cannot open"));
}

struct Selection {
  std::string name;
  std::string visible_devices;
  std::vector<std::size_t> expected;
};
class SelectDevicesTest : public testing::TestWithParam<Selection> {};

TEST_P(SelectDevicesTest, FollowsCuda) {
  const std::vector<std::string> uuids{"GPU-aaa", "GPU-abb", "GPU-ccc"};
  EXPECT_EQ(select_devices(GetParam().visible_devices, uuids), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Energy, SelectDevicesTest,
                         testing::Values(Selection{"Numbers", "2, 0", {0, 2}},
                                         Selection{"Uuids", "GPU-ab,GPU-c", {1, 2}},
                                         Selection{"Empty", "", {}},
                                         Selection{"StopsAtTheFirstUnknown", "1,7,0", {1}},
                                         Selection{"MinusOneHidesTheRest", "0,-1,1", {0}},
                                         Selection{"Twice", "1,1", {1}},
                                         Selection{"NoDevices", "NoDevFiles", {}}),
                         [](const auto& test) { return test.param.name; });

TEST(Nvml, ACounterIsAskedOnlyWhenItCanHaveMoved) {
  const support::EnvironmentVariable step("FAKE_NVML_STEP_S", "0.1");
  const support::EnvironmentVariable clock("FAKE_NVML_CLOCK_S", "0");
  double now_s = 0;
  NvmlSettings settings = fake_gpus();
  settings.now_s = [&] { return now_s; };
  const auto source = open_nvml(settings);
  int asked = 0;
  for (int k = 0; k < 300; ++k) {  // 3 s, in which it moves 30 times
    now_s = 0.01 * k + 0.003;
    ::setenv("FAKE_NVML_CLOCK_S", std::to_string(now_s).c_str(), 1);
    const Reading reading = read_channels(*source)[0];
    EXPECT_EQ(reading.energy_j.has_value(), !reading.counter_rests);
    EXPECT_TRUE(reading.power_w);
    asked += reading.energy_j ? 1 : 0;
  }
  EXPECT_GE(asked, 30);
  EXPECT_LE(asked, 50);
}

TEST(Nvml, ASlowDriverIsAskedForOneCounterAfterTheOther) {
  const support::EnvironmentVariable devices("FAKE_NVML_DEVICES", "8");
  double now_s = 0;
  NvmlSettings settings = fake_gpus();
  settings.now_s = [&] { return now_s += 0.0024; };
  const auto source = open_nvml(settings);
  const auto count = [&] {
    const auto readings = read_channels(*source);
    return std::ranges::count_if(readings, [](const Reading& r) { return r.energy_j.has_value(); });
  };
  source->want_counters();
  EXPECT_EQ(count(), 8);
  now_s += 1;
  for (int k = 0; k < 8; ++k)
    EXPECT_EQ(count(), 1);
}

TEST(Nvml, AnUnknownErrorLosesNoDevice) {
  const support::EnvironmentVariable limit("FAKE_NVML_FAIL_AFTER", "3");
  const support::EnvironmentVariable code("FAKE_NVML_FAIL_CODE", "999");
  const auto source = open_nvml(fake_gpus());
  for (int k = 0; k < 5; ++k)
    read_channels(*source);
  const Reading reading = read_channels(*source)[0];
  EXPECT_FALSE(reading.power_w);
  EXPECT_FALSE(reading.lost);
  EXPECT_THAT(reading.failure, HasSubstr("NVML code 999"));
}

TEST(Nvml, TheCounterOfASuperchipIsOfferedToBothOfItsChannels) {
  const support::EnvironmentVariable module("FAKE_NVML_MODULE", "1");
  const auto source = open_nvml(fake_gpus());
  const auto readings = read_channels(*source);
  for (std::size_t k = 0; k < readings.size(); ++k) {
    const bool average = source->channels()[k].scope == Scope::gpu_average;
    EXPECT_EQ(readings[k].energy_j.has_value(), !average);
    EXPECT_EQ(source->channels()[k].counter_of_either, !average);
  }
}

/// How a counter was read that moves every `period_s`, by ticks every 10 ms over 10 s.
struct Reads {
  int count = 0;
  double largest_error_s = 0;  ///< Of the times of its movements.
};

Reads read_every(double period_s) {
  CounterSchedule schedule(0.1);
  Reads reads;
  double shown_j = -1;
  for (int tick = 0; tick < 1000; ++tick) {
    const double time_s = 0.01 * tick + 0.003 * std::sin(tick);
    if (!schedule.is_due(time_s))
      continue;
    const double moved_s = 0.033 + period_s * std::floor((time_s - 0.033) / period_s);
    ++reads.count;
    schedule.add(time_s, moved_s);
    if (moved_s != shown_j && reads.count > 1 && moved_s > 0)
      reads.largest_error_s =
          std::max(reads.largest_error_s, std::abs(time_s - schedule.age_s(time_s) - moved_s));
    shown_j = moved_s;
  }
  return reads;
}

TEST(CounterSchedule, ReadsHardlyMoreOftenThanTheCounterMoves) {
  EXPECT_LE(read_every(0.1).count, 100 * 3 / 2 + 10);
  EXPECT_LE(read_every(0.103).count, 97 * 3 / 2 + 50);
}

TEST(CounterSchedule, KnowsTheMovementsToATick) {
  EXPECT_LE(read_every(0.1).largest_error_s, 0.011);
  EXPECT_LE(read_every(0.103).largest_error_s, 0.011);
}

TEST(CounterSchedule, OneThatMovesAllTheTimeIsAskedOncePerPeriod) {
  const Reads reads = read_every(1e-6);
  EXPECT_LE(reads.count, 102);
  EXPECT_LE(reads.largest_error_s, 0.02);
}

}  // namespace
}  // namespace bench::energy
