// The benchmarks that are shipped: their small size runs here with the real programs, and on every
// machine they make job scripts.
#include "bench_program.hpp"
#include "support/sanitizer.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>

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
};
class LocalBenchmarkTest : public testing::TestWithParam<LocalCase> {};

bool has_program(const std::string& name) {
  return fs::exists(fs::path(BENCH_PROGRAM).parent_path() / "steps" / name);
}

/// The table of a run of the small size, heading first; empty if it failed.
std::vector<std::vector<std::string>> table_of(const Playground& here, const std::string& name,
                                               const std::vector<std::string>& tags,
                                               const Environment& environment = {}) {
  std::vector<std::string> arguments{
      "run",  benchmark(name), "--strict",       "--outpath",
      "runs", "--result",      "--power-source", "model:cpu=5W..65W"};
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
    here.write(fmt::format("runs/000000/{:06}_train/work/energy.txt", row),
               "duration_s=1.5\nenergy_absent=nvml: no NVIDIA driver\n");
  const auto analysed = here.bench({"result", "runs", "--analyse", "--strict"});
  EXPECT_EQ(analysed.status.code, 0) << analysed.standard_error;
  EXPECT_EQ(analysed.standard_error, "");
  EXPECT_THAT(analysed.standard_output, HasSubstr("/Wh"));
  EXPECT_THAT(analysed.standard_output, HasSubstr("n/a in Wh/device, "));
  EXPECT_THAT(analysed.standard_output, HasSubstr(": nvml: no NVIDIA driver"));
  EXPECT_THAT(analysed.standard_output, Not(HasSubstr("nan")));
}

INSTANTIATE_TEST_SUITE_P(
    Benchmarks, LocalBenchmarkTest,
    testing::Values(LocalCase{"llm_training", {}, "gpt", 3, "Tokens/second"},
                    LocalCase{"image_classification", {}, "vision", 3, "Images/second"},
                    LocalCase{"scaling", {"gpt", "strong"}, "gpt", 2, "Tokens/second"}),
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
                                 {variable, "sh " + (here_.path() / "ipu").string()}});
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
  EXPECT_THAT(numbers(table, "Tokens/Wh"), Each(Gt(0)));
}

TEST_F(GraphcoreBenchmarkTest, RunsOnEachNumberOfDevices) {
  const auto table = table_of("image_classification", {"GC200", "synthetic"}, "BENCH_IPU_RESNET",
                              "sleep 0.2; echo \"throughput: $1.0 images/s\"\n");
  constexpr std::size_t batches = 9;  // 16 to 4096, as CARAML's Table III
  ASSERT_THAT(table, SizeIs(1 + 3 * batches));
  EXPECT_EQ(numbers(table, "GlobalBatchSize").at(batches - 1), 4096);
  EXPECT_EQ(numbers(table, "Images/second"), numbers(table, "Devices"));
  EXPECT_THAT(numbers(table, "Images/Wh"), Each(Gt(0)));
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
    EXPECT_GT(numbers(table, "with validation")[row], numbers(table, "ImageNet epoch")[row]);
    EXPECT_LE(low_s[row], high_s[row]);
    const auto shares = here.read(fmt::format("runs/000000/{:06}_train/work/batch_cdf.csv", row));
    EXPECT_THAT(split_names(shares, "\n"), SizeIs(8)) << "ten steps, less the first and the last";
  }

  // One that printed nothing has no figures of another's.
  here.write("runs/000000/000001_train/work/stdout", "");
  EXPECT_EQ(here.bench({"analyse", "runs"}).status.code, 0);
  EXPECT_THAT(here.bench({"result", "runs", "-s", "csv"}).standard_output,
              HasSubstr(",resnet18,fp32,weak,synthetic,1,2,16,,,,nan,nan,,nan,nan,nan,nan,"));
}

/// What a benchmark does on a machine.
struct ScriptCase {
  std::string name;
  std::string benchmark;
  std::vector<std::string> tags;
  std::vector<std::string> expected;  ///< Texts in the job scripts.
};
class BenchmarkScriptTest : public testing::TestWithParam<ScriptCase> {};

TEST_P(BenchmarkScriptTest, AsksForTheMachineAndRunsTheProgram) {
  const Playground here;
  std::vector<std::string> arguments{"run",       benchmark(GetParam().benchmark),
                                     "--dry-run", "--all",
                                     "--strict",  "--account",
                                     "project",   "--tag"};
  arguments.insert(arguments.end(), GetParam().tags.begin(), GetParam().tags.end());
  const auto run = here.bench(arguments, {{"BENCH_TOKEN_DATA", "/data/oscar"},
                                          {"BENCH_IMAGE_DATA", "/data/imagenet"},
                                          {"BENCH_CONTAINER", "/images/gpt.sif"}});
  ASSERT_EQ(run.status.code, 0) << run.standard_error;
  for (const std::string& text : GetParam().expected)
    EXPECT_THAT(run.standard_output, HasSubstr(text));
}

INSTANTIATE_TEST_SUITE_P(
    Machines, BenchmarkScriptTest,
    testing::Values(
        ScriptCase{"GptOnAllDevices",
                   "llm_training",
                   {"JEDI", "short", "synthetic"},
                   {"#SBATCH --ntasks-per-node=4", "-- gpt --model 800M --precision fp16",
                    "--global-batch-size 256", "--peak-tflops 990 --steps 20"}},
        ScriptCase{"GptSharedByANode",
                   "llm_training",
                   {"JEDI", "13B", "short", "synthetic"},
                   {"#SBATCH --nodes=1", "gpt --model 13B --precision fp16 --micro-batch-size 2",
                    "--global-batch-size 128 --tensor-parallel 2 --pipeline-parallel 2 "
                    "--recompute selective"}},
        ScriptCase{"GptThatNeedsMoreOfSmallDevices",
                   "llm_training",
                   {"A100", "13B", "short", "synthetic"},
                   {"#SBATCH --nodes=2", "gpt --model 13B --precision fp16 --micro-batch-size 2",
                    "--global-batch-size 128 --tensor-parallel 4 --pipeline-parallel 2 "
                    "--recompute full"}},
        ScriptCase{"GptSharedByManyNodes",
                   "llm_training",
                   {"JEDI", "175B", "short", "synthetic"},
                   {"#SBATCH --nodes=16", "gpt --model 175B --precision bf16",
                    "--global-batch-size 128 --tensor-parallel 8 --pipeline-parallel 8"}},
        ScriptCase{"GptOnOneDevice",
                   "llm_training",
                   {"A100", "117M", "bf16", "one_device", "short", "synthetic"},
                   {"#SBATCH --ntasks-per-node=1", "gpt --model 117M --precision bf16"}},
        ScriptCase{"GptOnHalvesOfModules",
                   "llm_training",
                   {"MI250", "24x1024", "short", "synthetic"},
                   {"#SBATCH --ntasks-per-node=8", "gpt --model 24x1024", "--peak-tflops 181.05"}},
        ScriptCase{"GptOfGraphcore",
                   "llm_training",
                   {"GC200", "synthetic"},
                   {"#SBATCH --ntasks-per-node=1", "bench-energy --method gcipu",
                    "model=117M sequence=1024", "pipeline_parallel=4", "data_parallel=1",
                    "-- ${BENCH_IPU_GPT:?} 4 64 ", "-- ${BENCH_IPU_GPT:?} 4 16384 "}},
        ScriptCase{"GptOnTheTokensOfACorpus",
                   "llm_training",
                   {"JEDI", "short"},
                   {"data=/data/oscar ", "--warmup 5 --data-path '\\''/data/oscar'\\''"}},
        ScriptCase{"GptInAContainer",
                   "llm_training",
                   {"MI250", "short", "synthetic", "container"},
                   {"-- apptainer exec --rocm /images/gpt.sif gpt --model 800M"}},
        ScriptCase{"GptOfGraphcoreInAContainer",
                   "llm_training",
                   {"GC200", "short", "synthetic", "container"},
                   {"-- apptainer exec /images/gpt.sif ${BENCH_IPU_GPT:?} 4 256 "}},
        ScriptCase{"ImagesOnNumbersOfDevices",
                   "image_classification",
                   {"GH200", "synthetic"},
                   {"-- vision --model resnet50_v2 --classes 1001 --precision fp16",
                    "--global-batch-size 2048"}},
        ScriptCase{
            "ImagesInFp32",
            "image_classification",
            {"MI250", "vgg16", "fp32", "synthetic"},
            {"#SBATCH --ntasks-per-node=8", "--model vgg16 --classes 1001 --precision fp32"}},
        ScriptCase{"SizesOfWholeNodes",
                   "scaling",
                   {"JEDI", "vision", "weak", "amp", "synthetic"},
                   {"srun --nodes=1 --ntasks=4", "srun --nodes=32 --ntasks=128",
                    "vision --model resnet50 --precision fp16 --global-batch-size 65536"}},
        ScriptCase{
            "SizesThatTheMachineHas",
            "scaling",
            {"MI250", "gpt", "fp32", "synthetic"},
            {"| train |            2 |    2 |", "srun --nodes=2 --ntasks=16", "gpt --model 24x1024",
             "--precision fp32 --micro-batch-size 1 --global-batch-size 256"}},
        ScriptCase{"SizesWithinANode",
                   "scaling",
                   {"H100", "gpt", "strong", "synthetic"},
                   {"srun --nodes=1 --ntasks=1", "srun --nodes=1 --ntasks=4",
                    "--micro-batch-size 1 --global-batch-size 512"}},
        ScriptCase{"SizesOfGraphcore",
                   "scaling",
                   {"GC200", "strong", "synthetic"},
                   {"-- ${BENCH_IPU_SCALING:?} 1 128", "-- ${BENCH_IPU_SCALING:?} 4 128"}},
        ScriptCase{"ImagesOfGraphcore",
                   "image_classification",
                   {"GC200", "synthetic"},
                   {"-- ${BENCH_IPU_RESNET:?} 1 16 ", "-- ${BENCH_IPU_RESNET:?} 4 4096 "}},
        ScriptCase{"ImagesOfADataSet",
                   "image_classification",
                   {"JEDI"},
                   {"--steps 100 --warmup 10 --data-path '\\''/data/imagenet'\\''"}},
        ScriptCase{"ImagesInAContainer",
                   "image_classification",
                   {"JEDI", "resnet50", "synthetic", "container"},
                   {"-- apptainer exec --nv /images/gpt.sif vision --model resnet50 "}},
        ScriptCase{"SizesOnADataSet",
                   "scaling",
                   {"JEDI", "short"},
                   {"--timings timings.csv --data-path '\\''/data/imagenet'\\''"}},
        ScriptCase{"SizesOnACorpus",
                   "scaling",
                   {"JEDI", "gpt", "short", "container"},
                   {"-- apptainer exec --nv /images/gpt.sif gpt --model 24x1024",
                    "--timings timings.csv --data-path '\\''/data/oscar'\\''"}}),
    [](const auto& instance) { return instance.param.name; });

/// What a benchmark refuses to do on a machine.
struct RefusedCase {
  std::string name;
  std::string benchmark;
  std::vector<std::string> tags;
  std::string expected;  ///< A text in the message.
};
class RefusedBenchmarkTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedBenchmarkTest, SaysWhyAndWritesNoScript) {
  const Playground here;
  std::vector<std::string> arguments{"run", benchmark(GetParam().benchmark), "--dry-run", "--tag"};
  arguments.insert(arguments.end(), GetParam().tags.begin(), GetParam().tags.end());
  const auto run = here.bench(arguments);
  EXPECT_EQ(run.status.code, 1) << run.standard_output;
  EXPECT_THAT(run.standard_error, HasSubstr(GetParam().expected));
  EXPECT_THAT(run.standard_output, Not(HasSubstr("#SBATCH")));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, RefusedBenchmarkTest,
    testing::Values(
        RefusedCase{"GptWithoutData",
                    "llm_training",
                    {"JEDI"},
                    "BENCH_TOKEN_DATA: set it to the PREFIX of a corpus, or give the tag "
                    "synthetic"},
        RefusedCase{"GptOfTwoSizes",
                    "llm_training",
                    {"JEDI", "synthetic", "800M", "117M"},
                    "not (117M and 800M)"},
        RefusedCase{"GptSharedByOneDevice",
                    "llm_training",
                    {"JEDI", "synthetic", "13B", "one_device"},
                    "not (one_device and (13B or 175B))"},
        RefusedCase{"GptOnMoreNodesThanThereAre",
                    "llm_training",
                    {"H100", "synthetic", "175B"},
                    "175B is shared by 64 devices, 4 on a node; H100 has 1 nodes"},
        RefusedCase{"GptThatDevicesCannotHold",
                    "llm_training",
                    {"ABCI", "synthetic", "13B"},
                    "13B needs devices of 40 GB; ABCI has 16.0 GB"},
        RefusedCase{"GptOfGraphcoreInAnotherSize",
                    "llm_training",
                    {"GC200", "synthetic", "800M"},
                    "not (GC200 and (24x1024 or 800M or 13B or 175B))"},
        RefusedCase{"GptInAContainerHere",
                    "llm_training",
                    {"container"},
                    "not (local and (bf16 or container))"},
        RefusedCase{"ImagesWithoutData",
                    "image_classification",
                    {"JEDI"},
                    "BENCH_IMAGE_DATA: set it to the folder of a data set, or give the tag "
                    "synthetic"},
        RefusedCase{"ImagesForTwoNetworks",
                    "image_classification",
                    {"JEDI", "synthetic", "vgg16", "alexnet"},
                    "not (vgg16 and alexnet)"},
        RefusedCase{"ImagesOfGraphcoreForAnotherNetwork",
                    "image_classification",
                    {"GC200", "synthetic", "vgg16"},
                    "not (GC200 and (resnet50_v2 or inception3 or vgg16 or alexnet or fp32))"},
        RefusedCase{"ImagesWhereNobodyTellsOfContainers",
                    "image_classification",
                    {"slurm", "synthetic", "container"},
                    "platform slurm tells no container"},
        RefusedCase{"SizesWithoutData",
                    "scaling",
                    {"JEDI", "gpt"},
                    "BENCH_TOKEN_DATA: set it to the PREFIX of a corpus, or give the tag "
                    "synthetic"},
        RefusedCase{"SizesInTwoWays",
                    "scaling",
                    {"JEDI", "synthetic", "weak", "strong"},
                    "not (weak and strong)"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace bench::end_to_end
