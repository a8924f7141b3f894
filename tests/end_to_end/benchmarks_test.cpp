// The benchmarks that are shipped: their small size runs here with the real programs, and what they
// do on IPUs with a stand-in for the site's program.
#include "bench_program.hpp"
#include "support/sanitizer.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// The file of a benchmark that is shipped.
std::string benchmark(const std::string& name) {
  return (fs::path(BENCHMARKS_DIRECTORY) / (name + ".yaml")).string();
}

/// What the small size of a benchmark must show.
struct LocalCase {
  std::string name;
  std::vector<std::string> tags;
  std::string program;
  std::size_t rows;
  std::string rate;  ///< Heading of a column that must have a positive number in every row.
  std::string energy = "Wh/device of the epoch";  ///< Heading of the first column with energy.
  std::string step = "train";
};
class LocalBenchmarkTest : public testing::TestWithParam<LocalCase> {};

bool has_program(const std::string& name) {
  return fs::exists(fs::path(BENCH_PROGRAM).parent_path() / "steps" / name);
}

/// The table of a run of the small size, heading first; empty if it failed.
std::vector<std::vector<std::string>> table_of(const Playground& here, const std::string& name,
                                               const std::vector<std::string>& tags,
                                               const Environment& environment = {},
                                               const std::string& source = "model:cpu=5W..65W") {
  std::vector<std::string> arguments{"run",  benchmark(name), "--strict",       "--outpath",
                                     "runs", "--result",      "--power-source", source};
  if (!tags.empty())
    arguments.emplace_back("--tag");
  arguments.insert(arguments.end(), tags.begin(), tags.end());
  const auto run = here.bench(arguments, environment);
  EXPECT_EQ(run.status.code, 0) << run.standard_error << run.standard_output;
  EXPECT_THAT(run.standard_output, Not(HasSubstr("n/a")));
  std::vector<std::vector<std::string>> rows;
  const auto csv = here.bench({"result", "runs", "-s", "csv"});
  for (const std::string& line : split_names(csv.standard_output, "\n"))
    rows.push_back(split(line, ","));
  return rows;
}

/// The numbers below the heading that begins so.
std::vector<double> numbers(const std::vector<std::vector<std::string>>& table,
                            const std::string& heading) {
  const auto column = std::ranges::find_if(
      table.at(0), [&](const std::string& name) { return name.starts_with(heading); });
  EXPECT_NE(column, table[0].end()) << heading;
  std::vector<double> found;
  for (std::size_t row = 1; row < table.size(); ++row)
    found.push_back(std::stod(table[row].at(static_cast<std::size_t>(column - table[0].begin()))));
  return found;
}

TEST_P(LocalBenchmarkTest, FillsEveryRowOfItsTable) {
  if (!has_program(GetParam().program))
    GTEST_SKIP() << "built without the step programs";
  if (support::hides_openmp)
    GTEST_SKIP() << "ThreadSanitizer does not see OpenMP's threads, which this needs";
  const Playground here;
  const auto table = table_of(here, GetParam().name, GetParam().tags);
  ASSERT_THAT(table, SizeIs(GetParam().rows + 1));
  EXPECT_THAT(numbers(table, GetParam().rate), Each(Gt(0)));
  for (std::size_t row = 1; row < table.size(); ++row)
    EXPECT_EQ(table[row].back(), "ok");

  // Analysed as if there had been no meter, what energy is in is absent, and says why.
  for (std::size_t row = 0; row < GetParam().rows; ++row)
    here.write(fmt::format("runs/000000/{:06}_{}/work/energy.txt", row, GetParam().step),
               "duration_s=1.5\nenergy_absent=nvml: no NVIDIA driver\n");
  const auto analysed = here.bench({"result", "runs", "--analyse", "--strict"});
  EXPECT_EQ(analysed.status.code, 0) << analysed.standard_error;
  EXPECT_EQ(analysed.standard_error, "");
  EXPECT_THAT(analysed.standard_output, HasSubstr("n/a in " + GetParam().energy + ", "));
  EXPECT_THAT(analysed.standard_output, HasSubstr(": nvml: no NVIDIA driver"));
  EXPECT_THAT(analysed.standard_output, Not(HasSubstr("nan")));
}

INSTANTIATE_TEST_SUITE_P(
    Benchmarks, LocalBenchmarkTest,
    testing::Values(
        LocalCase{"llm_training", {}, "gpt", 3, "Tokens/second"},
        LocalCase{"llama", {}, "llama", 3, "Tokens/second"},
        LocalCase{
            "llm_inference", {}, "llama", 3, "Decode tokens/second", "Prefill energy", "generate"},
        LocalCase{"image_classification", {}, "vision", 3, "Images/second"},
        LocalCase{"scaling", {"gpt", "strong"}, "gpt", 2, "Tokens/second"},
        LocalCase{"ap1", {}, "ap1", 2, "Performance non-first epoch", "Total energy"},
        LocalCase{"ap2", {}, "ap2", 2, "Tokens/second", "GPU energy"},
        LocalCase{"ap3", {}, "ap3", 2, "Non-first epoch Performance", "Max. aggregate Power"},
        LocalCase{"ap4", {}, "ap4", 2, "performance", "Max aggregate power"},
        LocalCase{"ap5", {}, "ap5", 2, "performance", "Integrated Total Energy"},
        LocalCase{"ap6", {}, "ap6", 2, "performance", "Integrated total energy"},
        LocalCase{"ap_inference",
                  {},
                  "ap3",
                  2,
                  "Total inference time",
                  "Integrated Total Energy",
                  "infer"},
        LocalCase{"atmorep", {}, "atmorep", 4, "Efficiency", "Max aggregate power"},
        LocalCase{"cosmoflow", {}, "cosmoflow", 2, "Time to solution"},
        LocalCase{"deepcam", {}, "deepcam", 2, "Time to solution"}),
    [](const auto& instance) { return instance.param.name; });

/// GC200 without its batch system, so that its commands run here.
class GraphcoreBenchmarkTest : public testing::Test {
 protected:
  GraphcoreBenchmarkTest() {
    for (const char* folder : {"templates", "examples"})
      fs::create_symlink(fs::path(BENCHMARKS_DIRECTORY).parent_path() / folder,
                         here_.path() / folder);
    here_.write("platforms/GC200.yaml",
                "name: GC200\ndescription: four IPUs\nscheduler: none\ntemplate: local.job\n"
                "machine: {source: a test, nodes: 1, modules_per_node: 4, devices_per_node: 4}\n");
  }
  std::vector<std::vector<std::string>> table_of(const std::string& name,
                                                 const std::vector<std::string>& tags,
                                                 const std::string& variable,
                                                 const std::string& program) const {
    here_.write("ipu", program);
    return end_to_end::table_of(here_, name, tags,
                                {{"BENCH_DATA", here_.path().string()},
                                 {"SLURM_JOB_ID", "7"},
                                 {"SLURM_JOB_PARTITION", "pod"},
                                 {"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},  // a device
                                 {variable, "sh " + (here_.path() / "ipu").string()}},
                                "nvml");
  }

 private:
  Playground here_;
};

TEST_F(GraphcoreBenchmarkTest, CountsTokensOfTheModelThatItTrains) {
  const auto table =
      table_of("llm_training", {"GC200", "short", "synthetic"}, "BENCH_IPU_GPT",
               "test \"$*\" = '4 256 synthetic' && sleep 0.5 && echo 'step_time: 11.17 s'\n");
  ASSERT_THAT(table, SizeIs(2));
  EXPECT_THAT(numbers(table, "PipelineParallel"), ElementsAre(4));
  EXPECT_THAT(numbers(table, "DataParallel"), ElementsAre(1));
  EXPECT_THAT(numbers(table, "Devices"), ElementsAre(4));
  constexpr double printed_digits = 0.1;
  EXPECT_THAT(numbers(table, "Tokens/second"),
              ElementsAre(DoubleNear(256 * 1024 / 11.17, printed_digits)));
  EXPECT_THAT(numbers(table, "Tokens/Wh of the command"), Each(Gt(0)));
}

TEST_F(GraphcoreBenchmarkTest, RunsOnEachNumberOfDevices) {
  const auto table = table_of("image_classification", {"GC200", "synthetic"}, "BENCH_IPU_RESNET",
                              "sleep 0.2; echo \"throughput: $1.0 images/s\"\n");
  constexpr std::size_t batches = 9;  // 16 to 4096, as CARAML's Table III
  ASSERT_THAT(table, SizeIs(1 + 3 * batches));
  EXPECT_EQ(numbers(table, "GlobalBatchSize").at(batches - 1), 4096);
  EXPECT_EQ(numbers(table, "Images/second"), numbers(table, "Devices"));
  EXPECT_THAT(numbers(table, "Images/Wh of the command"), Each(Gt(0)));
}

TEST_F(GraphcoreBenchmarkTest, ScalesAModelByWholeCopies) {
  const auto table = table_of("scaling", {"GC200", "gpt", "synthetic"}, "BENCH_IPU_SCALING",
                              "sleep 0.2; echo \"throughput: $2.0 sequences/s\"\n");
  ASSERT_THAT(table, SizeIs(2));
  EXPECT_THAT(numbers(table, "Devices"), ElementsAre(4));
  EXPECT_THAT(numbers(table, "Tokens/second"), ElementsAre(64 * 1024));
  EXPECT_THAT(numbers(table, "efficiency of the rate"), ElementsAre(1));
}

// A stand-in for Apptainer notes its arguments.
TEST(ContainerBenchmarkTest, MountsTheWorkDirectoryAndTheData) {
  const Playground here;
  const std::string root = here.path().string();
  here.write("of ap1/a.nc", "");
  here.write("apptainer", "printf '%s\\n' \"$@\" > arguments\n");
  here.write("pod.yaml",
             "name: pod\ndescription: one device\nscheduler: none\ntemplate: local.job\n"
             "container: sh " +
                 root +
                 "/apptainer exec\n"
                 "machine: {source: a test, nodes: 1, modules_per_node: 1, devices_per_node: 1}\n");
  const auto run = here.bench({"run", benchmark("ap1"), "--outpath", "runs", "--platform",
                               "./pod.yaml", "--tag", "io", "container"},
                              {{"BENCH_AP1_DATA", root + "/of ap1/*.nc"},
                               {"BENCH_CONTAINER", "/images/bench.sif"},
                               {"BENCH_CONTAINER_BIND", "/zz/software,/zz/scratch"}});
  ASSERT_EQ(run.status.code, 0) << run.standard_error;
  const std::string work = "runs/000000/000000_train/work";
  EXPECT_THAT(
      split_names(here.read(work + "/arguments"), "\n"),
      ElementsAre("exec", "--bind=" + root + "/" + work, "--bind=" + root + "/of ap1",
                  "--bind=/zz/scratch", "--bind=/zz/software", "/images/bench.sif", "ap1",
                  "--batch-size", "32", "--epochs", "3", "--data-path", root + "/of ap1/*.nc"));
}

TEST(ScalingBenchmarkTest, ComparesEachSizeWithTheSmallest) {
  if (!has_program("vision"))
    GTEST_SKIP() << "built without the step programs";
  const Playground here;
  const auto table = table_of(here, "scaling", {});
  ASSERT_THAT(table, SizeIs(3));
  EXPECT_THAT(numbers(table, "Devices"), ElementsAre(1, 2));
  EXPECT_THAT(numbers(table, "GlobalBatchSize"), ElementsAre(8, 16));
  constexpr double printed_digits = 0.01;
  const auto step_s = numbers(table, "median step");
  EXPECT_THAT(numbers(table, "efficiency of a step"),
              ElementsAre(1, DoubleNear(step_s[0] / step_s[1], printed_digits)));
  const auto per_device = numbers(table, "per device");
  EXPECT_THAT(numbers(table, "efficiency of the rate"),
              ElementsAre(1, DoubleNear(per_device[1] / per_device[0], printed_digits)));
  const auto epoch_min = numbers(table, "with validation");
  EXPECT_THAT(numbers(table, "efficiency of the epoch"),
              ElementsAre(1, DoubleNear(epoch_min[0] / epoch_min[1] / 2, printed_digits)));
  const auto low_s = numbers(table, "5 %");
  const auto high_s = numbers(table, "95 %");
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_GT(numbers(table, "with validation")[row], numbers(table, "1281167 images")[row]);
    EXPECT_LE(low_s[row], high_s[row]);
    const auto shares = here.read(fmt::format("runs/000000/{:06}_train/work/batch_cdf.csv", row));
    EXPECT_THAT(split_names(shares, "\n"), SizeIs(8)) << "ten steps, less the first and the last";
  }

  // One that printed nothing has no figures of another's.
  here.write("runs/000000/000001_train/work/stdout", "");
  EXPECT_EQ(here.bench({"analyse", "runs"}).status.code, 0);
  EXPECT_THAT(here.bench({"result", "runs", "-s", "csv"}).standard_output,
              HasSubstr(",resnet18,fp32,weak,synthetic,1,2,16,,,,,,,,,,,"));
}

}  // namespace
}  // namespace bench::end_to_end
