// What the program `gpt` is trained and evaluated on.
#include "step_programs/linked_programs.hpp"
#include "steps_data/corpus.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bench::gpt {
namespace {

using steps::Outcome;
using testing::HasSubstr;

/// 22 documents, each a sentence over and over again, a token per letter. 14 of them are training
/// data by the split 7,3,1.
void write_sentences(const std::string& prefix, steps::TokenType type = steps::TokenType::u8) {
  const std::string sentence = "the quick brown fox jumps over the lazy dog. ";
  steps::Tokens tokens;
  for (int i = 0; i < 20; ++i)
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
  steps::write_corpus(prefix, type, steps::Documents(22, {tokens}));
}

Outcome train_on(const std::string& data, int steps, int vocabulary = 128) {
  return steps::run_step(
      GPT_PROGRAM,
      fmt::format("--layers 2 --hidden 32 --heads 4 --seq 32 --vocab-size {} --threads 1 "
                  "--device cpu --hidden-dropout 0 --attention-dropout 0 --lr-warmup-samples 0 "
                  "--lr 0.01 --micro-batch-size 4 --steps {} --warmup 0 {}",
                  vocabulary, steps, data));
}

TEST(GptCorpus, IsLearntWhereSyntheticTokensCannotBe) {
  const steps::Folder folder;
  write_sentences(folder.file("c"));
  const Outcome real = train_on("--data-path " + folder.file("c"), 60);
  const Outcome synthetic = train_on("", 60);
  ASSERT_EQ(real.exit_code, 0) << real.err;
  EXPECT_NEAR(real.number("first_loss"), std::log(128.0), 0.1);
  EXPECT_LT(real.number("final_loss"), 1.5);
  EXPECT_GT(synthetic.number("final_loss"), 4.8);
}

TEST(GptCorpus, IsNamedAndCounted) {
  const steps::Folder folder;
  write_sentences(folder.file("c"), steps::TokenType::u16);
  const Outcome outcome = train_on("--data-path " + folder.file("c"), 1);
  EXPECT_EQ(outcome.value("dataset"), folder.file("c"));
  EXPECT_EQ(outcome.value("dataset_tokens"), "12600");  // 14 documents of 20 sentences of 45
  EXPECT_EQ(outcome.value("dataset_samples"), "393");   // 12,599 / 32
  EXPECT_GT(outcome.number("io_mean_s"), 0);
}

TEST(GptCorpus, IsSyntheticWithoutAPath) {
  const Outcome outcome = train_on("", 1);
  EXPECT_EQ(outcome.value("dataset"), "synthetic");
  EXPECT_EQ(outcome.value("dataset_samples"), "");
}

TEST(GptCorpus, GoesThroughSeveralEpochs) {
  const steps::Folder folder;
  write_sentences(folder.file("c"));
  const Outcome outcome = train_on("--data-path " + folder.file("c") + " --split 1,20", 20);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("dataset_samples"), "28");
}

TEST(GptCorpus, ComesInTheOrderOfItsSeed) {
  const steps::Folder folder;
  write_sentences(folder.file("c"));
  const auto loss = [&](const std::string& arguments) {
    return train_on("--data-path " + folder.file("c") + arguments, 3).number("final_loss");
  };
  const double expected = loss("");
  EXPECT_EQ(loss(" --data-seed 42"), expected);
  EXPECT_NE(loss(" --data-seed 43"), expected);
}

TEST(GptCorpus, EndsWithATokenOutsideTheVocabulary) {
  const steps::Folder folder;
  write_sentences(folder.file("c"));
  const Outcome outcome = train_on("--data-path " + folder.file("c"), 60, 115);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.value("result"), "failed");
  EXPECT_THAT(outcome.err, HasSubstr("error: " + folder.file("c.bin") + ": byte "));
  EXPECT_THAT(outcome.err, HasSubstr(" is not in a vocabulary of 115\n"));
}

TEST(GptCorpus, IsEvaluatedOnDocumentsThatAreNotTrainedOn) {
  const steps::Folder folder;
  write_sentences(folder.file("c"));
  const Outcome outcome = train_on("--data-path " + folder.file("c") + " --eval-interval 30", 60);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("evaluation_dataset_samples"), "168");  // 6 x 900 tokens, (5400 - 1) / 32
  EXPECT_EQ(outcome.value("evaluation_samples"), "168");
  const std::vector<double> losses = outcome.numbers("evaluation_loss");
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_LT(losses[1], losses[0]);
  EXPECT_NEAR(losses[1], outcome.number("final_loss"), 0.2);  // the documents are all alike
  EXPECT_NEAR(outcome.numbers("evaluation_perplexity")[1], std::exp(losses[1]), 1e-4);
}

TEST(GptCorpus, IsTrainedOnForEpochsAndEvaluatedAfterTheSecond) {
  const steps::Folder folder;
  write_sentences(folder.file("c"));
  const Outcome outcome = steps::run_step(
      GPT_PROGRAM,
      "--layers 1 --hidden 32 --heads 4 --seq 32 --vocab-size 128 --threads 1 --device cpu "
      "--micro-batch-size 16 --warmup 0 --epochs 3 --eval-epochs 2 --split 1,1,20 --mllog "
      "--data-path " +
          folder.file("c"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("samples_per_epoch"), "28");  // a document of 900 tokens, 899 / 32
  EXPECT_EQ(outcome.value("steps_per_epoch"), "2");
  EXPECT_EQ(outcome.value("steps"), "6");
  EXPECT_EQ(outcome.value("measured_steps"), "6");
  EXPECT_EQ(outcome.value("epochs"), "3");
  EXPECT_EQ(outcome.value("epoch_1_s"), outcome.value("epoch_first_s"));
  EXPECT_NE(outcome.value("epoch_3_s"), "");
  EXPECT_EQ(outcome.numbers("evaluation_loss").size(), 1U);
  EXPECT_THAT(outcome.out, testing::ContainsRegex("\"eval_start\".*\"epoch_num\": 2"));
}

TEST(GptCorpus, MustHaveDocumentsToEvaluateOn) {
  const steps::Folder folder;
  write_sentences(folder.file("c"));
  const Outcome outcome =
      train_on("--data-path " + folder.file("c") + " --split 1 --eval-interval 1", 1);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the validation part (--split 1) of " + folder.file("c.bin") +
                                     " has 0 documents with 0 tokens"));
}

TEST(GptCorpus, IsNotEvaluatedOnMoreSamplesThanItHas) {
  const steps::Folder folder;
  write_sentences(folder.file("c"));
  const Outcome outcome =
      train_on("--data-path " + folder.file("c") + " --eval-interval 1 --eval-samples 169", 1);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("has 168 samples, an evaluation has 169\n"
                                     "hint: use --eval-samples 168 or less"));
}

TEST(GptEvaluation, LeavesTheTrainingAsItIs) {
  const std::string options =
      "--layers 2 --hidden 32 --heads 4 --seq 32 --vocab-size 128 --threads 1 --device cpu "
      "--lr-warmup-samples 0 --micro-batch-size 2 --steps 4 --warmup 1 --log-interval 1 ";
  const Outcome without = steps::run_step(GPT_PROGRAM, options);
  const Outcome with = steps::run_step(GPT_PROGRAM, options + "--eval-interval 2 --eval-samples 3");
  ASSERT_EQ(with.exit_code, 0) << with.err;
  EXPECT_EQ(steps::losses(with), steps::losses(without));
  EXPECT_EQ(with.numbers("evaluation_loss").size(), 2U);
  EXPECT_EQ(with.value("evaluation_samples"), "3");
  EXPECT_NEAR(with.number("evaluation_loss"), std::log(128.0), 0.1);
}

struct DataMistake {
  std::string name;
  std::string arguments;
  std::string message;
};
void PrintTo(const DataMistake& mistake, std::ostream* out) {
  *out << mistake.name;
}
class GptDataMistakeTest : public testing::TestWithParam<DataMistake> {};

TEST_P(GptDataMistakeTest, IsToldBeforeAnythingRuns) {
  const Outcome outcome = train_on(GetParam().arguments, 1);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
  EXPECT_THAT(outcome.err, HasSubstr("hint: "));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, GptDataMistakeTest,
    testing::Values(DataMistake{"Path", "--data-path /nowhere/c", "cannot read /nowhere/c.idx"},
                    DataMistake{"Split", "--split 7:3", "'7:3' is not a split"},
                    DataMistake{"Samples", "--eval-samples 3",
                                "--eval-samples has no effect without evaluations"},
                    DataMistake{"Epochs", "--eval-epochs 1", "--eval-epochs requires --epochs"},
                    DataMistake{"NoTraining", "--split 0,0", "'0,0' is not a split"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace bench::gpt
