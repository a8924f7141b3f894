// The programs of MAELSTROM's applications on data sets, which `dataset fields` writes.

#include "step_programs/ap3_columns.hpp"
#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"

#include <cmath>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;

struct DataCase {
  std::string name;
  std::string program;
  std::string fields;     ///< Options of `dataset fields`: three files.
  std::string arguments;  ///< A batch is a third of an epoch.
  std::string samples;    ///< In the data set.
  std::string unit;       ///< Of the rates.
};
void PrintTo(const DataCase& c, std::ostream* out) {
  *out << c.name;
}

/// Three lead times with two patches each.
const std::string ap1_fields =
    " --samples 3 --samples-per-file 1 --field predictors:float32:70x40x8:normal"
    " --field target_mean:float32:70x40 --file-field static_predictors:float32:70x40x6";
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

TEST_P(ApplicationDataTest, GivesTheSameLossesFromACacheAndFromACopy) {
  const std::string expected = run("--steps 7").value("final_loss");
  const Outcome cached = run("--steps 7 --cache");
  ASSERT_EQ(cached.exit_code, 0) << cached.err;
  EXPECT_EQ(cached.value("final_loss"), expected);
  const Outcome copied = run("--steps 7 --stage-to " + folder_.file("near"));
  ASSERT_EQ(copied.exit_code, 0) << copied.err;
  EXPECT_GT(copied.number("staged_bytes"), 0);
  EXPECT_THAT(copied.value("staged_folder"), HasSubstr(folder_.file("near/set-")));
  EXPECT_EQ(copied.value("final_loss"), expected);
}

#ifdef BENCH_STEPS_GLOO
TEST_P(ApplicationDataTest, IsSharedByRanksThatCacheTheirParts) {
  for (const Outcome& outcome : run_ranks(2, GetParam().program, arguments("--epochs 2 --cache")))
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}
#endif

INSTANTIATE_TEST_SUITE_P(Programs, ApplicationDataTest, testing::ValuesIn(data_cases()),
                         [](const auto& test) { return test.param.name; });

struct DataMistake {
  std::string name;
  std::string program;
  std::string fields;
  std::string message;
};
void PrintTo(const DataMistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

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
                         [](const auto& test) { return test.param.name; });

TEST(ApplicationData, MustExist) {
  const Outcome outcome =
      run_step(AP3_PROGRAM, "--device cpu --threads 1 --data-path /nowhere/columns");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/nowhere/columns does not exist"));
}

TEST(MicroBatches, GiveTheLossOfAWholeBatch) {
  const std::string arguments =
      "--device cpu --threads 1 --batch-size 4 --warmup 0 --steps 3 --learning-rate 0.003 ";
  const Outcome whole = run_step(AP3_PROGRAM, arguments);
  const Outcome parts = run_step(AP3_PROGRAM, arguments + "--micro-batches 2");
  ASSERT_EQ(parts.exit_code, 0) << parts.err;
  EXPECT_NEAR(parts.number("final_loss") / whole.number("final_loss"), 1, 1e-4);
  EXPECT_NEAR(parts.number("samples_per_second"), 12 / parts.number("epoch_s"), 1e-3);
}

TEST(MicroBatches, MustDivideTheBatch) {
  const std::vector<std::string> programs = {AP1_PROGRAM, AP3_PROGRAM, VISION_PROGRAM};
  for (const std::string& program : programs) {
    const Outcome outcome =
        run_step(program, "--device cpu --threads 1 --batch-size 4 --micro-batches 3");
    EXPECT_EQ(outcome.exit_code, 2) << program;
    EXPECT_THAT(outcome.err, HasSubstr("a batch of 4 cannot be divided into 3 micro-batches"));
  }
}

TEST(Epochs, OfSyntheticSamplesHaveTheLengthThatIsGiven) {
  const std::string arguments = "--device cpu --threads 1 --batch-size 4 --warmup 0 --epochs 2 ";
  const Outcome outcome = run_step(AP3_PROGRAM, arguments + "--samples-per-epoch 10");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("measured_steps"), "6");
  const Outcome endless = run_step(AP3_PROGRAM, arguments);
  EXPECT_EQ(endless.exit_code, 2);
  EXPECT_THAT(endless.err, HasSubstr("an epoch of synthetic samples has no length\n"
                                     "hint: add --samples-per-epoch"));
}

}  // namespace
}  // namespace bench::steps
