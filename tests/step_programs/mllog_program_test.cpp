// Which of MLPerf's lines the programs print.

#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;

/// The keys of the lines, in their order.
std::vector<std::string> keys(const std::string& out) {
  std::vector<std::string> found;
  const std::string before = "\"key\": \"";
  for (auto at = out.find(before); at != std::string::npos; at = out.find(before, at + 1)) {
    const auto begin = at + before.size();
    found.push_back(out.substr(begin, out.find('"', begin) - begin));
  }
  return found;
}

TEST(VisionProgram, PrintsTheEventsOfMlperfInTheirOrder) {
  const Outcome outcome = run_step(
      VISION_PROGRAM,
      "--model resnet18 --image-size 32 --batch-size 2 --classes 10 --threads 1 --device cpu "
      "--steps 2 --warmup 1 --eval-steps 1 --mllog");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(keys(outcome.out),
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
  EXPECT_THAT(keys(outcome.out),
              ElementsAre("init_start", "seed", "global_batch_size",
                          "gradient_accumulation_frequency", "max_sequence_length", "train_samples",
                          "opt_name", "opt_base_learning_rate", "opt_end_learning_rate",
                          "opt_betas", "opt_eps", "opt_weight_decay", "opt_max_grad_norm",
                          "init_stop", "run_start", "epoch_start", "epoch_stop", "run_stop"));
  EXPECT_THAT(keys(run_step(GPT_PROGRAM, arguments).out), testing::IsEmpty());
}

}  // namespace
}  // namespace bench::steps
