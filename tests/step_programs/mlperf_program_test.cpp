#include "data/example.hpp"
#include "data/field_files.hpp"
#include "data/tfrecord.hpp"
#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"
#include "support/case_name.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {

// The programs of MLPerf HPC's benchmarks: training to a quality, its lines, data sets, ranks.

namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

struct Benchmark {
  std::string name;
  std::string program;
  std::string small;  ///< Options of a small size.
  std::string parameters;
  std::string metric;
  std::string easy_target;
  std::string steps_to_learn;  ///< Enough for a loss that is a tenth smaller.
};

const Benchmark cosmoflow{.name = "CosmoFlow",
                          .program = COSMOFLOW_PROGRAM,
                          .small = "--size 32 --batch-size 2",
                          .parameters = "5597604",
                          .metric = "eval_error",
                          .easy_target = "10",
                          .steps_to_learn = "12"};
const Benchmark deepcam{.name = "DeepCam",
                        .program = DEEPCAM_PROGRAM,
                        .small = "--height 16 --width 32 --batch-size 2",
                        .parameters = "56454720",
                        .metric = "eval_accuracy",
                        .easy_target = "0",
                        .steps_to_learn = "4"};

class MlperfProgramTest : public testing::TestWithParam<Benchmark> {
 protected:
  static std::string arguments(const std::string& more) {
    return GetParam().small + " --device cpu --threads 1 --warmup 0 " + more;
  }
  static Outcome run(const std::string& more) {
    return run_step(GetParam().program, arguments(more));
  }
};
INSTANTIATE_TEST_SUITE_P(Benchmarks, MlperfProgramTest, testing::Values(cosmoflow, deepcam),
                         support::case_name);

TEST_P(MlperfProgramTest, DescribesThePublishedNetwork) {
  const Outcome outcome = run_step(GetParam().program, "--describe");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("trainable_parameters"), GetParam().parameters);
  EXPECT_EQ(outcome.value("result"), "");
}

TEST_P(MlperfProgramTest, LearnsABatch) {
  const Outcome outcome =
      run("--synthetic device --lr-schedule constant --lr-warmup 0 --learning-rate 0.003 --steps " +
          GetParam().steps_to_learn);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_EQ(outcome.value("mlperf"), "MLPerf-style, unofficial");
  EXPECT_LT(outcome.number("final_loss"), 0.9 * outcome.number("first_loss"));
}

/// The keys of MLPerf's lines, in their order.
std::vector<std::string> keys(const Outcome& outcome) {
  std::vector<std::string> found;
  const std::string before = "\"key\": \"";
  for (auto at = outcome.out.find(before); at != std::string::npos;
       at = outcome.out.find(before, at + 1)) {
    const auto begin = at + before.size();
    found.push_back(outcome.out.substr(begin, outcome.out.find('"', begin) - begin));
  }
  return found;
}

/// From `run_start` on.
std::vector<std::string> keys_of_run(const Outcome& outcome) {
  const std::vector<std::string> all = keys(outcome);
  return {std::ranges::find(all, "run_start"), all.end()};
}

TEST_P(MlperfProgramTest, EndsAtItsTarget) {
  const Outcome outcome =
      run("--epochs 3 --samples-per-epoch 2 --eval-samples 2 --mllog --target " +
          GetParam().easy_target);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("target_reached"), "true");
  EXPECT_EQ(outcome.number("epochs_to_solution"), 1);
  EXPECT_EQ(outcome.number("evaluations"), 1);
  EXPECT_GT(outcome.number("time_to_solution_s"), 0);
  EXPECT_LE(outcome.number("time_to_solution_s"), outcome.number("run_s"));
  EXPECT_NEAR(outcome.number("compute_budget_device_hours"), outcome.number("run_s") / 3600, 1e-7);
  EXPECT_THAT(keys_of_run(outcome),
              ElementsAre("run_start", "epoch_start", "eval_start", GetParam().metric, "eval_stop",
                          "epoch_stop", "run_stop"));
  EXPECT_THAT(outcome.out, HasSubstr("\"status\": \"success\"}}\n"));
}

TEST_P(MlperfProgramTest, IsAbortedWithoutItsTarget) {
  const std::string impossible = GetParam().metric == "eval_error" ? "0" : "1";
  const Outcome outcome =
      run("--steps 1 --samples-per-epoch 2 --eval-samples 2 --mllog --target " + impossible);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("target_reached"), "false");
  EXPECT_EQ(outcome.value("time_to_solution_s"), "");
  EXPECT_EQ(outcome.number("evaluations"), 1);
  EXPECT_EQ(keys_of_run(outcome).back(), "run_stop");
  EXPECT_THAT(outcome.out, HasSubstr("\"status\": \"aborted\"}}\n"));
}

TEST(CosmoFlowProgram, PrintsWhatMlperfAsksFor) {
  const Outcome outcome =
      run_step(COSMOFLOW_PROGRAM,
               "--size 32 --batch-size 2 --device cpu --threads 1 --warmup 0 --steps 1 --mllog");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(
      keys(outcome),
      ElementsAre("cache_clear", "init_start", "submission_benchmark", "submission_org",
                  "submission_division", "submission_status", "submission_platform", "seed",
                  "number_of_ranks", "number_of_nodes", "accelerators_per_node",
                  "global_batch_size", "opt_name", "opt_base_learning_rate",
                  "opt_learning_rate_warmup_epochs", "opt_learning_rate_warmup_factor",
                  "opt_learning_rate_decay_boundary_epochs", "opt_learning_rate_decay_factor",
                  "opt_momentum", "opt_weight_decay", "dropout", "train_samples", "eval_samples",
                  "init_stop", "run_start", "epoch_start", "epoch_stop", "run_stop"));
  for (const char* expected :
       {"\"key\": \"submission_org\", \"value\": \"MLPerf-style, unofficial\"",
        "\"key\": \"accelerators_per_node\", \"value\": 0",
        "\"key\": \"opt_learning_rate_decay_boundary_epochs\", \"value\": [32.0, 64.0]",
        "\"key\": \"opt_learning_rate_decay_factor\", \"value\": 0.25",
        "\"key\": \"train_samples\", \"value\": 262144"})
    EXPECT_THAT(outcome.out, HasSubstr(expected));
}

TEST(CosmoFlowProgram, HasAVersionOfItsNetworkAndOneOfItsOwn) {
  EXPECT_EQ(run_step(COSMOFLOW_PROGRAM, "--describe --version v1").value("trainable_parameters"),
            "8907556");
  const Outcome version = run_step(COSMOFLOW_PROGRAM, "--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.out.starts_with("cosmoflow ")) << version.out;
}

/// A data set as MLPerf HPC's CosmoFlow has it, with cubes of side 32.
void write_universes(const std::string& folder, int samples) {
  fs::create_directories(folder);
  for (int i = 0; i < samples; ++i) {
    const std::vector<std::int16_t> counts(std::size_t{32} * 32 * 32 * 4,
                                           static_cast<std::int16_t>(i));
    TfRecordWriter writer(folder + "/" + std::to_string(i) + ".tfrecord");
    writer.add(write_example(
        {{"x",
          BytesList{std::string(reinterpret_cast<const char*>(counts.data()), 2 * counts.size())}},
         {"y", FloatList(4, 0.1F * static_cast<float>(i))}}));
    writer.finish();
  }
}

const std::string small_universes =
    "--size 32 --batch-size 2 --device cpu --threads 1 --warmup 0 --epochs 1 --dropout 0 ";

TEST(CosmoFlowProgram, TrainsOnADataSet) {
  const Folder folder;
  write_universes(folder.file("set/train"), 4);
  write_universes(folder.file("set/validation"), 3);
  const Outcome outcome =
      run_step(COSMOFLOW_PROGRAM, small_universes + "--eval-samples 3 --mllog --data-path " +
                                      folder.file("set") + " --stage-to " + folder.file("near"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("dataset_samples"), "4");
  EXPECT_EQ(outcome.value("steps"), "2");
  EXPECT_GT(outcome.number("dataset_bytes"), 4 * 2 * 4 * 32 * 32 * 32);
  EXPECT_EQ(outcome.value("evaluations"), "1");
  EXPECT_EQ(outcome.value("mlperf"), "") << "these are no synthetic samples";
  EXPECT_EQ(keys(outcome).front(), "cache_clear");
  EXPECT_THAT(keys(outcome), Contains("staging_start"));
  EXPECT_THAT(keys(outcome), Contains("staging_stop"));
}

TEST(CosmoFlowProgram, RefusesADataSetThatDoesNotFit) {
  const Folder folder;
  write_universes(folder.file("set/train"), 2);
  const std::string data = "--data-path " + folder.file("set") + " ";
  const Outcome none = run_step(COSMOFLOW_PROGRAM, small_universes + data + "--eval-samples 2");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("set/validation does not exist"));
  write_universes(folder.file("set/validation"), 1);
  const Outcome few = run_step(COSMOFLOW_PROGRAM, small_universes + data + "--eval-samples 2");
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_THAT(few.err, HasSubstr("set/validation has 1 samples, --eval-samples asks for 2"));
  const Outcome size = run_step(COSMOFLOW_PROGRAM,
                                "--size 64 --device cpu --threads 1 --warmup 0 --steps 1 " + data);
  EXPECT_EQ(size.exit_code, 1);
  EXPECT_THAT(size.err, HasSubstr("feature 'x' has 262144 bytes, expected 2097152"));
}

#ifdef BENCH_STEPS_HDF5

/// A data set as MLPerf HPC's DeepCAM has it, with images of 32 x 48.
void write_weather(const std::string& folder, int samples) {
  fs::create_directories(folder);
  const std::vector<Field> fields{
      {.name = "climate/data", .shape = {32, 48, 16}},
      {.name = "climate/labels_0", .type = FieldType::int64, .shape = {32, 48}}};
  for (int i = 0; i < samples; ++i) {
    std::vector<float> data(32 * 48 * 16);
    std::vector<std::int64_t> labels(32 * 48);
    for (std::size_t k = 0; k < data.size(); ++k)
      data[k] = static_cast<float>((k * 7 + static_cast<std::size_t>(i)) % 11);
    for (std::size_t k = 0; k < labels.size(); ++k)
      labels[k] = static_cast<std::int64_t>(k % 3);
    const auto writer =
        make_field_writer(FieldFormat::hdf5, folder + "/" + std::to_string(i) + ".h5", fields,
                          {.samples = 1, .sample_axis = false});
    writer->add(
        {std::as_writable_bytes(std::span(data)), std::as_writable_bytes(std::span(labels))});
    writer->finish();
  }
}

void write_statistics(const std::string& file) {
  const std::vector<Field> fields{{.name = "climate/minval", .shape = {16}},
                                  {.name = "climate/maxval", .shape = {16}}};
  std::vector<float> smallest(16, 0);
  std::vector<float> largest(16, 10);
  const auto writer =
      make_field_writer(FieldFormat::hdf5, file, fields, {.samples = 1, .sample_axis = false});
  writer->add(
      {std::as_writable_bytes(std::span(smallest)), std::as_writable_bytes(std::span(largest))});
  writer->finish();
}

// Also with weights of another training, it maps the range of this data set.
TEST(DeepCamProgram, TrainsOnADataSet) {
  const Folder folder;
  write_weather(folder.file("set/train"), 2);
  const std::string weights = " '" + folder.file("w.safetensors") + "'";
  const std::string common =
      "--height 32 --device cpu --threads 1 --warmup 0 --steps 1 --learning-rate 0 ";
  const std::string data = common + "--data-path " + folder.file("set") + " ";
  EXPECT_THAT(run_step(DEEPCAM_PROGRAM, data + "--width 48").err, HasSubstr("set/stats.h5"));
  write_statistics(folder.file("set/stats.h5"));
  const Outcome outcome = run_step(DEEPCAM_PROGRAM, data + "--width 48");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("dataset_samples"), "2");
  const Outcome other = run_step(DEEPCAM_PROGRAM, data + "--width 32");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("data (32, 48, 16), expected data (32, 32, 16)"));

  const std::string save = common + "--width 48 --save-weights" + weights;
  ASSERT_EQ(run_step(DEEPCAM_PROGRAM, save).exit_code, 0);
  const Outcome loaded = run_step(DEEPCAM_PROGRAM, data + "--width 48 --load-weights" + weights);
  ASSERT_EQ(loaded.exit_code, 0) << loaded.err;
  EXPECT_EQ(loaded.value("first_loss"), outcome.value("first_loss"));
}

#endif

#ifdef BENCH_STEPS_GLOO

TEST(CosmoFlowRanks, AgreeWithOneRank) {
  const std::string common =
      "--size 32 --device cpu --threads 1 --warmup 0 --steps 3 --dropout 0 --learning-rate 0.01 "
      "--eval-samples 5 --batch-size ";
  const Outcome one = run_step(COSMOFLOW_PROGRAM, common + "4");
  const Outcome two = run_ranks(2, COSMOFLOW_PROGRAM, common + "2")[0];
  ASSERT_EQ(one.exit_code, 0) << one.err;
  ASSERT_EQ(two.exit_code, 0) << two.err;
  for (const char* result : {"first_loss", "final_loss", "eval_error", "evaluation_loss"})
    EXPECT_NEAR(two.number(result) / one.number(result), 1, 1e-4) << result;
}

// The batches over which it normalises are the same ones.
TEST(DeepCamRanks, AgreeWithAccumulatedGradients) {
  const std::string common =
      "--height 16 --width 32 --device cpu --threads 1 --warmup 0 --steps 2 --lr-warmup 0 --mllog "
      "--batch-size ";
  const Outcome one = run_step(DEEPCAM_PROGRAM, common + "4 --micro-batches 2");
  const std::vector<Outcome> two = run_ranks(2, DEEPCAM_PROGRAM, common + "2");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  ASSERT_EQ(two[0].exit_code, 0) << two[0].err;
  EXPECT_EQ(one.value("global_batch_size"), "4");
  EXPECT_EQ(two[0].value("global_batch_size"), "4");
  for (const char* result : {"first_loss", "final_loss"})
    EXPECT_NEAR(two[0].number(result) / one.number(result), 1, 1e-3) << result;
  EXPECT_THAT(keys(two[1]), testing::IsEmpty()) << "only rank 0 prints";
}

#endif

// Which of MLPerf's lines the other programs print.

TEST(VisionProgram, PrintsTheEventsOfMlperfInTheirOrder) {
  const Outcome outcome = run_step(
      VISION_PROGRAM,
      "--model resnet18 --image-size 32 --batch-size 2 --classes 10 --threads 1 --device cpu "
      "--steps 2 --warmup 1 --eval-steps 1 --mllog");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(keys(outcome),
              ElementsAre("init_start", "seed", "global_batch_size", "train_samples",
                          "eval_samples", "opt_name", "opt_base_learning_rate", "opt_momentum",
                          "opt_weight_decay", "init_stop", "run_start", "epoch_start", "epoch_stop",
                          "eval_start", "eval_accuracy", "eval_stop", "run_stop"));
  EXPECT_THAT(outcome.out, testing::HasSubstr(", \"status\": \"aborted\"}}\n"));
}

#ifdef BENCH_STEPS_GLOO

TEST(VisionRanks, TellMlperfOfTheSamplesOfAllRanks) {
  const Outcome outcome = run_ranks(
      2, VISION_PROGRAM,
      "--model resnet18 --image-size 32 --batch-size 2 --classes 10 --threads 1 --device cpu "
      "--steps 2 --warmup 0 --eval-steps 3 --mllog")[0];
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::HasSubstr("\"key\": \"train_samples\", \"value\": 8,"));
  EXPECT_THAT(outcome.out, testing::HasSubstr("\"key\": \"eval_samples\", \"value\": 12,"));
}

#endif

TEST(GptProgram, PrintsTheEventsOfMlperfInTheirOrder) {
  const std::string arguments =
      "--layers 1 --hidden 32 --heads 4 --seq 16 --vocab-size 128 --threads 1 --device cpu "
      "--steps 2 --warmup 0";
  const Outcome outcome = run_step(GPT_PROGRAM, arguments + " --mllog");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(keys(outcome),
              ElementsAre("init_start", "seed", "global_batch_size",
                          "gradient_accumulation_frequency", "max_sequence_length", "train_samples",
                          "opt_name", "opt_base_learning_rate", "opt_end_learning_rate",
                          "opt_betas", "opt_eps", "opt_weight_decay", "opt_max_grad_norm",
                          "init_stop", "run_start", "epoch_start", "epoch_stop", "run_stop"));
  EXPECT_THAT(keys(run_step(GPT_PROGRAM, arguments)), testing::IsEmpty());
}

}  // namespace
}  // namespace bench::steps
