// The real programs with several ranks on this machine.

#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"
#include "support/case_name.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#ifdef BENCH_STEPS_GLOO

namespace bench::steps {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Options of a model that trains in moments; those given here come before its own.
std::string tiny_gpt(const std::string& options = "") {
  const std::pair<const char*, const char*> defaults[] = {{"--layers", "4"},
                                                          {"--hidden", "32"},
                                                          {"--heads", "4"},
                                                          {"--seq", "16"},
                                                          {"--vocab-size", "128"},
                                                          {"--threads", "1"},
                                                          {"--device", "cpu"},
                                                          {"--hidden-dropout", "0"},
                                                          {"--attention-dropout", "0"},
                                                          {"--lr", "1e-2"},
                                                          {"--lr-warmup-samples", "0"},
                                                          {"--warmup", "0"},
                                                          {"--steps", "4"},
                                                          {"--log-interval", "1"},
                                                          {"--micro-batch-size", "1"},
                                                          {"--global-batch-size", "4"}};
  std::string all = options;
  for (const auto& [name, value] : defaults)
    if (options.find(std::string(name) + " ") == std::string::npos)
      all += fmt::format(" {} {}", name, value);
  return all;
}

struct ParallelCase {
  std::string name;
  int ranks;
  int data_parallel;
  std::string layout;
  std::string options = "";  ///< Also of the rank alone.
  double tolerance = 2e-5;
};
class GptParallelTest : public testing::TestWithParam<ParallelCase> {};

TEST_P(GptParallelTest, LosesAsOneRankDoes) {
  const ParallelCase& c = GetParam();
  const auto alone = losses(run_ranks(1, GPT_PROGRAM, tiny_gpt(c.options))[0]);
  const auto outcomes = run_ranks(c.ranks, GPT_PROGRAM, tiny_gpt(c.options + " " + c.layout));
  for (const Outcome& outcome : outcomes)
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcomes[0].number("data_parallel"), c.data_parallel);
  const auto together = losses(outcomes[0]);
  ASSERT_EQ(alone.size(), 4U);
  ASSERT_EQ(together.size(), 4U);
  for (std::size_t i = 0; i < alone.size(); ++i)
    EXPECT_NEAR(together[i], alone[i], c.tolerance) << "iteration " << i;
}

INSTANTIATE_TEST_SUITE_P(
    Ranks, GptParallelTest,
    testing::Values(
        ParallelCase{"TwoWithSharesOfTheOptimizer", 2, 2, ""},
        ParallelCase{"FourWithSharesOfTheOptimizer", 4, 4, ""},
        ParallelCase{"TwoWithTheWholeOptimizer", 2, 2, "--no-distributed-optimizer"},
        ParallelCase{"TwoShareTheMatrices", 2, 1, "--tensor-parallel 2"},
        ParallelCase{"FourShareTheMatrices", 4, 1, "--tensor-parallel 4"},
        ParallelCase{"TwoStages", 2, 1, "--pipeline-parallel 2"},
        ParallelCase{"FourStages", 4, 1, "--pipeline-parallel 4"},
        ParallelCase{"MoreStagesThanMicroBatches", 4, 1, "--pipeline-parallel 4",
                     "--global-batch-size 2"},
        ParallelCase{"TwoStagesThatShareTheirMatrices", 4, 1,
                     "--tensor-parallel 2 --pipeline-parallel 2"},
        ParallelCase{"TwoModelsThatShareTheirMatrices", 4, 2, "--tensor-parallel 2"},
        ParallelCase{"TwoModelsInStages", 4, 2, "--pipeline-parallel 2 --no-distributed-optimizer"},
        ParallelCase{"EverythingAtOnce", 8, 2, "--tensor-parallel 2 --pipeline-parallel 2"},
        ParallelCase{"SharedMatricesComputedAgain", 2, 1, "--tensor-parallel 2",
                     "--positions rotary --recompute full"},
        ParallelCase{"StagesComputedAgain", 2, 1, "--pipeline-parallel 2",
                     "--positions rotary --recompute full"},
        ParallelCase{"SharedMatricesInHalfPrecision", 2, 1, "--tensor-parallel 2",
                     "--precision bf16", 2e-2}),
    support::case_name);

struct EvaluationCase {
  std::string name;
  int ranks;
  std::string layout;
};
class GptEvaluationLayoutTest : public testing::TestWithParam<EvaluationCase> {};

// In the last step of an evaluation there are fewer samples than the ranks have places for.
TEST_P(GptEvaluationLayoutTest, HasTheLossOfOneRank) {
  const std::string options = tiny_gpt(
      "--steps 4 --micro-batch-size 2 --global-batch-size 8 --eval-interval 2 --eval-samples 5");
  const Outcome alone = run_ranks(1, GPT_PROGRAM, options)[0];
  const auto together = run_ranks(GetParam().ranks, GPT_PROGRAM, options + GetParam().layout);
  for (const Outcome& outcome : together)
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto expected = alone.numbers("evaluation_loss");
  const auto found = together[0].numbers("evaluation_loss");
  ASSERT_EQ(expected.size(), 2U);
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 2e-5) << "evaluation " << i;
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, GptEvaluationLayoutTest,
    testing::Values(EvaluationCase{"FourCopies", 4, ""},
                    EvaluationCase{"SharedMatrices", 2, " --tensor-parallel 2"},
                    EvaluationCase{"FourStages", 4, " --pipeline-parallel 4"},
                    EvaluationCase{"EverythingAtOnce", 8,
                                   " --tensor-parallel 2 --pipeline-parallel 2"}),
    support::case_name);

struct GoingOnCase {
  std::string name;
  int ranks;
  std::string options;
};
class GptGoingOnTest : public testing::TestWithParam<GoingOnCase> {};

// To the last digit that is printed, random numbers of dropout included.
TEST_P(GptGoingOnTest, LosesAsIfItHadNotStopped) {
  const auto& [name, ranks, layout] = GetParam();
  const Folder folder;
  const std::string options = layout + " --hidden-dropout 0.1 --attention-dropout 0.1 --steps ";
  const std::string checkpoints =
      " --save " + folder.file("saved") + " --load " + folder.file("saved");
  const auto whole = losses(run_ranks(ranks, GPT_PROGRAM, tiny_gpt(options + "4"))[0]);
  auto parts = losses(run_ranks(ranks, GPT_PROGRAM, tiny_gpt(options + "2" + checkpoints))[0]);
  const auto second = run_ranks(ranks, GPT_PROGRAM, tiny_gpt(options + "2" + checkpoints));
  ASSERT_EQ(second[0].exit_code, 0) << second[0].err;
  EXPECT_EQ(second[0].number("checkpoint_iteration"), 2);
  for (const double loss : losses(second[0]))
    parts.push_back(loss);
  EXPECT_EQ(whole.size(), 4U);
  EXPECT_EQ(parts, whole);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, GptGoingOnTest,
    testing::Values(GoingOnCase{"OneRank", 1, ""}, GoingOnCase{"SharesOfTheOptimizer", 2, ""},
                    GoingOnCase{"WholeOptimizers", 2, "--no-distributed-optimizer"},
                    GoingOnCase{"SharedModel", 4, "--tensor-parallel 2 --pipeline-parallel 2"}),
    support::case_name);

struct PartOfARun {
  int ranks;
  std::string layout;
};
struct LayoutsCase {
  std::string name;
  const char* program;
  std::string model;
  std::vector<PartOfARun> parts;
};
class CheckpointLayoutsTest : public testing::TestWithParam<LayoutsCase> {};

// Each part of a run goes on from the checkpoint of the one before, in another layout.
TEST_P(CheckpointLayoutsTest, LoseAsOneRankThatDoesNotStop) {
  const LayoutsCase& c = GetParam();
  const Folder folder;
  const std::string options =
      c.model +
      " --layers 4 --hidden 32 --heads 4 --seq 16 --vocab-size 128 --threads 1 "
      "--device cpu --lr 1e-2 --lr-warmup-samples 0 --warmup 0 --log-interval 1 "
      "--global-batch-size 4 ";
  const std::string checkpoints = " --save " + folder.file("c") + " --load " + folder.file("c");
  const auto whole = losses(run_ranks(1, c.program, options + "--steps 6")[0]);
  std::vector<double> found;
  for (const auto& [ranks, layout] : c.parts) {
    const auto outcomes =
        run_ranks(ranks, c.program, options + "--steps 2 " + layout + checkpoints);
    ASSERT_EQ(outcomes[0].exit_code, 0) << outcomes[0].err;
    for (const double loss : losses(outcomes[0]))
      found.push_back(loss);
  }
  ASSERT_EQ(whole.size(), 6U);
  ASSERT_EQ(found.size(), 6U);
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_NEAR(found[i], whole[i], 2e-5) << "iteration " << i + 1;
}

INSTANTIATE_TEST_SUITE_P(
    Programs, CheckpointLayoutsTest,
    testing::Values(LayoutsCase{"Gpt",
                                GPT_PROGRAM,
                                "--hidden-dropout 0 --attention-dropout 0",
                                {{4, "--tensor-parallel 2 --pipeline-parallel 2"},
                                 {1, ""},
                                 {2, "--tensor-parallel 2"}}},
                    LayoutsCase{"Llama",
                                LLAMA_PROGRAM,
                                "--kv-heads 2 --mlp 48",
                                {{2, "--tensor-parallel 2"},
                                 {2, "--pipeline-parallel 2 --no-distributed-optimizer"},
                                 {2, ""}}},
                    // With this seed no token changes its expert by rounding.
                    LayoutsCase{"Experts",
                                LLAMA_PROGRAM,
                                "--kv-heads 2 --mlp 48 --experts 4 --seed 3",
                                {{2, "--tensor-parallel 2"}, {1, ""}, {2, "--tensor-parallel 2"}}}),
    support::case_name);

TEST(GptParallel, RefusesRanksThatMakeNoModel) {
  for (const Outcome& outcome :
       run_ranks(2, GPT_PROGRAM, tiny_gpt("--tensor-parallel 2 --pipeline-parallel 2"))) {
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("2 ranks cannot be shared by models of 2 tensor-parallel "
                                       "ranks in 2 pipeline stages"));
  }
}

TEST(GptParallel, OnlyRank0Speaks) {
  const auto outcomes = run_ranks(2, GPT_PROGRAM, tiny_gpt());
  EXPECT_THAT(outcomes[0].out, HasSubstr("result=ok\n"));
  EXPECT_EQ(outcomes[1].exit_code, 0) << outcomes[1].err;
  EXPECT_THAT(outcomes[1].out, IsEmpty());
}

TEST(GptParallel, EveryRankWritesItsResults) {
  const Folder folder;
  const auto outcomes = run_ranks(2, GPT_PROGRAM, tiny_gpt("--metrics " + folder.file("m.json")));
  ASSERT_EQ(outcomes[1].exit_code, 0) << outcomes[1].err;
  for (const auto& [file, rank] : {std::pair("m.json", "0"), std::pair("m.json.1", "1")}) {
    const std::string text = read_text(folder.file(file));
    EXPECT_THAT(text, HasSubstr(std::string("\"rank\": ") + rank + ",\n  \"size\": 2,"));
    EXPECT_THAT(text, HasSubstr("\n  \"result\": \"ok\"\n"));
  }
}

TEST(GptParallel, AGlobalBatchIsSharedOrRefused) {
  for (const Outcome& outcome :
       run_ranks(2, GPT_PROGRAM, "--micro-batch-size 2 --global-batch-size 6 --layers 1")) {
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("not made of micro-batches of 2 for 2 ranks"));
  }
}

struct DifferingCase {
  std::string name;
  std::string program;
  std::string arguments;
  std::string of_the_last;
  std::string message;
};
class DifferingOptionsTest : public testing::TestWithParam<DifferingCase> {};

TEST_P(DifferingOptionsTest, EndAllRanks) {
  const DifferingCase& c = GetParam();
  for (const Outcome& outcome : run_ranks(3, c.program, c.arguments, c.of_the_last)) {
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(c.message));
    EXPECT_THAT(outcome.err, HasSubstr("\nhint: give all ranks the same options"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, DifferingOptionsTest,
    testing::Values(DifferingCase{"Gpt", GPT_PROGRAM,
                                  "--layers 1 --heads 4 --threads 1 --device cpu", "--hidden 64",
                                  "rank 2 was started with --hidden 64, rank 0 with no --hidden"},
                    DifferingCase{
                        "Vision", VISION_PROGRAM, "--model resnet18 --threads 1 --device cpu",
                        "--batch-size 4",
                        "rank 2 was started with --batch-size 4, rank 0 with --batch-size 32"}),
    support::case_name);

TEST(GptParallel, RanksMayHaveFilesOfTheirOwn) {
  const Folder folder;
  for (const Outcome& outcome :
       run_ranks(2, GPT_PROGRAM, tiny_gpt("--steps 1"), "--timings " + folder.file("t.csv")))
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST(GptParallel, AllRanksEndWhenTheTimeIsOver) {
  const std::string endless =
      "--layers 1 --hidden 32 --heads 4 --seq 16 --vocab-size 128 --threads 1 --device cpu "
      "--steps 1000000 --exit-duration-in-mins 0.01";
  for (const Outcome& outcome : run_ranks(2, GPT_PROGRAM, endless))
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST(VisionDataParallel, TrainsTogether) {
  const auto outcomes =
      run_ranks(2, VISION_PROGRAM,
                "--model resnet18 --image-size 32 --global-batch-size 4 --threads 1 --device cpu "
                "--steps 2 --warmup 1");
  ASSERT_EQ(outcomes[0].exit_code, 0) << outcomes[0].err;
  EXPECT_EQ(outcomes[1].exit_code, 0) << outcomes[1].err;
  EXPECT_EQ(outcomes[0].value("batch_size"), "2");
  EXPECT_EQ(outcomes[0].value("global_batch_size"), "4");
  EXPECT_NEAR(outcomes[0].number("images_per_second"), 8 / outcomes[0].number("epoch_s"), 1e-3);
  EXPECT_THAT(outcomes[1].out, IsEmpty());
}

// Without a normalisation, and with weights that stay, ranks see together what one rank sees.
TEST(VisionDataParallel, EvaluatesTheImagesOfAllRanks) {
  const std::string options =
      "--model alexnet --image-size 67 --classes 10 --global-batch-size 4 --threads 1 --device cpu "
      "--synthetic host --steps 1 --warmup 0 --base-learning-rate 0 --eval-steps 2";
  const auto alone = run_ranks(1, VISION_PROGRAM, options);
  const auto together = run_ranks(2, VISION_PROGRAM, options);
  ASSERT_EQ(alone[0].exit_code, 0) << alone[0].err;
  ASSERT_EQ(together[0].exit_code, 0) << together[0].err;
  EXPECT_NEAR(together[0].number("evaluation_loss"), alone[0].number("evaluation_loss"), 1e-5);
  EXPECT_EQ(together[0].value("evaluation_top5_percent"),
            alone[0].value("evaluation_top5_percent"));
}

// A Llama that several processes share, beside the same Llama in one.

struct ShardCase {
  std::string name;
  int ranks;
  std::string options;
};
class ShardedLlamaTest : public testing::TestWithParam<ShardCase> {};

TEST_P(ShardedLlamaTest, HasTheLossAndTheGradientsOfTheWhole) {
  const auto outcomes = run_ranks(GetParam().ranks, SHARDED_MODEL_PROGRAM, GetParam().options);
  for (const Outcome& outcome : outcomes) {
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_LT(outcome.number("gradient_difference"), 1e-5);
    if (outcome.value("is_last_stage") == "true") {
      EXPECT_NEAR(outcome.number("loss"), outcome.number("whole_loss"), 1e-5);
    }
  }
  EXPECT_EQ(outcomes.back().value("is_last_stage"), "true");
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, ShardedLlamaTest,
    testing::Values(ShardCase{"TwoTensorParallel", 2, "--tensor-parallel 2"},
                    ShardCase{"TwoTensorParallelTied", 2, "--tensor-parallel 2 --tied"},
                    ShardCase{"FourTensorParallelRecomputed", 4, "--tensor-parallel 4 --recompute"},
                    ShardCase{"TwoOfEightExperts", 2, "--tensor-parallel 2 --experts 8"},
                    ShardCase{"FourOfFourExperts", 4, "--tensor-parallel 4 --experts 4"},
                    ShardCase{"TwoStages", 2, "--pipeline-parallel 2"},
                    ShardCase{"TwoStagesTied", 2, "--pipeline-parallel 2 --tied"},
                    ShardCase{"TwoStagesOfTwo", 4,
                              "--tensor-parallel 2 --pipeline-parallel 2 --tied"}),
    support::case_name);

}  // namespace
}  // namespace bench::steps

#endif
