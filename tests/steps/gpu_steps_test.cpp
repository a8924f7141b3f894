// The step programs on a GPU; skipped where LibTorch sees none.

#include "harness/torch_all.hpp"
#include "step_programs/program_runner.hpp"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

class StepsOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (torch::cuda::device_count() == 0)
      GTEST_SKIP() << "LibTorch sees no GPU";
  }

  static Outcome run_vision(const std::string& arguments) {
    return run_in_shell(
        VISION_PROGRAM,
        "--image-size 64 --batch-size 8 --warmup 6 --steps 10 --device cuda " + arguments);
  }
};

/// What the table of tf_cnn_benchmarks has in its last column.
std::vector<double> losses_of(const std::string& log) {
  std::vector<double> losses;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    if (const auto tab = line.rfind('\t');
        tab != std::string::npos && line.find("images/sec") != std::string::npos)
      losses.push_back(std::stod(line.substr(tab)));
  return losses;
}

/// A GPU draws other initial weights from the same seed, so both start from those of a file.
TEST_F(StepsOnGpu, TheLossIsThatOfTheCpu) {
  const std::string tokens =
      "--layers 2 --hidden 64 --heads 4 --seq 32 --vocab-size 256 --micro-batch-size 4 ";
  for (const auto& [program, arguments] :
       {std::pair(VISION_PROGRAM,
                  std::string("--model resnet18 --image-size 64 --batch-size 8 --synthetic host ")),
        std::pair(GPT_PROGRAM, tokens + "--attention-dropout 0 --hidden-dropout 0 "),
        std::pair(LLAMA_PROGRAM, tokens + "--kv-heads 2 --mlp 128 ")}) {
    const Folder folder;
    const std::string weights = folder.file("weights");
    const std::string common = arguments + "--warmup 0 --steps 1 --device ";
    ASSERT_EQ(run_in_shell(program, common + "cpu --save-weights " + weights).exit_code, 0);
    const Outcome cpu = run_in_shell(program, common + "cpu --load-weights " + weights);
    const Outcome gpu = run_in_shell(program, common + "cuda --load-weights " + weights);
    ASSERT_EQ(gpu.exit_code, 0) << gpu.err;
    EXPECT_NEAR(gpu.number("first_loss") / cpu.number("first_loss"), 1, 1e-4) << program;
  }
}

TEST_F(StepsOnGpu, VisionEndsSoonBehindTheStepWhoseLossIsLost) {
  const Outcome outcome =
      run_in_shell(VISION_PROGRAM,
                   "--model resnet18 --image-size 64 --batch-size 8 --device cuda "
                   "--warmup 0 --steps 100000 --base-learning-rate 1e30");
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_EQ(outcome.value("diverged_at_step"), "2");
}

TEST_F(StepsOnGpu, VisionReplaysWhatItWouldDo) {
  for (const char* images : {"--synthetic device", "--synthetic host"})
    for (const char* precision : {"fp32", "fp16", "bf16"}) {
      const std::string arguments =
          std::string("--model resnet18 --precision ") + precision + " " + images;
      const Outcome done = run_vision(arguments);
      const Outcome replayed = run_vision(arguments + " --cuda-graph");
      ASSERT_EQ(done.exit_code, 0) << done.err;
      ASSERT_EQ(replayed.exit_code, 0) << replayed.err;
      const std::vector<double> expected = losses_of(done.out);
      const std::vector<double> losses = losses_of(replayed.out);
      ASSERT_EQ(losses.size(), expected.size());
      ASSERT_GE(losses.size(), 2U);
      // Sums on a GPU have no fixed order, and training makes the differences larger.
      for (std::size_t i = 0; i < losses.size(); ++i)
        EXPECT_NEAR(losses[i], expected[i], 0.02 * expected[i] + 0.02) << arguments;
    }
}

TEST_F(StepsOnGpu, VisionHasTheSameLossesEachTimeIfAsked) {
  const std::string arguments = "--model resnet18 --deterministic --synthetic host";
  const Outcome first = run_vision(arguments);
  const Outcome second = run_vision(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.value("environment_CUBLAS_WORKSPACE_CONFIG"), ":4096:8");
  EXPECT_EQ(losses_of(second.out), losses_of(first.out));
  EXPECT_EQ(second.value("final_loss"), first.value("final_loss"));
}

TEST_F(StepsOnGpu, TimesOfPartsAddUpToTheEpoch) {
  for (const char* graph : {"", " --cuda-graph"}) {
    const Outcome outcome = run_vision(std::string("--model resnet50") + graph);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    double parts_s = 0;
    for (const char* part : {"io", "forward", "backward", "comm", "optimizer", "other"})
      parts_s += 10 * outcome.number(std::string(part) + "_mean_s");
    EXPECT_NEAR(parts_s / outcome.number("epoch_s"), 1.0, 0.05);
    EXPECT_GT(outcome.number("forward_mean_s"), 0.0);
  }
}

TEST_F(StepsOnGpu, GptFindsTheSameLossesInEveryWay) {
  const auto losses_of_gpt = [](const std::string& arguments) {
    const Outcome outcome = run_in_shell(
        GPT_PROGRAM,
        "--layers 2 --hidden 64 --heads 4 --seq 64 --vocab-size 512 --micro-batch-size 2 "
        "--global-batch-size 4 --attention-dropout 0 --hidden-dropout 0 --steps 5 --warmup 1 "
        "--device cuda " +
            arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments << outcome.err;
    return std::pair(outcome.number("first_loss"), outcome.number("final_loss"));
  };
  const auto [first, last] = losses_of_gpt("--attention plain");
  EXPECT_LT(last, first);
  for (const char* arguments :
       {"--attention fused", "--recompute full", "--precision bf16", "--precision fp16"}) {
    const auto losses = losses_of_gpt(arguments);
    EXPECT_NEAR(losses.first, first, 0.02) << arguments;
    EXPECT_NEAR(losses.second, last, 0.02) << arguments;
  }
}

TEST_F(StepsOnGpu, AtmoRepFindsTheSameLossesInEveryWay) {
  const auto losses_of_atmorep = [](const std::string& arguments) {
    const Outcome outcome = run_in_shell(
        ATMOREP_PROGRAM,
        "--levels 2 --tokens 3,2,2 --token-size 2,4,3 --width 64 --heads 4 --layers 2 "
        "--ensemble 3 --dropout 0 --learning-rate 0.001 --lr-warmup 0 --steps 20 --warmup 1 "
        "--synthetic device --device cuda " +
            arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments << outcome.err;
    return std::pair(outcome.number("first_loss"), outcome.number("final_loss"));
  };
  const auto [first, last] = losses_of_atmorep("--recompute none");
  EXPECT_LT(last, first);
  for (const char* arguments : {"--recompute full", "--precision bf16", "--precision fp16"}) {
    const auto losses = losses_of_atmorep(arguments);
    EXPECT_NEAR(losses.first, first, 0.03) << arguments;
    EXPECT_NEAR(losses.second, last, 0.03) << arguments;
  }
}

}  // namespace
}  // namespace bench::steps
