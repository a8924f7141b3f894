// Regions of real programs, with the real meter, up to bench's table.
#include "bench_program.hpp"
#include "support/sanitizer.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Not;

TEST(RegionsTest, TheDurationIsNoEstimateWhereTheEnergyIs) {
  const Playground here;
  const auto run = here.run("m.yaml", R"(name: m
outpath: runs
step:
  name: train
  batch: true
  energy: {interval: 20ms}
  do:
    - echo "begin epoch" >> $$BENCH_ENERGY_REGIONS; sleep 0.3; echo "end epoch" >> $$BENCH_ENERGY_REGIONS
patternset:
  name: found
  pattern: {name: hours, type: float, mode: python, _: $duration_region_epoch_s / 3600}
analyser: {name: output, use: found, analyse: {step: train, file: stdout}}
result:
  use: output
  table: {name: t, style: pretty, column: [energy_region_epoch_wh, power_region_epoch_w, duration_region_epoch_s, hours, duration_s]}
)",
                            {"-r", "--power-source", "model:cpu=5W..65W"});
  EXPECT_THAT(run.standard_output,
              HasSubstr("| energy_region_epoch_wh[Wh] (estimated) | power_region_epoch_w[W] "
                        "(estimated) | duration_region_epoch_s[s] |"));
  EXPECT_THAT(run.standard_output, ContainsRegex(" hours [|] duration_s.s. [|]\n"));
  EXPECT_THAT(run.standard_output, HasSubstr("\n(estimated) in energy_region_epoch_wh, "
                                             "power_region_epoch_w: from a model"));
  EXPECT_THAT(run.standard_output, Not(HasSubstr("n/a")));
}

// Two GPUs of 250 W, beside CPUs.
TEST(RegionsTest, DevicesHaveTheirOwnColumns) {
  const Playground here;
  const auto run = here.run("m.yaml", R"(name: m
outpath: runs
step:
  name: train
  batch: true
  energy: {methods: "nvml,model:cpu=5W..65W", interval: 20ms}
  do:
    - echo "begin epoch" >> $$BENCH_ENERGY_REGIONS; sleep 0.5; echo "end epoch" >> $$BENCH_ENERGY_REGIONS
patternset:
  name: found
  pattern:
    - {name: devices_w, type: float, mode: python, _: $energy_devices_region_epoch_wh * 3600 / $duration_region_epoch_s}
    - {name: cpu_w, type: float, mode: python, _: $power_region_epoch_w - $devices_w}
    - {name: counter_share, type: float, mode: python, _: $energy_devices_counter_wh / $energy_devices_wh}
    - {name: integrated_share, type: float, mode: python, _: $energy_devices_integrated_wh / $energy_devices_wh}
analyser: {name: output, use: found, analyse: {step: train, file: stdout}}
result:
  use: output
  table: {name: t, style: csv, column: [devices_w, cpu_w, counter_share, integrated_share]}
)",
                            {"--strict", "-r"}, 0,
                            {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}, {"FAKE_NVML_DEVICES", "2"}});
  const auto lines = split(run.standard_output, "\n");
  const auto heading = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("devices_w"); });
  ASSERT_NE(heading, lines.end()) << run.standard_output;
  std::vector<double> values;
  for (const std::string& cell : split(*std::next(heading), ","))
    values.push_back(parse_number(cell).value_or(-1));
  EXPECT_THAT(values, ElementsAre(DoubleNear(500, 25), AllOf(Ge(4), Le(90)), DoubleNear(1, 0.2),
                                  DoubleNear(1, 0.2)));
}

/// Training marks its regions as it goes, so that a long epoch loses none of them, also where it
/// does not get to its end. Here it ends when the meter has marks of a batch.
TEST(RegionsTest, OfTrainingAreTheMetersWhileItRuns) {
  if (!std::filesystem::exists(std::filesystem::path(BENCH_PROGRAM).parent_path() / "steps/vision"))
    GTEST_SKIP() << "built without the step programs";
  if (support::hides_openmp)
    GTEST_SKIP() << "ThreadSanitizer does not see OpenMP's threads, which this needs";
  const Playground here;
  const auto run = here.run("m.yaml", R"(name: m
outpath: runs
step:
  name: train
  batch: true
  energy: {methods: "mock:constant=100W", interval: 10ms}
  do: |
    vision --model resnet18 --image-size 32 --batch-size 2 --threads 1 --device cpu --steps 1000000 --warmup 1 &
    until grep -q "^end.* batch" regions.log; do kill -0 $$!; sleep 0.05; done
    ! grep -q "^end.* epoch" regions.log && echo marks=early
    kill -TERM $$!
    wait $$! || true
analyser: {name: output, analyse: {step: train, file: stdout}}
result:
  use: output
  table: {name: t, style: csv, column: [power_region_batch_w, power_region_forward_w, power_region_epoch_w]}
)",
                            {"-r"});
  const std::string work = "runs/000000/000000_train/work/";
  EXPECT_THAT(here.read(work + "stdout"), HasSubstr("marks=early\n"));
  EXPECT_THAT(run.standard_output, ContainsRegex("\n(99\\.9|100)[0-9.]*,(99\\.9|100)[0-9.]*,"
                                                 "(99\\.9|100)[0-9.]*\n"));
}

}  // namespace
}  // namespace bench::end_to_end
