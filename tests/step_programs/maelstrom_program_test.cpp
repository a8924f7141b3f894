#include "harness/program.hpp"
#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"
#include "support/case_name.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {

// The programs of MAELSTROM's applications.

namespace {

struct Application {
  std::string name;
  std::string program;
  std::string arguments;
  std::string trainable_parameters;
  std::string non_trainable_parameters;
  bool updates_once = true;  ///< A step is a single update, with a single batch.
  int steps_to_learn = 20;   ///< Enough for a loss that is a tenth smaller.
};

class ApplicationTest : public testing::TestWithParam<Application> {
 protected:
  static Outcome run(const std::string& more) {
    return run_step(GetParam().program, GetParam().arguments + " --device cpu --threads 1 " + more);
  }
};

TEST_P(ApplicationTest, DescribesItsNetwork) {
  const Outcome outcome = run("--describe");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("trainable_parameters"), GetParam().trainable_parameters);
  EXPECT_EQ(outcome.value("non_trainable_parameters"), GetParam().non_trainable_parameters);
}

// On a CPU LibTorch has a deterministic algorithm for all of it.
TEST_P(ApplicationTest, LearnsABatch) {
  const Outcome outcome =
      run("--synthetic device --warmup 0 --learning-rate 0.003 --batch-size 4 --deterministic "
          "--steps " +
          std::to_string(GetParam().steps_to_learn));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_LT(outcome.number("final_loss"), 0.9 * outcome.number("first_loss"));
}

TEST_P(ApplicationTest, SeesOtherSamplesInEachStep) {
  const std::string two_steps = "--steps 2 --warmup 0 --batch-size 4 --learning-rate 0 ";
  const Outcome host = run(two_steps + "--synthetic host");
  ASSERT_EQ(host.exit_code, 0) << host.err;
  EXPECT_NE(host.value("final_loss"), host.value("first_loss"));
  if (GetParam().updates_once) {
    const Outcome device = run(two_steps + "--synthetic device");
    EXPECT_EQ(device.value("first_loss"), host.value("first_loss"));
  }
}

TEST_P(ApplicationTest, StartsFromTheWeightsThatAnotherRunSaved) {
  const Folder folder;
  const std::string file = "'" + folder.file("weights.safetensors") + "'";
  const std::string training = "--synthetic device --warmup 0 --batch-size 4 ";
  const Outcome whole = run(training + "--steps 2");
  const Outcome saved = run(training + "--steps 1 --save-weights " + file);
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  const Outcome loaded = run(training + "--steps 1 --load-weights " + file);
  ASSERT_EQ(loaded.exit_code, 0) << loaded.err;
  EXPECT_EQ(loaded.value("first_loss"), whole.value("final_loss"));
}

TEST(SavedWeights, StayAsTheyWereWhereTheTrainingDiverges) {
  const Folder folder;
  const std::string file = folder.file("weights.safetensors");
  std::ofstream(file) << "of an earlier run";
  const Outcome outcome =
      run_step(AP1_PROGRAM,
               "--patch 32 --device cpu --threads 1 --batch-size 2 --warmup 0 --steps 9 "
               "--learning-rate 1e30 --save-weights " +
                   file);
  EXPECT_EQ(outcome.exit_code, exit_diverged) << outcome.err;
  EXPECT_THAT(outcome.err,
              testing::HasSubstr("warning: " + file + " is not written: the training diverged\n"));
  EXPECT_EQ(outcome.value("save_weights_s"), "");
  EXPECT_EQ(read_text(file), "of an earlier run");
}

TEST(BuildInfo, NamesLibrariesAndDevices) {
  const Outcome outcome = run_step(AP1_PROGRAM, "--build-info");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* name : {"torch_version", "compiler", "blas", "gloo", "nccl", "cpu", "gpus"})
    EXPECT_NE(outcome.value(name), "") << name;
  EXPECT_NE(outcome.out.find("PyTorch built with:"), std::string::npos);
}

const Application ap1{"Ap1", AP1_PROGRAM, "--patch 32", "1314019", "6016"};
const Application ap2{"Ap2", AP2_PROGRAM,
                      "--layers 2 --hidden 32 --heads 4 --vocab-size 100 --seq 12 --dropout 0 "
                      "--lr-warmup 0 --lr-schedule constant",
                      "46242", "0"};
const Application ap3_cnn{"Ap3Cnn", AP3_PROGRAM, "--model cnn", "261515", "0"};
const Application ap3_lstm{"Ap3Lstm", AP3_PROGRAM, "--model lstm", "124930", "0"};
const Application ap4{"Ap4", AP4_PROGRAM, "--height 17 --width 16", "633698", "1600"};
const Application ap5{"Ap5",
                      AP5_PROGRAM,
                      "--height 16 --width 16 --critic-updates 2 --critic-learning-rate 0 "
                      "--lr-schedule constant",
                      "9332299",
                      "5280",
                      false,
                      6};

const Application atmorep{
    "AtmoRep", ATMOREP_PROGRAM,
    "--levels 2 --tokens 3,2,2 --token-size 2,4,3 --width 32 --heads 4 "
    "--layers 2 --ensemble 3 --dropout 0 --lr-warmup 0 --lr-schedule constant",
    "121272", "0"};

INSTANTIATE_TEST_SUITE_P(Programs, ApplicationTest,
                         testing::Values(ap1, ap2, ap3_cnn, ap3_lstm, ap4, ap5, atmorep),
                         support::case_name);

TEST(Epochs, CountOnlyIfTheyAreWhole) {
  const Outcome outcome = run_step(AP1_PROGRAM,
                                   "--patch 32 --device cpu --threads 1 --batch-size 2 --warmup 0 "
                                   "--steps 5 --samples-per-epoch 4");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("measured_steps"), "5");
  EXPECT_EQ(outcome.value("epochs"), "2");
  EXPECT_EQ(outcome.value("epoch_3_s"), "") << "it has one step of two";
  EXPECT_NEAR(outcome.number("epoch_mean_s"),
              (outcome.number("epoch_1_s") + outcome.number("epoch_2_s")) / 2, 1e-6);
  EXPECT_GT(outcome.number("epoch_s"), 2 * outcome.number("epoch_mean_s"));
}

// As `dl_test` of D3.7.
TEST(Ap3Program, ReadsWithoutANetwork) {
  const Outcome outcome = run_step(
      AP3_PROGRAM, "--model none --device cpu --threads 1 --batch-size 4 --steps 3 --warmup 1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("trainable_parameters"), "0");
  EXPECT_EQ(outcome.number("final_loss"), 0);
  EXPECT_GT(outcome.number("megabytes_per_second"), 0);
  EXPECT_EQ(outcome.out.find("tflops_per_device"), std::string::npos);
}

#ifdef BENCH_STEPS_GLOO

class ApplicationRanksTest : public testing::TestWithParam<Application> {
 protected:
  static std::string options(const std::string& more) {
    return GetParam().arguments + " --device cpu --threads 1 --warmup 0 " + more;
  }
};

TEST_P(ApplicationRanksTest, TrainAsOneRankInTwoParts) {
  const std::string steps = " --steps 4 --learning-rate 0.003";
  const Outcome alone =
      run_step(GetParam().program, options("--batch-size 4 --micro-batches 2" + steps));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const auto ranks = run_ranks(2, GetParam().program, options("--batch-size 2" + steps));
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  ASSERT_EQ(ranks[1].exit_code, 0) << ranks[1].err;
  for (const char* loss : {"first_loss", "final_loss"})
    EXPECT_NEAR(ranks[0].number(loss) / alone.number(loss), 1, 1e-4) << loss;
}

INSTANTIATE_TEST_SUITE_P(Programs, ApplicationRanksTest,
                         testing::Values(ap1, ap2, ap3_cnn, atmorep), support::case_name);

class Ap5RanksTest : public testing::Test {
 protected:
  static std::vector<Outcome> run(int ranks, const std::string& more) {
    return run_ranks(ranks, AP5_PROGRAM,
                     ap5.arguments + " --device cpu --threads 1 --warmup 0 --batch-size 2 " + more);
  }
};

// Two ranks find in their first step what one finds in its first two, if it learns nothing.
TEST_F(Ap5RanksTest, ShareTheSamples) {
  const Outcome alone = run(1, "--steps 2 --learning-rate 0")[0];
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const auto ranks = run(2, "--steps 1 --learning-rate 0");
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  EXPECT_EQ(ranks[1].exit_code, 0) << ranks[1].err;
  const double expected = (alone.number("first_loss") + alone.number("final_loss")) / 2;
  EXPECT_NEAR(ranks[0].number("first_loss") / expected, 1, 1e-5);
}

TEST_F(Ap5RanksTest, LearnABatch) {
  const auto ranks = run(2, "--synthetic device --steps 6 --learning-rate 0.003");
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  EXPECT_EQ(ranks[1].exit_code, 0) << ranks[1].err;
  EXPECT_LT(ranks[0].number("final_loss"), 0.9 * ranks[0].number("first_loss"));
}

#endif

// The programs of MAELSTROM's applications on data sets, which `dataset fields` writes.

using testing::HasSubstr;

struct DataCase {
  std::string name;
  std::string program;
  std::string fields;     ///< Options of `dataset fields`: three files.
  std::string arguments;  ///< A batch is a third of an epoch.
  std::string samples;    ///< In the data set.
  std::string unit;       ///< Of the rates.
};

/// Three lead times with two patches each.
const std::string ap1_fields =
    " --samples 3 --samples-per-file 1 --field predictors:float32:70x40x8:normal"
    " --field target_mean:float32:70x40 --file-field static_predictors:float32:70x40x6";
/// Samples of ap3.
constexpr const char* ap3_columns =
    " --format tfrecord --field sca_inputs:float32:17 --field col_inputs:float32:137x27"
    " --field hl_inputs:float32:138x2 --field inter_inputs:float32:136x1"
    " --field pressure_hl:float32:138x1 --field sw:float32:138x2 --field hr_sw:float32:137x1";
const std::string ap3_fields =
    std::string("--samples 12 --samples-per-file 4 --field lw:float32:138x2") + ap3_columns;

#ifdef BENCH_STEPS_NETCDF

/// Four windows in each file.
DataCase atmorep_case() {
  return {.name = "AtmoRep",
          .program = ATMOREP_PROGRAM,
          .fields =
              "--format netcdf --samples 3 --samples-per-file 1 --field number:int64::9"
              " --file-field t:float32:6x2x16x12:normal --file-field time:float32:6"
              " --file-field level:float32:2 --file-field latitude:float32:16"
              " --file-field longitude:float32:12",
          .arguments =
              "--fields t --levels 2 --tokens 3,2,2 --token-size 2,4,3 --width 32"
              " --heads 4 --layers 1 --ensemble 2",
          .samples = "12",
          .unit = "tokens"};
}

DataCase ap5_case() {
  std::string fields = "--format netcdf --samples 6 --samples-per-file 2";
  std::string names;
  for (int i = 0; i < 14; ++i) {
    const std::string name = "x" + std::to_string(i) + "_in";
    fields += " --field " + name + ":float32:16x16:normal";
    names += (i > 0 ? "," : "") + name;
  }
  return {
      .name = "Ap5",
      .program = AP5_PROGRAM,
      .fields = fields + " --field t_2m_tar:float32:16x16 --field hsurf_tar:float32:16x16",
      .arguments = "--height 16 --width 16 --critic-updates 1 --batch-size 2 --predictors " + names,
      .samples = "6",
      .unit = "samples"};
}

#endif

std::vector<DataCase> data_cases() {
  std::vector<DataCase> cases = {{.name = "Ap3",
                                  .program = AP3_PROGRAM,
                                  .fields = ap3_fields,
                                  .arguments = "--batch-size 4",
                                  .samples = "12",
                                  .unit = "columns"}};
#ifdef BENCH_STEPS_HDF5
  cases.push_back({.name = "Ap1Hdf5",
                   .program = AP1_PROGRAM,
                   .fields = "--format hdf5" + ap1_fields,
                   .arguments = "--patch 32 --batch-size 2",
                   .samples = "6",
                   .unit = "samples"});
#endif
#ifdef BENCH_STEPS_NETCDF
  cases.push_back({.name = "Ap1Netcdf",
                   .program = AP1_PROGRAM,
                   .fields = "--format netcdf" + ap1_fields,
                   .arguments = "--patch 32 --batch-size 2",
                   .samples = "6",
                   .unit = "samples"});
  cases.push_back({.name = "Ap2",
                   .program = AP2_PROGRAM,
                   .fields = "--format netcdf --samples 12 --samples-per-file 4"
                             " --field input_ids:int64:12:100 --field label:int64::2",
                   .arguments = "--layers 2 --hidden 32 --heads 4 --vocab-size 100 --seq 12"
                                " --batch-size 4",
                   .samples = "12",
                   .unit = "tokens"});
  cases.push_back(ap5_case());
  cases.push_back({.name = "Ap6",
                   .program = AP6_PROGRAM,
                   .fields = "--format netcdf --samples 6 --samples-per-file 2"
                             " --field t:float32:25x16x20:normal",
                   .arguments = "--height 16 --width 20 --clusters 2 --variables t --batch-size 2",
                   .samples = "6",
                   .unit = "samples"});
  cases.push_back(atmorep_case());
#endif
  return cases;
}

class ApplicationDataTest : public testing::TestWithParam<DataCase> {
 protected:
  ApplicationDataTest() {
    const Outcome written = run_step(
        DATASET_PROGRAM, "fields " + GetParam().fields + " --output " + folder_.file("set"));
    EXPECT_EQ(written.exit_code, 0) << written.err;
  }

  std::string arguments(const std::string& more) const {
    return GetParam().arguments + " --device cpu --threads 1 --warmup 0 --data-path " +
           folder_.file("set") + " " + more;
  }
  Outcome run(const std::string& more) const {
    return run_step(GetParam().program, arguments(more));
  }

  Folder folder_;
};

TEST_P(ApplicationDataTest, IsTrainedOnForEpochs) {
  const Outcome outcome = run("--epochs 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("dataset"), folder_.file("set"));
  EXPECT_EQ(outcome.value("dataset_files"), "3");
  EXPECT_EQ(outcome.value("dataset_samples"), GetParam().samples);
  EXPECT_EQ(outcome.value("steps_per_epoch"), "3");
  EXPECT_EQ(outcome.value("measured_steps"), "6");
  EXPECT_EQ(outcome.value("epochs"), "2");
  EXPECT_TRUE(std::isfinite(outcome.number("final_loss")));
  EXPECT_GT(outcome.number(GetParam().unit + "_per_second"), 0);
  EXPECT_GT(outcome.number("loader_samples"), 0);
}

INSTANTIATE_TEST_SUITE_P(Programs, ApplicationDataTest, testing::ValuesIn(data_cases()),
                         support::case_name);

/// A format of Examples, one of arrays, and samples that are augmented behind the cache.
class ApplicationCacheTest : public ApplicationDataTest {};

TEST_P(ApplicationCacheTest, GivesTheSameLossesFromACacheAndFromACopy) {
  const std::string expected = run("--steps 4").value("final_loss");
  const Outcome cached = run("--steps 4 --cache");
  ASSERT_EQ(cached.exit_code, 0) << cached.err;
  EXPECT_EQ(cached.value("final_loss"), expected);
  const Outcome copied = run("--steps 4 --stage-to " + folder_.file("near"));
  ASSERT_EQ(copied.exit_code, 0) << copied.err;
  EXPECT_GT(copied.number("staged_bytes"), 0);
  EXPECT_THAT(copied.value("staged_folder"), HasSubstr(folder_.file("near/set-")));
  EXPECT_EQ(copied.value("final_loss"), expected);
}

#ifdef BENCH_STEPS_GLOO
TEST_P(ApplicationCacheTest, IsSharedByRanksThatCacheTheirParts) {
  for (const Outcome& outcome : run_ranks(2, GetParam().program, arguments("--epochs 2 --cache")))
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}
#endif

std::vector<DataCase> cache_cases() {
  std::vector<DataCase> cases = data_cases();
  std::erase_if(cases, [](const DataCase& c) {
    return c.name != "Ap2" && c.name != "Ap3" && c.name != "Ap6";
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Programs, ApplicationCacheTest, testing::ValuesIn(cache_cases()),
                         support::case_name);

struct DataMistake {
  std::string name;
  std::string program;
  std::string fields;
  std::string message;
};

std::vector<DataMistake> data_mistakes() {
  std::vector<DataMistake> mistakes = {
      {"Feature", AP3_PROGRAM, "--format tfrecord --samples 1 --field sca_inputs:float32:17",
       "/samples-00000-of-00001.tfrecord: byte 0: feature 'col_inputs' is missing"}};
#ifdef BENCH_STEPS_HDF5
  mistakes.push_back({"Variable", AP1_PROGRAM,
                      "--format hdf5 --samples 1 --field predictors:float32:32x32x8"
                      " --file-field static_predictors:float32:32x32x6",
                      "/samples-00000-of-00001.h5: no variable 'target_mean'"});
  mistakes.push_back({"Shape", AP1_PROGRAM,
                      "--format hdf5 --samples 1 --field predictors:float32:32x32x7"
                      " --field target_mean:float32:32x32"
                      " --file-field static_predictors:float32:32x32x6",
                      "/samples-00000-of-00001.h5: a sample of variable 'predictors' is float32 "
                      "(32, 32, 7), expected float32 (32, 32, 8)"});
#endif
  return mistakes;
}

class ApplicationDataMistakeTest : public testing::TestWithParam<DataMistake> {};

TEST_P(ApplicationDataMistakeTest, IsToldWithFileAndVariable) {
  const Folder folder;
  const std::string set = folder.file("set");
  run_step(DATASET_PROGRAM, "fields " + GetParam().fields + " --output " + set);
  const Outcome outcome =
      run_step(GetParam().program, std::string("--device cpu --threads 1 --batch-size 2 ") +
                                       (GetParam().program == AP1_PROGRAM ? "--patch 32 " : "") +
                                       "--data-path " + set);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("error: " + set + GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Programs, ApplicationDataMistakeTest, testing::ValuesIn(data_mistakes()),
                         support::case_name);

TEST(MicroBatches, GiveTheLossOfAWholeBatch) {
  const std::string arguments =
      "--device cpu --threads 1 --batch-size 4 --warmup 0 --steps 3 --learning-rate 0.003 ";
  const Outcome whole = run_step(AP3_PROGRAM, arguments);
  const Outcome parts = run_step(AP3_PROGRAM, arguments + "--micro-batches 2");
  ASSERT_EQ(parts.exit_code, 0) << parts.err;
  EXPECT_NEAR(parts.number("final_loss") / whole.number("final_loss"), 1, 1e-4);
  EXPECT_NEAR(parts.number("samples_per_second"), 12 / parts.number("epoch_s"), 1e-3);
}

TEST(Epochs, OfSyntheticSamplesHaveTheLengthThatIsGiven) {
  const std::string arguments = "--device cpu --threads 1 --batch-size 4 --warmup 0 --epochs 2 ";
  const Outcome outcome = run_step(AP3_PROGRAM, arguments + "--samples-per-epoch 10");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("measured_steps"), "6");
}

// The loss of MAELSTROM's applications on samples that are not trained on.

struct ValidationCase {
  std::string name;
  std::string program;
  std::string arguments;
};
class ApplicationValidationTest : public testing::TestWithParam<ValidationCase> {};

TEST_P(ApplicationValidationTest, DoesNotChangeTheTraining) {
  const std::string arguments =
      GetParam().arguments +
      " --device cpu --threads 1 --batch-size 2 --warmup 1 --steps 4 --learning-rate 0.003";
  const Outcome alone = run_step(GetParam().program, arguments);
  const Outcome evaluated =
      run_step(GetParam().program, arguments + " --eval-interval 2 --eval-samples 3");
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.value("final_loss"), alone.value("final_loss"));
  EXPECT_EQ(evaluated.value("evaluation_samples"), "3");
  const std::vector<double> found = evaluated.numbers("evaluation_loss");
  ASSERT_EQ(found.size(), 2U);
  for (const double loss : found)
    EXPECT_TRUE(std::isfinite(loss));
  EXPECT_NE(found[0], found[1]);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ApplicationValidationTest,
    testing::Values(
        ValidationCase{"Ap1", AP1_PROGRAM, "--patch 32"},
        ValidationCase{"Ap2", AP2_PROGRAM,
                       "--layers 1 --hidden 32 --heads 4 --vocab-size 100 --seq 12 --lr-warmup 0"},
        ValidationCase{"Ap5", AP5_PROGRAM, "--height 16 --width 16 --critic-updates 1"}),
    support::case_name);

const std::string small_training =
    "--device cpu --threads 1 --batch-size 2 --patch 32 --warmup 0 --epochs 4 --samples-per-epoch "
    "4";

TEST(ApplicationValidation, ComesAfterSoManyEpochs) {
  const Outcome outcome = run_step(AP1_PROGRAM, small_training + " --eval-epochs 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.numbers("evaluation_loss"), testing::SizeIs(2));
}

/// Twelve columns of the atmosphere.
class Ap3ColumnsTest : public testing::Test {
 protected:
  Ap3ColumnsTest() {
    const Outcome written = run_step(
        DATASET_PROGRAM, std::string("fields --samples 12 --output ") + set_ + ap3_columns);
    EXPECT_EQ(written.exit_code, 0) << written.err;
  }

  Folder folder_;
  std::string set_ = folder_.file("set");
  std::string arguments_ =
      "--device cpu --threads 1 --warmup 0 --steps 1 --learning-rate 0 --data-path " + set_;
};
using Ap3ValidationTest = Ap3ColumnsTest;
using Ap3InferenceTest = Ap3ColumnsTest;

TEST_F(Ap3ValidationTest, HasTheLossOfATrainingOnTheSameSamples) {
  const Outcome outcome =
      run_step(AP3_PROGRAM, arguments_ + " --batch-size 12 --eval-interval 1 --eval-path " + set_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("evaluation_dataset_samples"), "12");
  EXPECT_EQ(outcome.value("evaluation_samples"), "12");
  EXPECT_NEAR(outcome.number("evaluation_loss") / outcome.number("first_loss"), 1, 1e-5);
}

#ifdef BENCH_STEPS_GLOO
// Five samples, for two ranks with two at a time.
TEST_F(Ap3ValidationTest, IsSharedByRanks) {
  const std::string evaluation = " --eval-interval 1 --eval-samples 5 --eval-path " + set_;
  const Outcome alone = run_step(AP3_PROGRAM, arguments_ + " --batch-size 12" + evaluation);
  const auto ranks = run_ranks(2, AP3_PROGRAM, arguments_ + " --batch-size 2" + evaluation);
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  EXPECT_NEAR(ranks[0].number("evaluation_loss") / alone.number("evaluation_loss"), 1, 1e-5);
}
#endif

TEST_F(Ap3ValidationTest, NeedsSamples) {
  const Outcome none = run_step(AP3_PROGRAM, arguments_ + " --eval-interval 1");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, testing::HasSubstr("hint: name the files of the validation part with "
                                           "--eval-path"));
  const Outcome more = run_step(
      AP3_PROGRAM, arguments_ + " --eval-interval 1 --eval-samples 13 --eval-path " + set_);
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_THAT(more.err, testing::HasSubstr("has 12 samples, an evaluation has 13"));
}

// Inference with the networks of the applications.

const std::string small = "--device cpu --threads 1 ";

// With weights of a training, and the loss that the training found for the same samples.
TEST_F(Ap3InferenceTest, PassesEachSampleOnceThroughTheGivenWeights) {
  const std::string weights = folder_.file("weights.safetensors");
  const Outcome trained = run_step(
      AP3_PROGRAM, small + "--batch-size 12 --warmup 0 --steps 1 --eval-interval 1 --data-path " +
                       set_ + " --eval-path " + set_ + " --save-weights " + weights);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Outcome inferred =
      run_step(AP3_PROGRAM, small + "--inference --batch-size 5 --epochs 1 --cache --data-path " +
                                set_ + " --load-weights " + weights);
  ASSERT_EQ(inferred.exit_code, 0) << inferred.err;
  EXPECT_EQ(inferred.value("mode"), "inference");
  EXPECT_EQ(inferred.value("weights"), weights);
  EXPECT_EQ(inferred.value("inference_samples"), "12");
  EXPECT_NEAR(inferred.number("inference_loss") / trained.number("evaluation_loss"), 1, 1e-5);
  EXPECT_NEAR(inferred.number("columns_per_second"), 12 / inferred.number("inference_s"), 1e-3);
  EXPECT_NEAR(inferred.number("time_per_sample_s"), inferred.number("inference_s") / 12, 1e-9);
  const double loading_s = inferred.number("data_loading_s");
  EXPECT_NEAR(inferred.number("data_loading_percent"),
              100 * (loading_s + inferred.number("data_wait_s")) /
                  (loading_s + inferred.number("inference_s")),
              1e-3);
  for (const char* time : {"model_loading_s", "data_loading_s", "time_per_batch_p95_s"})
    EXPECT_GT(inferred.number(time), 0) << time;
}

#ifdef BENCH_STEPS_GLOO
TEST_F(Ap3InferenceTest, EndsWellOnRanksWithoutABatch) {
  const std::string arguments =
      small + "--inference --batch-size 6 --epochs 1 --warmup 0 --data-path " + set_;
  const auto ranks = run_ranks(3, AP3_PROGRAM, arguments);
  for (const Outcome& rank : ranks)
    EXPECT_EQ(rank.exit_code, 0) << rank.err;
  EXPECT_EQ(ranks[0].value("inference_samples"), "12");
}

TEST_F(Ap3InferenceTest, RefusesACacheForMoreRanksThanSamples) {
  const std::string few = folder_.file("few");
  ASSERT_EQ(
      run_step(DATASET_PROGRAM, std::string("fields --samples 2 --output ") + few + ap3_columns)
          .exit_code,
      0);
  for (const Outcome& rank :
       run_ranks(3, AP3_PROGRAM,
                 small + "--batch-size 1 --steps 1 --warmup 0 --cache --data-path " + few)) {
    EXPECT_EQ(rank.exit_code, 2);
    EXPECT_THAT(rank.err, HasSubstr("has 2 samples; with --cache each of 3 ranks keeps its own"));
  }
}

TEST(FieldInference, IsSharedByRanksThatEndTogether) {
  const auto ranks = run_ranks(2, AP5_PROGRAM,
                               small +
                                   "--inference --height 16 --width 16 --batch-size 2 --warmup "
                                   "0 --steps 1000000 --time-limit 0.001");
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  EXPECT_EQ(ranks[1].exit_code, 0) << ranks[1].err;
  EXPECT_EQ(ranks[0].value("weights"), "initial");
  EXPECT_EQ(ranks[0].number("inference_samples"), 4 * ranks[0].number("measured_steps"));
}
#endif

// The program of MAELSTROM's application 6.

using testing::ContainsRegex;

const std::string common =
    "--height 20 --width 25 --clusters 4 --device cpu --threads 1 --warmup 0 --lr-warmup 0 "
    "--lr-schedule constant ";

Outcome run(const std::string& more) {
  return run_step(AP6_PROGRAM, common + more);
}

TEST(Ap6, DescribesThePublishedNetwork) {
  const Outcome outcome = run_step(AP6_PROGRAM, "--describe");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("trainable_parameters"), "28060224");
  EXPECT_EQ(outcome.value("non_trainable_parameters"), "57216");
}

TEST(Ap6, LearnsTheClustersOfABatch) {
  const Outcome outcome = run(
      "--synthetic device --steps 12 --samples-per-epoch 48 --batch-size 4 --learning-rate 0.01");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_LT(outcome.number("final_loss"), 0.5 * outcome.number("first_loss"));
}

// The patterns of AP6's own benchmark, each with a number behind it.
TEST(Ap6, PrintsTheLinesOfItsBenchmark) {
  const Outcome outcome = run("--epochs 2 --samples-per-epoch 8 --batch-size 4");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* line :
       {"Number of trainable parameters: 28041792\n", "Number of non-trainable parameters: 57216\n",
        "Batch size: 4\n", "Batches per epoch: 2\n", "Starting epoch 0\n", "Starting epoch 1\n"})
    EXPECT_THAT(outcome.out, HasSubstr(line));
  for (const char* name :
       {"Embeddings initialization time", "Cluster step time", "Epoch time", "batch time avg",
        "data load time avg", "forward time avg", "loss time avg", "backward time avg",
        "embeddings time avg", "loss avg", "Total training time", "Total runtime"})
    EXPECT_THAT(outcome.out, ContainsRegex(std::string("\n") + name + ": [0-9]+[.]?[0-9]*"));
  EXPECT_EQ(outcome.value("epochs"), "2");
  EXPECT_EQ(outcome.value("measured_steps"), "4");
  // The harness leaves the clusterings out, the total training time has them.
  const std::string name = "Total training time: ";
  const double training_s = std::stod(outcome.out.substr(outcome.out.find(name) + name.size()));
  const double clustering_s = 2 * outcome.number("clustering_mean_s");
  EXPECT_GT(clustering_s, 0);
  EXPECT_NEAR((training_s - clustering_s) / outcome.number("epoch_s"), 1, 1e-5);
}

TEST(Ap6, StartsFromTheWeightsThatAnotherRunSaved) {
  const Folder folder;
  const std::string file = "'" + folder.file("weights.safetensors") + "'";
  const std::string training = "--samples-per-epoch 8 --batch-size 4 --learning-rate 0.01 ";
  const Outcome saved = run(training + "--steps 1 --save-weights " + file);
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  const Outcome loaded = run(training + "--steps 1 --load-weights " + file);
  ASSERT_EQ(loaded.exit_code, 0) << loaded.err;
  EXPECT_NE(loaded.value("first_loss"), saved.value("first_loss"));
}

TEST(Ap6, TrainsPrototypesThatAreNotFrozen) {
  const std::string training =
      "--samples-per-epoch 12 --batch-size 4 --steps 3 --learning-rate 0.01 ";
  const Outcome frozen = run(training);
  const Outcome learning = run(training + "--freeze-prototypes 1");
  ASSERT_EQ(learning.exit_code, 0) << learning.err;
  EXPECT_EQ(learning.value("first_loss"), frozen.value("first_loss"));
  EXPECT_NE(learning.value("final_loss"), frozen.value("final_loss"));
}

// The prototypes have a backward pass of their own.
TEST(Ap6, PrintsTheTimeOfBothBackwardPasses) {
  const Folder folder;
  const Outcome outcome =
      run("--epochs 1 --samples-per-epoch 8 --batch-size 4 --freeze-prototypes 0 --timings " +
          folder.file("t.csv"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  double backward_s = 0;
  int passes = 0;
  std::istringstream lines(read_text(folder.file("t.csv")));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("Backward,")) {
      backward_s += std::stod(line.substr(line.rfind(',') + 1));
      ++passes;
    }
  EXPECT_EQ(passes, 4);
  const std::string name = "backward time avg: ";
  const double printed_s = std::stod(outcome.out.substr(outcome.out.find(name) + name.size()));
  EXPECT_NEAR(2 * printed_s / backward_s, 1, 1e-4);
}

#ifdef BENCH_STEPS_GLOO

// Also their normalisations see the samples of both ranks. The rate is small since the first steps
// of the deep network multiply what rounding leaves: 0.12 % on an AMD EPYC. Training changes the
// losses by 0.5 %.
TEST(Ap6Ranks, TrainAsOneRank) {
  const std::string steps = " --epochs 1 --samples-per-epoch 24 --learning-rate 1e-6";
  const Outcome alone = run("--batch-size 8" + steps);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const auto ranks = run_ranks(2, AP6_PROGRAM, common + "--batch-size 4" + steps);
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  ASSERT_EQ(ranks[1].exit_code, 0) << ranks[1].err;
  for (const char* loss : {"first_loss", "final_loss"})
    EXPECT_NEAR(ranks[0].number(loss) / alone.number(loss), 1, 2e-3) << loss;
}

#endif

}  // namespace
}  // namespace bench::steps
