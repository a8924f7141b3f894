// The benchmarks that are shipped: their small size runs here with the real programs, and on every
// machine they make job scripts.
#include "bench_program.hpp"

#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string benchmark(const std::string& name) {
  return (fs::path(BENCHMARKS_DIRECTORY) / (name + ".yaml")).string();
}

/// What the small size of a benchmark must show.
struct LocalCase {
  std::string name;
  std::string program;
  std::size_t rows;
  std::string rate;  ///< Heading of a column that must have a positive number in every row.
};
class LocalBenchmarkTest : public testing::TestWithParam<LocalCase> {};

TEST_P(LocalBenchmarkTest, FillsEveryRowOfItsTable) {
  if (!fs::exists(fs::path(BENCH_PROGRAM).parent_path() / "steps" / GetParam().program))
    GTEST_SKIP() << "built without the step programs";
  const Playground here;
  const auto run = here.bench({"run", benchmark(GetParam().name), "--strict", "--outpath", "runs",
                               "--result", "--power-source", "model:cpu=65W"});
  ASSERT_EQ(run.status.code, 0) << run.standard_error << run.standard_output;
  EXPECT_THAT(run.standard_output, Not(HasSubstr("n/a")));
  const auto csv = here.bench({"result", "runs", "-s", "csv"});
  const auto lines = split_names(csv.standard_output, "\n");
  ASSERT_THAT(lines, SizeIs(GetParam().rows + 1));
  const auto headings = split(lines[0], ",");
  const auto rate = std::ranges::find_if(
      headings, [](const std::string& heading) { return heading.starts_with(GetParam().rate); });
  ASSERT_NE(rate, headings.end()) << lines[0];
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const auto cells = split(lines[row], ",");
    EXPECT_GT(std::stod(cells.at(static_cast<std::size_t>(rate - headings.begin()))), 0);
    EXPECT_EQ(cells.back(), "ok") << lines[row];
  }
}

INSTANTIATE_TEST_SUITE_P(Benchmarks, LocalBenchmarkTest,
                         testing::Values(LocalCase{"llm_training", "gpt", 3, "Tokens/second"},
                                         LocalCase{"image_classification", "vision", 3,
                                                   "Images/second"}),
                         [](const auto& instance) { return instance.param.name; });

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
  std::vector<std::string> arguments{
      "run",  benchmark(GetParam().benchmark), "--dry-run", "--strict", "--account", "project",
      "--tag"};
  arguments.insert(arguments.end(), GetParam().tags.begin(), GetParam().tags.end());
  const auto run = here.bench(arguments);
  ASSERT_EQ(run.status.code, 0) << run.standard_error;
  for (const std::string& text : GetParam().expected)
    EXPECT_THAT(run.standard_output, HasSubstr(text));
}

INSTANTIATE_TEST_SUITE_P(
    Machines, BenchmarkScriptTest,
    testing::Values(
        ScriptCase{"GptOnAllDevices",
                   "llm_training",
                   {"JEDI", "short"},
                   {"#SBATCH --ntasks-per-node=4", "gpt --model 800M --precision fp16",
                    "--global-batch-size 256", "--peak-tflops 990 --steps 20"}},
        ScriptCase{"GptSharedByANode",
                   "llm_training",
                   {"JEDI", "13B", "short"},
                   {"#SBATCH --nodes=1", "gpt --model 13B --precision fp16 --micro-batch-size 2",
                    "--global-batch-size 128 --tensor-parallel 2 --pipeline-parallel 2"}},
        ScriptCase{"GptSharedByManyNodes",
                   "llm_training",
                   {"GH200", "175B", "short"},
                   {"#SBATCH --nodes=64", "gpt --model 175B --precision bf16",
                    "--global-batch-size 128 --tensor-parallel 8 --pipeline-parallel 8"}},
        ScriptCase{"GptOnOneDevice",
                   "llm_training",
                   {"A100", "117M", "bf16", "one_device", "short"},
                   {"#SBATCH --ntasks-per-node=1", "gpt --model 117M --precision bf16"}},
        ScriptCase{"GptOnHalvesOfModules",
                   "llm_training",
                   {"MI250", "24x1024", "short"},
                   {"#SBATCH --ntasks-per-node=8", "gpt --model 24x1024", "--peak-tflops 181.05"}},
        ScriptCase{"GptOfGraphcore",
                   "llm_training",
                   {"GC200", "short"},
                   {"#SBATCH --ntasks-per-node=1", "bench-energy --method gcipu",
                    "-- ${BENCH_IPU_GPT:?} 256"}},
        ScriptCase{"ImagesOnNumbersOfDevices",
                   "image_classification",
                   {"GH200"},
                   {"vision --model resnet50_v2 --classes 1001 --precision fp16",
                    "--global-batch-size 2048"}},
        ScriptCase{
            "ImagesInFp32",
            "image_classification",
            {"MI250", "vgg16", "fp32"},
            {"#SBATCH --ntasks-per-node=8", "--model vgg16 --classes 1001 --precision fp32"}},
        ScriptCase{"ImagesOfGraphcore",
                   "image_classification",
                   {"GC200"},
                   {"-- ${BENCH_IPU_RESNET:?} 16"}}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace bench::end_to_end
