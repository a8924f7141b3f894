// The job scripts that the shipped benchmarks make for machines.
#include "bench_program.hpp"
#include "shipped_benchmark.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;

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
                   {"JEDI", "13B", "1node", "short", "synthetic"},
                   {"#SBATCH --nodes=1", "gpt --model 13B --precision fp16 --micro-batch-size 2",
                    "--global-batch-size 128 --tensor-parallel 2 --pipeline-parallel 2 "
                    "--recompute selective"}},
        ScriptCase{
            "GptOnTheNodesOfCaraml",
            "llm_training",
            {"JEDI", "13B", "short", "synthetic"},
            {"#SBATCH --nodes=44", "#SBATCH --ntasks-per-node=4", "--global-batch-size 5632 "}},
        ScriptCase{"GptOnAsFewNodesAsItNeedsWhereThereAreNot44",
                   "llm_training",
                   {"WAIH100", "13B", "short", "synthetic"},
                   {"#SBATCH --nodes=1", "--global-batch-size 128 "}},
        ScriptCase{
            "GptOnANumberOfNodes",
            "llm_training",
            {"JEDI", "800M", "8nodes", "short", "synthetic"},
            {"#SBATCH --nodes=8", "#SBATCH --ntasks-per-node=4", "--global-batch-size 256 "}},
        ScriptCase{"GptThatNeedsMoreOfSmallDevices",
                   "llm_training",
                   {"A100", "13B", "2nodes", "short", "synthetic"},
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
        ScriptCase{"GptOnANumberOfDevicesThatDividesNoPowerOfTwo",
                   "llm_training",
                   {"Summit", "117M", "synthetic"},
                   {"| train |            9 |  no limit |    9 |", "--global-batch-size 24 ",
                    "--global-batch-size 6144 "}},
        ScriptCase{"GptOnHalvesOfModules",
                   "llm_training",
                   {"MI250", "24x1024", "short", "synthetic"},
                   {"#SBATCH --ntasks-per-node=8", "gpt --model 24x1024", "--peak-tflops 181.05"}},
        ScriptCase{
            "GptOfGraphcore",
            "llm_training",
            {"GC200", "synthetic"},
            {"#SBATCH --ntasks-per-node=1", "bench-energy --method gcipu",
             "workload=GPT-117M phase=train sequence=1024", "pipeline_parallel=4",
             "data_parallel=1", "-- ${BENCH_IPU_GPT:?} 4 64 ", "-- ${BENCH_IPU_GPT:?} 4 16384 "}},
        ScriptCase{"GptOnTheTokensOfACorpus",
                   "llm_training",
                   {"JEDI", "short"},
                   {"data=/data/oscar ", "--warmup 5 --data-path '\\''/data/oscar'\\''"}},
        ScriptCase{"GptInAContainer",
                   "llm_training",
                   {"MI250", "short", "synthetic", "container"},
                   {"-- apptainer exec --rocm --bind=\"$PWD\" --bind=\"/data\" "
                    "--bind=\"/data/ap1\" /images/gpt.sif gpt "
                    "--model 800M"}},
        ScriptCase{"GptOfGraphcoreInAContainer",
                   "llm_training",
                   {"GC200", "short", "synthetic", "container"},
                   {"-- apptainer exec --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
                    "/images/gpt.sif "
                    "${BENCH_IPU_GPT:?} 4 256 "}},
        ScriptCase{"LlamaOnNumbersOfNodes",
                   "llama",
                   {"JEDI", "synthetic"},
                   {"| train |           12 |  no limit |   12 |", "#SBATCH --nodes=1",
                    "#SBATCH --nodes=8", "-- llama --model 1B --precision bf16",
                    "--micro-batch-size 1 --global-batch-size 64 --tensor-parallel 1 "
                    "--pipeline-parallel 1 --recompute selective --peak-tflops 990 --steps 20",
                    "--global-batch-size 1024 "}},
        ScriptCase{"LlamaSharedByANode",
                   "llama",
                   {"JEDI", "8B", "fp16", "short"},
                   {"#SBATCH --nodes=1", "-- llama --model 8B --precision fp16",
                    "--tensor-parallel 4 --pipeline-parallel 1 --recompute selective",
                    "--data-path '\\''/data/oscar'\\''"}},
        ScriptCase{
            "LlamaThatNeedsMoreOfSmallDevices",
            "llama",
            {"A100", "8B", "short", "synthetic"},
            {"#SBATCH --nodes=2", "--tensor-parallel 4 --pipeline-parallel 2 --recompute full"}},
        ScriptCase{
            "LlamaSharedByManyNodes",
            "llama",
            {"JUPITER", "405B", "short", "synthetic"},
            {"#SBATCH --nodes=42", "--tensor-parallel 4 --pipeline-parallel 42 --recompute full"}},
        ScriptCase{"LlamaSharedByEightDevicesOfEachNode",
                   "llama",
                   {"LUMI-G", "70B", "short", "synthetic"},
                   {"#SBATCH --nodes=4", "#SBATCH --ntasks-per-node=8",
                    "--tensor-parallel 8 --pipeline-parallel 4 --recompute full"}},
        ScriptCase{"LlamaOnOneDeviceInAContainer",
                   "llama",
                   {"MI250", "360M", "one_device", "synthetic", "container"},
                   {"| train |            3 |  no limit |    3 |", "#SBATCH --ntasks-per-node=1",
                    "-- apptainer exec --rocm --bind=\"$PWD\" --bind=\"/data\" "
                    "--bind=\"/data/ap1\" /images/gpt.sif "
                    "llama --model 360M",
                    "--micro-batch-size 4 --global-batch-size 4096 "}},
        ScriptCase{"ImagesOnNumbersOfDevices",
                   "image_classification",
                   {"GH200", "synthetic"},
                   {"-- vision --model resnet50_v2 --classes 1001 --precision fp16",
                    "--global-batch-size 4096 --base-learning-rate 0.128 --lr-warmup-epochs 5 "
                    "--lr-decay-epochs 30,60,80,90 "}},
        ScriptCase{"ImagesOnOneAndTwoNodes",
                   "image_classification",
                   {"A100", "synthetic"},
                   {"| train |           72 |  no limit |   72 |", "#SBATCH --nodes=2",
                    "#SBATCH --ntasks-per-node=3", "--global-batch-size 15 ",
                    "--global-batch-size 4096 "}},
        ScriptCase{"ImagesAtTheLearningRateOfTheirNetwork",
                   "image_classification",
                   {"JEDI", "alexnet", "synthetic"},
                   {"--model alexnet --classes 1001 --precision fp16", " --learning-rate 0.005 "}},
        ScriptCase{"ImagesInFp32",
                   "image_classification",
                   {"MI250", "vgg16", "fp32", "synthetic"},
                   {"#SBATCH --ntasks-per-node=8", "--model vgg16 --classes 1001 --precision fp32",
                    " --learning-rate 0.005 "}},
        ScriptCase{"TemperaturesOnNumbersOfDevices",
                   "ap1",
                   {"MI250"},
                   {"| train |           40 |  no limit |   40 |", "#SBATCH --ntasks-per-node=8",
                    "ap1 --batch-size 512 --epochs 11 --samples-per-epoch 8192"}},
        ScriptCase{"TemperaturesOfFiles",
                   "ap1",
                   {"A100", "io", "one_device"},
                   {"| train |            1 |  no limit |    1 |",
                    "ap1 --batch-size 32 --epochs 3 --data-path '\\''/data/ap1/*.nc'\\'' "
                    "--eval-epochs 1 --eval-path '\\''/data/ap1/last.nc'\\''"}},
        ScriptCase{"TweetsOnNumbersOfDevices",
                   "ap2",
                   {"A100"},
                   {"| train |            3 |  no limit |    3 |",
                    "ap2 --precision fp16 --batch-size 32 --epochs 1 --samples-per-epoch 148000"}},
        ScriptCase{"RadiationAtTheRateOfItsBatch",
                   "ap3",
                   {"A100"},
                   {"| train |           18 |  no limit |   18 |",
                    "ap3 --model lstm --batch-size 512 --learning-rate 0.001 --epochs 4 "
                    "--samples-per-epoch 251392 --synthetic device",
                    "ap3 --model lstm --batch-size 512 --learning-rate 0.002 "}},
        ScriptCase{"RadiationOfFiles",
                   "ap3",
                   {"A100", "io", "cnn", "one_device", "container"},
                   {"-- apptainer exec --nv --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
                    "/images/gpt.sif ap3 "
                    "--model cnn --batch-size 512 "
                    "--learning-rate 0.001 --epochs 5 --data-path '\\''/data/ap3'\\'' --cache"}},
        ScriptCase{"TemperaturesInAContainerOfDocker",
                   "ap1",
                   {"e4-gh", "io", "one_device", "container"},
                   {"-- docker run --rm ", " --volume \"$PWD:$PWD\" --workdir \"$PWD\" ",
                    " --env SLURM_PROCID ", " --env SLURM_LOCALID ", " --env MASTER_ADDR ",
                    " --volume=\"/data/ap1:/data/ap1\"", " /images/gpt.sif ap1 --batch-size 32 "}},
        ScriptCase{"FieldsInAContainerOfSarus",
                   "atmorep",
                   {"PizDaint", "one_field", "io", "container"},
                   {"-- sarus run --mpi --mount=type=bind,source=\"$PWD\",destination=\"$PWD\" ",
                    " --mount=type=bind,source=\"/data\",destination=\"/data\" "}},
        ScriptCase{"EnsemblesOfFiles",
                   "ap4",
                   {"GH200", "io"},
                   {"| train |            1 |  no limit |    1 |",
                    "ap4 --batch-size 1 --epochs 3 --data-path '\\''/data/ens10'\\''"}},
        ScriptCase{"EnsemblesOnNumbersOfDevices",
                   "ap4",
                   {"A100"},
                   {"| train |           12 |  no limit |   12 |",
                    "ap4 --batch-size 8 --epochs 2 --samples-per-epoch 512"}},
        ScriptCase{"DownscalingOnNumbersOfDevices",
                   "ap5",
                   {"A100"},
                   {"| train |           18 |  no limit |   18 |",
                    "ap5 --batch-size 256 --epochs 4 --samples-per-epoch 96640"}},
        ScriptCase{"DownscalingOfFiles",
                   "ap5",
                   {"MI250", "io"},
                   {"| train |            4 |  no limit |    4 |",
                    "ap5 --batch-size 32 --epochs 4 --data-path '\\''/data/ap5'\\'' "
                    "--predictors '\\''a_in,b_in'\\''"}},
        ScriptCase{"InferenceWithoutFiles",
                   "ap_inference",
                   {"MI250"},
                   {"| infer |           16 |  no limit |   16 |",
                    "ap3 --inference --model lstm --batch-size 2048 --epochs 1 "
                    "--samples-per-epoch 407040 --synthetic device",
                    "--load-weights '\\''/data/ap3.safetensors'\\''"}},
        ScriptCase{"InferenceOfColumnsInFiles",
                   "ap_inference",
                   {"A100", "io", "cnn", "one_device", "triplets"},
                   {"| infer |            3 |  no limit |    3 |",
                    "ap3 --inference --model cnn --batch-size 512 --epochs 1 "
                    "--data-path '\\''/data/ap3_last'\\''"}},
        ScriptCase{"InferenceOfFieldsInMemory",
                   "ap_inference",
                   {"GH200", "io", "cache", "ap5"},
                   {"| infer |            1 |  no limit |    1 |",
                    "ap5 --inference  --batch-size 32 --epochs 1 --data-path "
                    "'\\''/data/ap5_last'\\'' --predictors '\\''a_in,b_in'\\'' --cache"}},
        ScriptCase{"ClusteringOnNumbersOfDevices",
                   "ap6",
                   {"A100"},
                   {"| train |           12 |  no limit |   12 |",
                    "ap6 --batch-size 64 --epochs 2 --samples-per-epoch 4096"}},
        ScriptCase{"ClusteringOfFiles",
                   "ap6",
                   {"MI250", "io"},
                   {"| train |            4 |  no limit |    4 |",
                    "ap6 --batch-size 64 --warmup 0 --epochs 10 --data-path '\\''/data/era5'\\''"}},
        ScriptCase{"SizesOfWholeNodes",
                   "scaling",
                   {"JEDI", "vision", "weak", "amp", "synthetic"},
                   {"srun --nodes=1 --ntasks=4", "srun --nodes=32 --ntasks=128",
                    "vision --model resnet50 --lr-warmup-epochs 5 --lr-decay-epochs 30,60 "
                    "--precision fp16 --global-batch-size 65536"}},
        ScriptCase{"SizesThatTheMachineHas",
                   "scaling",
                   {"MI250", "gpt", "fp32", "synthetic"},
                   {"| train |            2 |         1 |    2 |", "srun --nodes=2 --ntasks=16",
                    "gpt --model 24x1024",
                    "--precision fp32 --micro-batch-size 1 --global-batch-size 256"}},
        ScriptCase{"SizesWithinANode",
                   "scaling",
                   {"H100", "gpt", "strong", "synthetic"},
                   {"srun --nodes=1 --ntasks=1", "srun --nodes=1 --ntasks=4",
                    "--micro-batch-size 1 --global-batch-size 512"}},
        ScriptCase{"SizesWhoseWorkSixDevicesDivide",
                   "scaling",
                   {"Summit", "gpt", "strong", "synthetic"},
                   {"| train |            7 |         1 |    7 |", "--global-batch-size 768 "}},
        ScriptCase{
            "SizesOfAModelThatIpusShare",
            "scaling",
            {"GC200", "gpt", "synthetic"},
            {"| train |            1 |         1 |    1 |", "-- ${BENCH_IPU_SCALING:?} 4 64 "}},
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
                   {"-- apptainer exec --nv --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
                    "/images/gpt.sif "
                    "vision --model resnet50 "}},
        ScriptCase{"FieldsOnTheDevicesOfD37",
                   "atmorep",
                   {"JEDI", "three_fields"},
                   {"| train |            8 |         1 |    8 |", "#SBATCH --nodes=32",
                    "#SBATCH --ntasks-per-node=2",
                    " atmorep --fields 3 --precision fp16 --batch-size 4 --peak-tflops 990 "}},
        ScriptCase{"FieldsOfADataSetOnSixDevices",
                   "atmorep",
                   {"Summit", "one_field", "one_node", "io", "fp32"},
                   {"| train |            4 |", " atmorep --fields 1 --precision fp32 ",
                    "--data-path '\\''/data/era5'\\''"}},
        ScriptCase{"VolumesOfADataSetToTheTarget",
                   "cosmoflow",
                   {"JEDI", "target", "v1"},
                   {"#SBATCH --nodes=2", "#SBATCH --time=24:00:00",
                    "-- cosmoflow --version v1 --size 128 --precision fp16 --batch-size 16 "
                    "--eval-samples 65536 --peak-tflops 990 --epochs 128 --warmup 0 --mllog "
                    "--seed 1 --data-path '\\''/data/cosmoflow'\\''"}},
        ScriptCase{"VolumesWithoutReading",
                   "cosmoflow",
                   {"A100", "non_io", "fp32"},
                   {"-- cosmoflow --version v0.7 --size 128 --precision fp32 --batch-size 1 "
                    "--eval-samples 10 ",
                    "--steps 100 --warmup 10 --synthetic device"}},
        ScriptCase{"WeatherOfADataSetToTheTarget",
                   "deepcam",
                   {"GH200", "target", "lamb"},
                   {"-- deepcam --optimizer lamb --height 768 --width 1152 --precision fp16 "
                    "--batch-size 4 --eval-samples 15158 ",
                    "--epochs 200 --warmup 0 --mllog --seed 1 --learning-rate 3.125e-05 "
                    "--lr-warmup 0 --lr-milestones 262144,524288 --data-path "
                    "'\\''/data/deepcam'\\''"}},
        ScriptCase{"TrainingsOfAScore",
                   "deepcam",
                   {"GH200", "target", "score"},
                   {"-- deepcam --optimizer lamb ", "--mllog --seed 5 --learning-rate "}},
        ScriptCase{"WeatherInAContainer",
                   "deepcam",
                   {"MI250", "non_io", "container"},
                   {"#SBATCH --ntasks-per-node=8",
                    "-- apptainer exec --rocm --bind=\"$PWD\" --bind=\"/data\" "
                    "--bind=\"/data/ap1\" /images/gpt.sif "
                    "deepcam --optimizer adam ",
                    "--steps 100 --warmup 10 --synthetic device"}},
        ScriptCase{"SizesOnADataSet",
                   "scaling",
                   {"JEDI", "short"},
                   {"--timings timings.csv --data-path '\\''/data/imagenet'\\''"}},
        ScriptCase{"SizesOnACorpus",
                   "scaling",
                   {"JEDI", "gpt", "short", "container"},
                   {"-- apptainer exec --nv --bind=\"$PWD\" --bind=\"/data\" --bind=\"/data/ap1\" "
                    "/images/gpt.sif gpt "
                    "--model 24x1024",
                    "--timings timings.csv --data-path '\\''/data/oscar'\\''"}}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace bench::end_to_end
