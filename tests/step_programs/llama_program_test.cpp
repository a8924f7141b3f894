#include "step_programs/linked_programs.hpp"

#include <cmath>
#include <string>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Two layers, four heads that share two key/value heads, a vocabulary of 128.
const std::string tiny_llama =
    "--layers 2 --hidden 32 --heads 4 --kv-heads 2 --mlp 64 --seq 32 --vocab-size 128 --device cpu "
    "--threads 1 ";

Outcome run_llama(const std::string& arguments) {
  return run_step(LLAMA_PROGRAM, arguments);
}

TEST(LlamaProgram, HasThePublishedNumberOfParameters) {
  const Outcome outcome = run_llama("--model 8B --describe");
  EXPECT_EQ(outcome.value("trainable_parameters"), "8030261248");
  EXPECT_EQ(outcome.value("model"), "8B");
}

TEST(LlamaProgram, PlansALayoutThatFits) {
  const Outcome outcome = run_llama(
      "--plan --model 70B --precision bf16 --attention fused --device-memory-gib 80 "
      "--devices-per-node 8");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("fits"), "yes");
  EXPECT_LT(outcome.number("per_device_total_gib"), 80);
  EXPECT_GT(outcome.number("one_device_total_gib"), 70.5 * 20 / 1.074);
}

TEST(LlamaProgram, TrainsAndReports) {
  const Outcome outcome =
      run_llama(tiny_llama +
                "--micro-batch-size 2 --global-batch-size 6 --steps 7 --warmup 1 --peak-tflops 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_EQ(outcome.value("measured_steps"), "7");
  EXPECT_NEAR(outcome.number("first_loss"), std::log(128.0), 0.1);
  EXPECT_NEAR(outcome.number("mfu_percent"), 50 * outcome.number("tflops_per_device"), 1e-6);
  EXPECT_THAT(outcome.out, HasSubstr(" iteration        7/       7 | consumed samples:"));
}

TEST(LlamaProgram, GoesOnFromACheckpointAsIfItHadNotStopped) {
  const Folder folder;
  const std::string common = tiny_llama + "--micro-batch-size 2 --warmup 0 --lr-warmup-samples 0 ";
  const Outcome whole = run_llama(common + "--steps 6");
  ASSERT_EQ(run_llama(common + "--steps 3 --save " + folder.file("c")).exit_code, 0);
  const Outcome rest = run_llama(common + "--steps 3 --load " + folder.file("c"));
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(rest.value("final_loss"), whole.value("final_loss"));
}

TEST(LlamaProgram, TrainsExpertsAndReportsTheirLoads) {
  const Outcome outcome = run_llama(
      tiny_llama + "--experts 4 --micro-batch-size 2 --global-batch-size 4 --steps 3 --warmup 1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("experts"), "4");
  EXPECT_EQ(outcome.value("experts_per_token"), "2");
  // 2 layers, 2 unused MLPs each: 3 matrices of 32 x 64.
  EXPECT_EQ(outcome.number("trainable_parameters") - outcome.number("active_parameters"),
            2 * 2 * 3 * 32 * 64);
  EXPECT_NEAR(outcome.number("first_loss"), std::log(128.0), 0.1);
  EXPECT_GE(outcome.number("expert_load_max"), 1);
  EXPECT_LE(outcome.number("expert_load_min"), 1);
  EXPECT_GT(outcome.number("balance_loss"), 0.9);
}

TEST(LlamaProgram, WarnsIfExpertsGoOnWithAnotherBalance) {
  const Folder folder;
  const std::string common = tiny_llama + "--experts 4 --steps 1 --warmup 0 ";
  ASSERT_EQ(run_llama(common + "--save " + folder.file("c")).exit_code, 0);
  const std::string load = common + "--load " + folder.file("c");
  EXPECT_THAT(run_llama(load).err, Not(HasSubstr("balance_weight")));
  const Outcome other = run_llama(load + " --balance-weight 0.5");
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_THAT(other.err,
              HasSubstr("has balance_weight=0.01, this run balance_weight=0.5: it does"));
}

}  // namespace
}  // namespace bench::steps
