// What the shipped benchmarks do on machines: the job scripts that they make, and what they refuse.
#include "support/case_name.hpp"
#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/source_directory.hpp"

#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/run/cost.hpp>
#include <bench/run/input_check.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/input.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>

namespace bench::run {
namespace {

struct ShippedCase {
  std::string name;
  std::string call;                   ///< The benchmark and its tags.
  std::vector<std::string> expected;  ///< Texts of what is shown, or of the error.
};

/// The variables that name a user's data, as people set them; or none of them.
const std::vector<std::pair<std::string, std::string>> data_of_user{
    {"BENCH_TOKEN_DATA", "/data/oscar"},
    {"BENCH_IMAGE_DATA", "/data/imagenet"},
    {"BENCH_AP1_DATA", "/data/ap1/*.nc"},
    {"BENCH_AP1_VALIDATION", "/data/ap1/last.nc"},
    {"BENCH_AP3_DATA", "/data/ap3"},
    {"BENCH_AP3_VALIDATION", "/data/ap3_last"},
    {"BENCH_AP3_WEIGHTS", "/data/ap3.safetensors"},
    {"BENCH_AP4_DATA", "/data/ens10"},
    {"BENCH_AP5_DATA", "/data/ap5"},
    {"BENCH_AP5_VALIDATION", "/data/ap5_last"},
    {"BENCH_AP5_PREDICTORS", "a_in,b_in"},
    {"BENCH_AP6_DATA", "/data/era5"},
    {"BENCH_ATMOREP_DATA", "/data/era5"},
    {"BENCH_COSMOFLOW_DATA", "/data/cosmoflow"},
    {"BENCH_DEEPCAM_DATA", "/data/deepcam"},
    {"BENCH_CONTAINER", "/images/gpt.sif"}};

class ShippedBenchmarkTest : public testing::TestWithParam<ShippedCase> {
 protected:
  void set_data(bool to_that_of_user) {
    for (const auto& [name, value] : data_of_user)
      variables_.emplace_back(name, to_that_of_user ? std::optional(value) : std::nullopt);
  }

  /// What each step takes, then the parameters and the job script of each workpackage. No warning
  /// is let pass.
  static std::string shown() {
    const std::vector<std::string> words = split(GetParam().call, " ");
    const space::Request request{
        .input_file = support::source_directory() / "benchmarks" / (words.at(0) + ".yaml"),
        .tags = {words.begin() + 1, words.end()},
        .asking = {.account = "project"}};
    Diagnostics diagnostics(true);
    const space::Input input = space::read_input(request, diagnostics);
    check_input(input, diagnostics);
    space::Run run = space::plan_run(input, input.benchmarks.at(0), request);
    space::check_templates(run, diagnostics);
    std::vector<std::string> notices;
    std::string scripts;
    std::map<std::string, int> at_once;
    const std::vector<Preview> previews = preview(run, diagnostics, notices);
    for (const Preview& one : previews) {
      for (const auto& [name, value] : one.workpackage.parameters)
        scripts += name + "=" + value + " ";
      scripts += "\n" + one.script;
      at_once[one.workpackage.step] = one.at_once;
    }
    std::string text;
    for (const StepCost& cost : costs_of(run, previews))
      text += fmt::format(
          "{}: {} workpackages, {} jobs, at once {}\n", cost.step, cost.workpackages, cost.jobs,
          at_once[cost.step] == 0 ? "no limit" : fmt::format("{}", at_once[cost.step]));
    return text + scripts;
  }

 private:
  std::list<support::EnvironmentVariable> variables_ = [] {
    std::list<support::EnvironmentVariable> unset;
    for (const char* name : {"BENCH_DATA", "BENCH_PARTITION", "BENCH_ACCOUNT", "BENCH_QOS"})
      unset.emplace_back(name, std::nullopt);
    return unset;
  }();
};

TEST_P(ShippedBenchmarkTest, AsksForTheMachineAndRunsTheProgram) {
  set_data(true);
  const std::string text = shown();
  for (const std::string& expected : GetParam().expected)
    EXPECT_NE(text.find(expected), std::string::npos) << expected;
}

const std::vector<ShippedCase> scripts_on_machines{
    {"GptOnAllDevices",
     "llm_training JEDI short synthetic",
     {"#SBATCH --ntasks-per-node=4", "-- gpt --model 800M --precision fp16",
      "--global-batch-size 256", "--peak-tflops 990 --steps 20"}},
    {"GptSharedByANode",
     "llm_training JEDI 13B 1node short synthetic",
     {"#SBATCH --nodes=1", "gpt --model 13B --precision fp16 --micro-batch-size 2",
      "--global-batch-size 128 --tensor-parallel 2 --pipeline-parallel 2 --recompute selective"}},
    {"GptOnTheNodesOfCaraml",
     "llm_training JEDI 13B short synthetic",
     {"#SBATCH --nodes=44", "#SBATCH --ntasks-per-node=4", "--global-batch-size 5632 "}},
    {"GptOnAsFewNodesAsItNeedsWhereThereAreNot44",
     "llm_training WAIH100 13B short synthetic",
     {"#SBATCH --nodes=1", "--global-batch-size 128 "}},
    {"GptOnANumberOfNodes",
     "llm_training JEDI 800M 8nodes short synthetic",
     {"#SBATCH --nodes=8", "#SBATCH --ntasks-per-node=4", "--global-batch-size 256 "}},
    {"GptThatNeedsMoreOfSmallDevices",
     "llm_training A100 13B 2nodes short synthetic",
     {"#SBATCH --nodes=2", "gpt --model 13B --precision fp16 --micro-batch-size 2",
      "--global-batch-size 128 --tensor-parallel 4 --pipeline-parallel 2 --recompute full"}},
    {"GptSharedByManyNodes",
     "llm_training JEDI 175B short synthetic",
     {"#SBATCH --nodes=16", "gpt --model 175B --precision bf16",
      "--global-batch-size 128 --tensor-parallel 8 --pipeline-parallel 8"}},
    {"GptOnOneDevice",
     "llm_training A100 117M bf16 one_device short synthetic",
     {"#SBATCH --ntasks-per-node=1", "gpt --model 117M --precision bf16"}},
    {"GptOnANumberOfDevicesThatDividesNoPowerOfTwo",
     "llm_training Summit 117M synthetic",
     {"train: 9 workpackages, 9 jobs, at once no limit\n", "--global-batch-size 24 ",
      "--global-batch-size 6144 "}},
    {"GptOnHalvesOfModules",
     "llm_training MI250 24x1024 short synthetic",
     {"#SBATCH --ntasks-per-node=8", "gpt --model 24x1024", "--peak-tflops 181.05"}},
    {"GptOfGraphcore",
     "llm_training GC200 synthetic",
     {"#SBATCH --ntasks-per-node=1", "bench-energy --method gcipu",
      "workload=GPT-117M phase=train sequence=1024", "pipeline_parallel=4", "data_parallel=1",
      "-- ${BENCH_IPU_GPT:?} 4 64 ", "-- ${BENCH_IPU_GPT:?} 4 16384 "}},
    {"GptOnTheTokensOfACorpus",
     "llm_training JEDI short",
     {"data=/data/oscar ", "--warmup 5 --data-path '\\''/data/oscar'\\''"}},
    {"GptInAContainer",
     "llm_training MI250 short synthetic container",
     {"-- apptainer exec --rocm --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
      "/images/gpt.sif gpt --model 800M"}},
    {"GptOfGraphcoreInAContainer",
     "llm_training GC200 short synthetic container",
     {"-- apptainer exec --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" /images/gpt.sif "
      "${BENCH_IPU_GPT:?} 4 256 "}},
    {"LlamaOnNumbersOfNodes",
     "llama JEDI synthetic",
     {"train: 12 workpackages, 12 jobs, at once no limit\n", "#SBATCH --nodes=1",
      "#SBATCH --nodes=8", "-- llama --model 1B --precision bf16",
      "--micro-batch-size 1 --global-batch-size 64 --tensor-parallel 1 --pipeline-parallel 1 "
      "--recompute selective --peak-tflops 990 --steps 20",
      "--global-batch-size 1024 "}},
    {"LlamaSharedByANode",
     "llama JEDI 8B fp16 short",
     {"#SBATCH --nodes=1", "-- llama --model 8B --precision fp16",
      "--tensor-parallel 4 --pipeline-parallel 1 --recompute selective",
      "--data-path '\\''/data/oscar'\\''"}},
    {"LlamaThatNeedsMoreOfSmallDevices",
     "llama A100 8B short synthetic",
     {"#SBATCH --nodes=2", "--tensor-parallel 4 --pipeline-parallel 2 --recompute full"}},
    {"LlamaSharedByManyNodes",
     "llama JUPITER 405B short synthetic",
     {"#SBATCH --nodes=42", "--tensor-parallel 4 --pipeline-parallel 42 --recompute full"}},
    {"LlamaSharedByEightDevicesOfEachNode",
     "llama LUMI-G 70B short synthetic",
     {"#SBATCH --nodes=4", "#SBATCH --ntasks-per-node=8",
      "--tensor-parallel 8 --pipeline-parallel 4 --recompute full"}},
    {"LlamaOnOneDeviceInAContainer",
     "llama MI250 360M one_device synthetic container",
     {"train: 3 workpackages, 3 jobs, at once no limit\n", "#SBATCH --ntasks-per-node=1",
      "-- apptainer exec --rocm --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
      "/images/gpt.sif llama --model 360M",
      "--micro-batch-size 4 --global-batch-size 4096 "}},
    {"ImagesOnNumbersOfDevices",
     "image_classification GH200 synthetic",
     {"-- vision --model resnet50_v2 --classes 1001 --precision fp16",
      "--global-batch-size 4096 --base-learning-rate 0.128 --lr-warmup-epochs 5 --lr-decay-epochs "
      "30,60,80,90 "}},
    {"ImagesOnOneAndTwoNodes",
     "image_classification A100 synthetic",
     {"train: 72 workpackages, 72 jobs, at once no limit\n", "#SBATCH --nodes=2",
      "#SBATCH --ntasks-per-node=3", "--global-batch-size 15 ", "--global-batch-size 4096 "}},
    {"ImagesAtTheLearningRateOfTheirNetwork",
     "image_classification JEDI alexnet synthetic",
     {"--model alexnet --classes 1001 --precision fp16", " --learning-rate 0.005 "}},
    {"ImagesInFp32",
     "image_classification MI250 vgg16 fp32 synthetic",
     {"#SBATCH --ntasks-per-node=8", "--model vgg16 --classes 1001 --precision fp32",
      " --learning-rate 0.005 "}},
    {"TemperaturesOnNumbersOfDevices",
     "ap1 MI250",
     {"train: 40 workpackages, 40 jobs, at once no limit\n", "#SBATCH --ntasks-per-node=8",
      "ap1 --batch-size 512 --epochs 11 --samples-per-epoch 8192"}},
    {"TemperaturesOfFiles",
     "ap1 A100 io one_device",
     {"train: 1 workpackages, 1 jobs, at once no limit\n",
      "ap1 --batch-size 32 --epochs 3 --data-path '\\''/data/ap1/*.nc'\\'' --eval-epochs 1 "
      "--eval-path '\\''/data/ap1/last.nc'\\''"}},
    {"TweetsOnNumbersOfDevices",
     "ap2 A100",
     {"train: 3 workpackages, 3 jobs, at once no limit\n",
      "ap2 --precision fp16 --batch-size 32 --epochs 1 --samples-per-epoch 148000"}},
    {"RadiationAtTheRateOfItsBatch",
     "ap3 A100",
     {"train: 18 workpackages, 18 jobs, at once no limit\n",
      "ap3 --model lstm --batch-size 512 --learning-rate 0.001 --epochs 4 --samples-per-epoch "
      "251392 --synthetic device",
      "ap3 --model lstm --batch-size 512 --learning-rate 0.002 "}},
    {"RadiationOfFiles",
     "ap3 A100 io cnn one_device container",
     {"-- apptainer exec --nv --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
      "/images/gpt.sif ap3 --model cnn --batch-size 512 --learning-rate 0.001 --epochs 5 "
      "--data-path '\\''/data/ap3'\\'' --cache"}},
    {"TemperaturesInAContainerOfDocker",
     "ap1 e4-gh io one_device container",
     {"-- docker run --rm ", " --volume \"$PWD:$PWD\" --workdir \"$PWD\" ", " --env SLURM_PROCID ",
      " --env SLURM_LOCALID ", " --env MASTER_ADDR ", " --volume=\"/data/ap1:/data/ap1\"",
      " /images/gpt.sif ap1 --batch-size 32 "}},
    {"FieldsInAContainerOfSarus",
     "atmorep PizDaint one_field io container",
     {"-- sarus run --mpi --mount=type=bind,source=\"$PWD\",destination=\"$PWD\" ",
      " --mount=type=bind,source=\"/data\",destination=\"/data\" "}},
    {"EnsemblesOfFiles",
     "ap4 GH200 io",
     {"train: 1 workpackages, 1 jobs, at once no limit\n",
      "ap4 --batch-size 1 --epochs 3 --data-path '\\''/data/ens10'\\''"}},
    {"EnsemblesOnNumbersOfDevices",
     "ap4 A100",
     {"train: 12 workpackages, 12 jobs, at once no limit\n",
      "ap4 --batch-size 8 --epochs 2 --samples-per-epoch 512"}},
    {"DownscalingOnNumbersOfDevices",
     "ap5 A100",
     {"train: 18 workpackages, 18 jobs, at once no limit\n",
      "ap5 --batch-size 256 --epochs 4 --samples-per-epoch 96640"}},
    {"DownscalingOfFiles",
     "ap5 MI250 io",
     {"train: 4 workpackages, 4 jobs, at once no limit\n",
      "ap5 --batch-size 32 --epochs 4 --data-path '\\''/data/ap5'\\'' --predictors "
      "'\\''a_in,b_in'\\''"}},
    {"InferenceWithoutFiles",
     "ap_inference MI250",
     {"infer: 16 workpackages, 16 jobs, at once no limit\n",
      "ap3 --inference --model lstm --batch-size 2048 --epochs 1 --samples-per-epoch 407040 "
      "--synthetic device",
      "--load-weights '\\''/data/ap3.safetensors'\\''"}},
    {"InferenceOfColumnsInFiles",
     "ap_inference A100 io cnn one_device triplets",
     {"infer: 3 workpackages, 3 jobs, at once no limit\n",
      "ap3 --inference --model cnn --batch-size 512 --epochs 1 --data-path "
      "'\\''/data/ap3_last'\\''"}},
    {"InferenceOfFieldsInMemory",
     "ap_inference GH200 io cache ap5",
     {"infer: 1 workpackages, 1 jobs, at once no limit\n",
      "ap5 --inference  --batch-size 32 --epochs 1 --data-path '\\''/data/ap5_last'\\'' "
      "--predictors '\\''a_in,b_in'\\'' --cache"}},
    {"ClusteringOnNumbersOfDevices",
     "ap6 A100",
     {"train: 12 workpackages, 12 jobs, at once no limit\n",
      "ap6 --batch-size 64 --epochs 2 --samples-per-epoch 4096"}},
    {"ClusteringOfFiles",
     "ap6 MI250 io",
     {"train: 4 workpackages, 4 jobs, at once no limit\n",
      "ap6 --batch-size 64 --warmup 0 --epochs 10 --data-path '\\''/data/era5'\\''"}},
    {"SizesOfWholeNodes",
     "scaling JEDI vision weak amp synthetic",
     {"srun --nodes=1 --ntasks=4", "srun --nodes=32 --ntasks=128",
      "vision --model resnet50 --lr-warmup-epochs 5 --lr-decay-epochs 30,60 --precision fp16 "
      "--global-batch-size 65536"}},
    {"SizesThatTheMachineHas",
     "scaling MI250 gpt fp32 synthetic",
     {"train: 2 workpackages, 2 jobs, at once 1\n", "srun --nodes=2 --ntasks=16",
      "gpt --model 24x1024", "--precision fp32 --micro-batch-size 1 --global-batch-size 256"}},
    {"SizesWithinANode",
     "scaling H100 gpt strong synthetic",
     {"srun --nodes=1 --ntasks=1", "srun --nodes=1 --ntasks=4",
      "--micro-batch-size 1 --global-batch-size 512"}},
    {"SizesWhoseWorkSixDevicesDivide",
     "scaling Summit gpt strong synthetic",
     {"train: 7 workpackages, 7 jobs, at once 1\n", "--global-batch-size 768 "}},
    {"SizesOfAModelThatIpusShare",
     "scaling GC200 gpt synthetic",
     {"train: 1 workpackages, 1 jobs, at once 1\n", "-- ${BENCH_IPU_SCALING:?} 4 64 "}},
    {"SizesOfGraphcore",
     "scaling GC200 strong synthetic",
     {"-- ${BENCH_IPU_SCALING:?} 1 128", "-- ${BENCH_IPU_SCALING:?} 4 128"}},
    {"ImagesOfGraphcore",
     "image_classification GC200 synthetic",
     {"-- ${BENCH_IPU_RESNET:?} 1 16 ", "-- ${BENCH_IPU_RESNET:?} 4 4096 "}},
    {"ImagesOfADataSet",
     "image_classification JEDI",
     {"--steps 100 --warmup 10 --data-path '\\''/data/imagenet'\\''"}},
    {"ImagesInAContainer",
     "image_classification JEDI resnet50 synthetic container",
     {"-- apptainer exec --nv --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
      "/images/gpt.sif vision --model resnet50 "}},
    {"FieldsOnTheDevicesOfD37",
     "atmorep JEDI three_fields",
     {"train: 8 workpackages, 8 jobs, at once 1\n", "#SBATCH --nodes=32",
      "#SBATCH --ntasks-per-node=2",
      " atmorep --fields 3 --precision fp16 --batch-size 4 --peak-tflops 990 "}},
    {"FieldsOfADataSetOnSixDevices",
     "atmorep Summit one_field one_node io fp32",
     {"train: 4 workpackages, ", " atmorep --fields 1 --precision fp32 ",
      "--data-path '\\''/data/era5'\\''"}},
    {"VolumesOfADataSetToTheTarget",
     "cosmoflow JEDI target v1",
     {"#SBATCH --nodes=2", "#SBATCH --time=24:00:00",
      "-- cosmoflow --version v1 --size 128 --precision fp16 --batch-size 16 --eval-samples 65536 "
      "--peak-tflops 990 --epochs 128 --warmup 0 --mllog --seed 1 --data-path "
      "'\\''/data/cosmoflow'\\''"}},
    {"VolumesWithoutReading",
     "cosmoflow A100 non_io fp32",
     {"-- cosmoflow --version v0.7 --size 128 --precision fp32 --batch-size 1 --eval-samples 10 ",
      "--steps 100 --warmup 10 --synthetic device"}},
    {"WeatherOfADataSetToTheTarget",
     "deepcam GH200 target lamb",
     {"-- deepcam --optimizer lamb --height 768 --width 1152 --precision fp16 --batch-size 4 "
      "--eval-samples 15158 ",
      "--epochs 200 --warmup 0 --mllog --seed 1 --learning-rate 3.125e-05 --lr-warmup 0 "
      "--lr-milestones 262144,524288 --data-path '\\''/data/deepcam'\\''"}},
    {"TrainingsOfAScore",
     "deepcam GH200 target score",
     {"-- deepcam --optimizer lamb ", "--mllog --seed 5 --learning-rate "}},
    {"WeatherInAContainer",
     "deepcam MI250 non_io container",
     {"#SBATCH --ntasks-per-node=8",
      "-- apptainer exec --rocm --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
      "/images/gpt.sif deepcam --optimizer adam ",
      "--steps 100 --warmup 10 --synthetic device"}},
    {"SizesOnADataSet",
     "scaling JEDI short",
     {"--timings timings.csv --data-path '\\''/data/imagenet'\\''"}},
    {"SizesOnACorpus",
     "scaling JEDI gpt short container",
     {"-- apptainer exec --nv --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
      "/images/gpt.sif gpt --model 24x1024",
      "--timings timings.csv --data-path '\\''/data/oscar'\\''"}}};
INSTANTIATE_TEST_SUITE_P(Machines, ShippedBenchmarkTest, testing::ValuesIn(scripts_on_machines),
                         support::case_name);

class RefusedBenchmarkTest : public ShippedBenchmarkTest {};

TEST_P(RefusedBenchmarkTest, SaysWhy) {
  set_data(false);
  EXPECT_THAT(support::error_of([] { shown(); }), testing::HasSubstr(GetParam().expected.at(0)));
}

const std::vector<ShippedCase> refused_on_machines{
    {"GptWithoutData",
     "llm_training JEDI",
     {"BENCH_TOKEN_DATA: set it to the PREFIX of a corpus, or give the tag synthetic"}},
    {"GptOfTwoSizes", "llm_training JEDI synthetic 800M 117M", {"not (117M and 800M)"}},
    {"GptSharedByOneDevice",
     "llm_training JEDI synthetic 13B one_device",
     {"not (one_device and (13B or 175B))"}},
    {"GptOnMoreNodesThanThereAre",
     "llm_training H100 synthetic 175B",
     {"175B is shared by 64 devices, 4 on a node; H100 has 1 nodes"}},
    {"GptOnTwoNumbersOfNodes",
     "llm_training JEDI synthetic 2nodes 4nodes",
     {"not (2nodes and (4nodes or 8nodes or 16nodes or 32nodes or 44nodes))"}},
    {"GptOnMoreNodesThanTheMachineHas",
     "llm_training H100 synthetic 800M 2nodes",
     {"H100 has 1 nodes, not 2"}},
    {"GptOnAPartOfTheNodesThatACopyNeeds",
     "llm_training A100 synthetic 175B 44nodes",
     {"each copy of 175B needs 32 nodes, of which 44 is not a multiple"}},
    {"GptThatDevicesCannotHold",
     "llm_training ABCI synthetic 13B",
     {"13B needs devices of 40 GB; ABCI has 16.0 GB"}},
    {"GptOfGraphcoreInAnotherSize",
     "llm_training GC200 synthetic 800M",
     {"not (GC200 and (24x1024 or 800M or 13B or 175B))"}},
    {"GptInAContainerHere", "llm_training container", {"not (local and (bf16 or container))"}},
    {"LlamaWithoutData",
     "llama JEDI",
     {"BENCH_TOKEN_DATA: set it to the PREFIX of a corpus, or give the tag synthetic"}},
    {"LlamaOfTwoSizes", "llama JEDI synthetic 8B 70B", {"not (8B and 70B)"}},
    {"LlamaOnMoreNodesThanThereAre",
     "llama WAIH100 synthetic 405B",
     {"405B is shared by 168 devices, 4 on a node; WAIH100 has 16 nodes"}},
    {"LlamaThatDevicesCannotHold",
     "llama ABCI synthetic 1B",
     {"1B needs devices of 40 GB; ABCI has 16.0 GB"}},
    {"ImagesWithoutData",
     "image_classification JEDI",
     {"BENCH_IMAGE_DATA: set it to the folder of a data set, or give the tag synthetic"}},
    {"ImagesForTwoNetworks",
     "image_classification JEDI synthetic vgg16 alexnet",
     {"not (vgg16 and alexnet)"}},
    {"ImagesOfGraphcoreForAnotherNetwork",
     "image_classification GC200 synthetic vgg16",
     {"not (GC200 and (resnet50_v2 or inception3 or vgg16 or alexnet or fp32))"}},
    {"ImagesWhereNobodyTellsOfContainers",
     "image_classification slurm synthetic container",
     {"platform slurm tells no container"}},
    {"VolumesWithoutData",
     "cosmoflow JEDI",
     {"BENCH_COSMOFLOW_DATA: set it to the folder of a data set, or give the tag non_io"}},
    {"VolumesOfOneBatchToTheTarget", "cosmoflow JEDI non_io target", {"not (target and non_io)"}},
    {"WeatherOnIpus", "deepcam GC200 non_io", {"not GC200"}},
    {"Ap1OnIpus", "ap1 GC200", {"not GC200"}},
    {"Ap2OnIpus", "ap2 GC200", {"not GC200"}},
    {"Ap3OnIpus", "ap3 JURECA-IPU", {"not GC200"}},
    {"Ap4OnIpus", "ap4 GC200", {"not GC200"}},
    {"Ap5OnIpus", "ap5 GC200", {"not GC200"}},
    {"Ap6OnIpus", "ap6 GC200", {"not GC200"}},
    {"Ap3InferenceOnIpus", "ap_inference GC200", {"not GC200"}},
    {"SizesWithoutData",
     "scaling JEDI gpt",
     {"BENCH_TOKEN_DATA: set it to the PREFIX of a corpus, or give the tag synthetic"}},
    {"EnsemblesWithoutData", "ap4 GH200 io", {"BENCH_AP4_DATA: set it to the folder of ENS-10"}},
    {"FieldsWithoutData",
     "atmorep JEDI io",
     {"BENCH_ATMOREP_DATA: set it to the folder of ERA5 fields"}},
    {"FilesOfMaelstromHere", "ap1 io", {"not (local and (io or container))"}},
    {"SizesInTwoWays", "scaling JEDI synthetic weak strong", {"not (weak and strong)"}}};
INSTANTIATE_TEST_SUITE_P(Machines, RefusedBenchmarkTest, testing::ValuesIn(refused_on_machines),
                         support::case_name);

}  // namespace
}  // namespace bench::run
