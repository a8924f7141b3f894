// What the shipped benchmarks refuse to do on machines.
#include "bench_program.hpp"
#include "shipped_benchmark.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

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
        RefusedCase{"GptOnTwoNumbersOfNodes",
                    "llm_training",
                    {"JEDI", "synthetic", "2nodes", "4nodes"},
                    "not (2nodes and (4nodes or 8nodes or 16nodes or 32nodes or 44nodes))"},
        RefusedCase{"GptOnMoreNodesThanTheMachineHas",
                    "llm_training",
                    {"H100", "synthetic", "800M", "2nodes"},
                    "H100 has 1 nodes, not 2"},
        RefusedCase{"GptOnAPartOfTheNodesThatACopyNeeds",
                    "llm_training",
                    {"A100", "synthetic", "175B", "44nodes"},
                    "each copy of 175B needs 32 nodes, of which 44 is not a multiple"},
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
        RefusedCase{"LlamaWithoutData",
                    "llama",
                    {"JEDI"},
                    "BENCH_TOKEN_DATA: set it to the PREFIX of a corpus, or give the tag "
                    "synthetic"},
        RefusedCase{
            "LlamaOfTwoSizes", "llama", {"JEDI", "synthetic", "8B", "70B"}, "not (8B and 70B)"},
        RefusedCase{"LlamaOnMoreNodesThanThereAre",
                    "llama",
                    {"WAIH100", "synthetic", "405B"},
                    "405B is shared by 168 devices, 4 on a node; WAIH100 has 16 nodes"},
        RefusedCase{"LlamaThatDevicesCannotHold",
                    "llama",
                    {"ABCI", "synthetic", "1B"},
                    "1B needs devices of 40 GB; ABCI has 16.0 GB"},
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
        RefusedCase{"VolumesWithoutData",
                    "cosmoflow",
                    {"JEDI"},
                    "BENCH_COSMOFLOW_DATA: set it to the folder of a data set, or give the tag "
                    "non_io"},
        RefusedCase{"VolumesOfOneBatchToTheTarget",
                    "cosmoflow",
                    {"JEDI", "non_io", "target"},
                    "not (target and non_io)"},
        RefusedCase{"WeatherOnIpus", "deepcam", {"GC200", "non_io"}, "not GC200"},
        RefusedCase{"Ap1OnIpus", "ap1", {"GC200"}, "not GC200"},
        RefusedCase{"Ap2OnIpus", "ap2", {"GC200"}, "not GC200"},
        RefusedCase{"Ap3OnIpus", "ap3", {"JURECA-IPU"}, "not GC200"},
        RefusedCase{"Ap4OnIpus", "ap4", {"GC200"}, "not GC200"},
        RefusedCase{"Ap5OnIpus", "ap5", {"GC200"}, "not GC200"},
        RefusedCase{"Ap6OnIpus", "ap6", {"GC200"}, "not GC200"},
        RefusedCase{"Ap3InferenceOnIpus", "ap_inference", {"GC200"}, "not GC200"},
        RefusedCase{"SizesWithoutData",
                    "scaling",
                    {"JEDI", "gpt"},
                    "BENCH_TOKEN_DATA: set it to the PREFIX of a corpus, or give the tag "
                    "synthetic"},
        RefusedCase{"EnsemblesWithoutData",
                    "ap4",
                    {"GH200", "io"},
                    "BENCH_AP4_DATA: set it to the folder of ENS-10"},
        RefusedCase{"FieldsWithoutData",
                    "atmorep",
                    {"JEDI", "io"},
                    "BENCH_ATMOREP_DATA: set it to the folder of ERA5 fields"},
        RefusedCase{"FilesOfMaelstromHere", "ap1", {"io"}, "not (local and (io or container))"},
        RefusedCase{"SizesInTwoWays",
                    "scaling",
                    {"JEDI", "synthetic", "weak", "strong"},
                    "not (weak and strong)"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace bench::end_to_end
