#include "bench_program.hpp"

#include <filesystem>

#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* measured_step = R"(name: measured
outpath: runs
parameterset: {name: p, parameter: {n: [1, 2]}}
step: {name: train, use: p, batch: true, energy: true, do: 'echo "images=100"; sleep 0.3'}
patternset:
  name: found
  pattern:
    - {name: images, type: int, _: images=$jube_pat_int}
    - {name: efficiency, type: float, unit: images/Wh, mode: python, _: $images / $energy_wh}
analyser: {name: output, use: found, analyse: {step: train, file: stdout}}
result: {use: output, table: {name: t, style: pretty, column: [n, images, energy_wh, efficiency, power_mean_w]}}
)";

class EnergyTest : public testing::Test {
 protected:
  void SetUp() override { here_.write("m.yaml", measured_step); }

  /// A machine without NVIDIA's library, whatever this one has.
  Environment without_nvidia() const {
    for (const char* name : {"libnvidia-ml.so.1", "libnvidia-ml.so"})
      here_.write(name, "no library");
    return {{"LD_LIBRARY_PATH", here_.path().string()}};
  }

  Playground here_;
};

TEST_F(EnergyTest, ABatchStepRunsItsJobScriptHereUnderTheMeter) {
  const auto run = here_.bench({"run", "m.yaml", "-r", "--power-source", "mock:constant=100W"});
  ASSERT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(
      here_.read("runs/000000/000000_train/job.sh"),
      HasSubstr("bench-energy --method mock:constant=100W --interval 100ms --per-node --record "));
  EXPECT_THAT(here_.read("runs/000000/000000_train/work/energy.txt"), HasSubstr("energy_wh="));
  EXPECT_THAT(here_.read("runs/000000/000000_train/sentinel"), HasSubstr("exit_code=0\n"));
}

TEST_F(EnergyTest, NothingOfTheRunRunsBesideAMeasuredWorkpackage) {
  here_.run("m.yaml", R"(name: m
outpath: runs
parameterset: {name: p, parameter: {n: [1, 2, 3, 4]}}
step:
  - name: plain
    use: p
    procs: 4
    do: touch ../../beside_$n && test ! -e ../../alone && sleep 0.1 && rm ../../beside_$n
  - name: train
    use: p
    batch: true
    procs: 4
    energy: {methods: "mock:constant=100W"}
    do: mkdir ../../alone; if ls ../../beside_*; then exit 1; fi; sleep 0.1; rmdir ../../alone
)",
            {"-j", "4"});
}

TEST_F(EnergyTest, TheTableSaysWhichRowsAreToBeDoubted) {
  const auto run = here_.shell(
      "yes > /dev/null & for k in 1 2; do "
      "bench run m.yaml -r --power-source mock:constant=100W; done; kill $!");
  ASSERT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_output,
              AllOf(HasSubstr("not quiet: "), HasSubstr("CPUs used by other programs: "),
                    HasSubstr("too short: 2 rows, workpackages 0-1: for an energy within 5 %: at "
                              "least 1 s\n")));
  EXPECT_THAT(here_.text_of("compare", {"runs"}, 0),
              AllOf(HasSubstr("\nnot quiet: 2 workpackages of a and 2 of b"),
                    HasSubstr("\ntoo short: 2 workpackages of a and 2 of b"),
                    HasSubstr(" energy_wh[Wh]"), Not(HasSubstr("energy_mock"))))
      << "an only source is compared once";
}

TEST_F(EnergyTest, ASettingWithoutPermissionFailsItsWorkpackageWithTheReason) {
  here_.run("m.yaml", R"(name: m
outpath: runs
step:
  name: train
  batch: true
  energy: {methods: "mock:constant=100W"}
  gpu_power_limit: 300W
  do: touch started
)",
            {}, 1, without_nvidia());
  EXPECT_FALSE(here_.has("runs/000000/000000_train/work/started"));
  EXPECT_THAT(here_.read("runs/000000/000000_train/work/stderr"), HasSubstr("no NVIDIA driver"));
}

TEST_F(EnergyTest, AnEstimateIsMarkedWhereverItShows) {
  const auto run = here_.bench({"run", "m.yaml", "-r", "--power-source", "model:cpu=5W..65W"});
  ASSERT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_output, AllOf(HasSubstr("energy_wh[Wh] (estimated)"),
                                         HasSubstr("efficiency[images/Wh] (estimated)"),
                                         HasSubstr("power_mean_w[W] (estimated)"),
                                         HasSubstr("from a model, not a measurement")));
}

TEST_F(EnergyTest, WhatCannotBeMeasuredIsAbsentWithTheReason) {
  const auto run = here_.bench({"run", "m.yaml", "-r", "--power-source", "nvml"}, without_nvidia());
  ASSERT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(
      run.standard_output,
      AllOf(HasSubstr("|           n/a |"),
            HasSubstr("n/a in energy_wh, efficiency, power_mean_w: nvml: no NVIDIA driver")));
}

TEST_F(EnergyTest, WhatIsMadeOfTheEnergyOfARegionIsAbsentWithTheReasonToo) {
  const auto run = here_.run("m.yaml", R"(name: m
outpath: runs
step:
  name: train
  batch: true
  energy: true
  do:
    - echo "begin epoch" >> $$BENCH_ENERGY_REGIONS; sleep 0.2; echo "end epoch" >> $$BENCH_ENERGY_REGIONS
patternset:
  name: found
  pattern: {name: images_per_wh, type: float, mode: python, _: 100 / $energy_region_epoch_wh_avg}
analyser: {name: output, use: found, analyse: {step: train, file: stdout}}
result: {use: output, table: {name: t, style: pretty, column: [energy_region_epoch_wh, images_per_wh]}}
)",
                             {"-r", "--strict", "--power-source", "nvml"}, 0, without_nvidia());
  EXPECT_THAT(run.standard_output,
              HasSubstr("n/a in energy_region_epoch_wh, images_per_wh: nvml: no NVIDIA driver"));

  std::filesystem::remove(here_.path() / "runs/000000/000000_train/work/energy.txt");
  const auto analysed = here_.bench({"result", "runs", "--analyse", "--strict"});
  EXPECT_EQ(analysed.status.code, 0) << analysed.standard_error;
  EXPECT_THAT(analysed.standard_output,
              HasSubstr("n/a in images_per_wh: the meter wrote no result"));
}

TEST_F(EnergyTest, DryRunShowsTheJobScript) {
  const auto run = here_.bench({"run", "m.yaml", "--dry-run"});
  EXPECT_THAT(run.standard_output,
              AllOf(HasSubstr("    | #!/bin/bash\n"),
                    HasSubstr("/bin/sh -c 'echo \"images=100\"; sleep 0.3' 2>")));
  EXPECT_FALSE(here_.has("runs"));
}

/// As a launcher would start them on two nodes.
TEST_F(EnergyTest, AddsWhatTheMetersOfSeveralNodesMeasure) {
  const auto run = here_.run("m.yaml", R"(name: m
outpath: runs
step:
  name: train
  batch: true
  energy: {methods: "mock:constant=100W", interval: 20ms}
  do: |
    export SLURM_JOB_ID=$$$$ SLURM_LOCALID=0 SLURM_STEP_NUM_TASKS=2
    for rank in 0 1; do
      SLURM_STEP_ID=$$rank SLURM_PROCID=$$rank $jube_starter sleep 0.3 &
    done
    wait
analyser: {name: output, analyse: {step: train, file: stdout}}
result: {use: output, table: {name: t, style: csv, column: [power_mean_w]}}
)",
                             {"-r"});
  EXPECT_THAT(run.standard_output, testing::ContainsRegex("\n(199\\.9|200)[0-9.]*\n"));
}

TEST_F(EnergyTest, AddsTheProgramsThatAStepStartsOneAfterTheOther) {
  const auto run = here_.run("m.yaml", R"(name: m
outpath: runs
step:
  name: train
  batch: true
  energy: {methods: "mock:constant=100W", interval: 20ms}
  do:
    - $jube_starter sleep 0.3 | cat
    - $jube_starter sleep 0.2
analyser: {name: output, analyse: {step: train, file: stdout}}
result: {use: output, table: {name: t, style: csv, column: [power_mean_w, duration_s]}}
)",
                             {"-r"});
  EXPECT_THAT(run.standard_output,
              testing::ContainsRegex("\n(99\\.9|100)[0-9.]*,(0\\.[5-9]|[1-9])[0-9.]*\n"));
  EXPECT_TRUE(here_.has("runs/000000/000000_train/work/energy_2/power.csv"));
}

TEST_F(EnergyTest, OfProgramsOneAfterTheOtherThereIsNoSumWhereAMeterWasKilled) {
  const auto run = here_.run("m.yaml", R"(name: m
outpath: runs
step:
  name: train
  batch: true
  energy: {methods: "mock:constant=100W", interval: 20ms}
  do:
    - $jube_starter sleep 0.3
    - |
      $jube_starter sh -c 'until grep -q . energy_2/unfinished.jsonl &&
        sed -n 4p energy_2/power.csv | grep -q .; do sleep 0.1; done; kill -KILL $$PPID' || true
analyser: {name: output, analyse: {step: train, file: stdout}}
result: {use: output, table: {name: t, style: pretty, column: [energy_wh, duration_s]}}
)",
                             {"-r"});
  EXPECT_THAT(
      run.standard_output,
      AllOf(HasSubstr("|           n/a |           n/a |\n"),
            HasSubstr("n/a in energy_wh: the meter of energy_2/power.csv wrote no result")));

  const auto mended = here_.shell(
      "cd runs/000000/000000_train/work && bench-energy recover energy_2 && "
      "bench-energy combine --in-sequence --output energy.txt energy_1/ energy_2/");
  ASSERT_EQ(mended.status.code, 0) << mended.standard_error;
  EXPECT_THAT(here_.text_of("result", {"runs", "--analyse"}, 0), Not(HasSubstr("n/a")));
}

TEST_F(EnergyTest, AddsTheCyclesOfAStep) {
  for (const char* program : {"sleep", "$jube_starter sleep"}) {
    const auto run = here_.run("m.yaml", std::string(R"(name: m
outpath: runs
step:
  name: train
  cycles: 3
  batch: true
  energy: {methods: "mock:constant=100W", interval: 20ms}
  do: )") + program + R"( 0.4
analyser: {name: output, analyse: {step: train, file: stdout}}
result: {use: output, table: {name: t, style: csv, column: [power_mean_w, duration_s]}}
)",
                               {"-r"});
    EXPECT_THAT(run.standard_output,
                testing::ContainsRegex("\n(99\\.9|100)[0-9.]*,(1\\.[2-9]|[2-9])[0-9.]*\n"));
  }
}

TEST_F(EnergyTest, GivesRegionsAndTheIdleNodeTheirColumns) {
  const auto run = here_.run("m.yaml", R"(name: m
outpath: runs
step:
  name: train
  batch: true
  energy: {methods: "mock:constant=100W", interval: 20ms, baseline: 100ms}
  do:
    - echo "begin epoch" >> $$BENCH_ENERGY_REGIONS; sleep 0.2; echo "end epoch" >> $$BENCH_ENERGY_REGIONS
analyser: {name: output, analyse: {step: train, file: stdout}}
result: {use: output, table: {name: t, style: csv, column: [power_region_epoch_w, power_idle_w, duration_region_epoch_s]}}
)",
                             {"-r"});
  EXPECT_THAT(
      run.standard_output,
      testing::ContainsRegex("power_region_epoch_w.W.,power_idle_w.W.,duration_region_epoch_s.s.\n"
                             "(99\\.9|100)[0-9.]*,(99\\.9|100)[0-9.]*,0\\.[0-9]+\n"));
}

TEST_F(EnergyTest, ASourceThatTheMeterWouldRefuseIsRefusedBeforeAnythingIsMade) {
  const auto run = here_.bench({"run", "m.yaml", "--power-source", "mock"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("error: method 'mock' needs an argument\nhint: "));
  EXPECT_FALSE(here_.has("runs"));
}

TEST_F(EnergyTest, TheEnergyOfAFailedRunDoesNotPassForAGoodOne) {
  const auto run = here_.run("m.yaml", R"(name: m
outpath: runs
step: {name: train, batch: true, energy: true, do: 'echo "images=7"; sleep 0.1; echo broken >&2; exit 3'}
patternset: {name: found, pattern: {name: images, type: int, _: images=$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: train, file: stdout}}
result: {use: output, table: {name: t, style: pretty, column: [images, energy_wh, energy_quality]}}
)",
                             {"-r", "--power-source", "mock:constant=100W"}, 1);
  EXPECT_THAT(
      run.standard_output,
      AllOf(HasSubstr("|      7 |           n/a |            n/a |\n"),
            HasSubstr("n/a in energy_wh, energy_quality: 1 row, workpackage 0: exit code 3")));
  EXPECT_THAT(run.standard_error, HasSubstr("workpackage 0 (train) failed: exit code 3: broken\n"));
  EXPECT_THAT(here_.read("runs/000000/000000_train/work/energy.txt"), HasSubstr("energy_wh="));
}

TEST_F(EnergyTest, ALineBelowTheTableNamesTheIterationsThatItIsAbout) {
  here_.write("m.yaml", R"(name: m
outpath: runs
step: {name: s, iterations: 2, batch: true, energy: true, do: 'sleep $(($jube_wp_iteration * 2))'}
analyser: {name: a, analyse: {step: s}}
result: {use: a, table: {name: t, style: pretty, column: [energy_quality]}}
)");
  const auto run = here_.bench({"run", "m.yaml", "-r", "--power-source", "mock:constant=100W"});
  EXPECT_THAT(run.standard_output, HasSubstr("too short: 1 row, workpackage 0: for an energy"));
}

}  // namespace
}  // namespace bench::end_to_end
