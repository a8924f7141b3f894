// The program of MAELSTROM's application 6.

#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"

#include <sstream>
#include <string>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

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
}

// The harness leaves the clusterings out.
TEST(Ap6, CountsTheClusteringsAmongTheTraining) {
  const Outcome outcome = run("--epochs 2 --samples-per-epoch 8 --batch-size 4");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
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
  const Outcome saved = run(training + "--steps 2 --save-weights " + file);
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

TEST(Ap6, NeedsAsManySamplesAsClusters) {
  const Outcome outcome =
      run_step(AP6_PROGRAM, "--height 20 --width 25 --samples-per-epoch 8 --batch-size 4");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("an epoch of 8 samples is less than the 40 clusters"));
  EXPECT_THAT(outcome.err, HasSubstr("--clusters 8 or less"));
}

#ifdef BENCH_STEPS_GLOO

// Also their normalisations see the samples of both ranks. The rate is small since the first steps
// of the deep network multiply what rounding leaves. It changes the losses by 0.5 %.
TEST(Ap6Ranks, TrainAsOneRank) {
  const std::string steps = " --epochs 1 --samples-per-epoch 24 --learning-rate 1e-6";
  const Outcome alone = run("--batch-size 8" + steps);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const auto ranks = run_ranks(2, AP6_PROGRAM, common + "--batch-size 4" + steps);
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  ASSERT_EQ(ranks[1].exit_code, 0) << ranks[1].err;
  for (const char* loss : {"first_loss", "final_loss"})
    EXPECT_NEAR(ranks[0].number(loss) / alone.number(loss), 1, 5e-4) << loss;
}

#endif

}  // namespace
}  // namespace bench::steps
