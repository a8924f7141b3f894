// The programs of MAELSTROM's applications.

#include "harness/program.hpp"
#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

struct Application {
  std::string name;
  std::string program;
  std::string arguments;
  std::string trainable_parameters;
  std::string non_trainable_parameters;
  bool updates_once = true;  ///< A step is a single update, with a single batch.
};
void PrintTo(const Application& application, std::ostream* out) {
  *out << application.name;
}

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
      run("--synthetic device --steps 20 --warmup 0 --learning-rate 0.003 --batch-size 4 "
          "--deterministic");
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

TEST(SavedWeights, AreNotThoseOfProfiledSteps) {
  const Outcome outcome =
      run_step(AP1_PROGRAM, "--device cpu --steps 1 --profile t.json --save-weights w.safetensors");
  EXPECT_EQ(outcome.exit_code, exit_usage);
  EXPECT_THAT(outcome.err, testing::HasSubstr("--profile excludes --save-weights"));
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
                      false};

const Application atmorep{
    "AtmoRep", ATMOREP_PROGRAM,
    "--levels 2 --tokens 3,2,2 --token-size 2,4,3 --width 32 --heads 4 "
    "--layers 2 --ensemble 3 --dropout 0 --lr-warmup 0 --lr-schedule constant",
    "121272", "0"};

INSTANTIATE_TEST_SUITE_P(Programs, ApplicationTest,
                         testing::Values(ap1, ap2, ap3_cnn, ap3_lstm, ap4, ap5, atmorep),
                         [](const auto& test) { return test.param.name; });

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
                         testing::Values(ap1, ap2, ap3_cnn, ap3_lstm, ap4, atmorep),
                         [](const auto& test) { return test.param.name; });

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
  const auto ranks = run(2, "--synthetic device --steps 20 --learning-rate 0.003");
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  EXPECT_EQ(ranks[1].exit_code, 0) << ranks[1].err;
  EXPECT_LT(ranks[0].number("final_loss"), 0.9 * ranks[0].number("first_loss"));
}

#endif

}  // namespace
}  // namespace bench::steps
