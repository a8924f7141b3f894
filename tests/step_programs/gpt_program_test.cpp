#include "step_programs/linked_programs.hpp"
#include "steps_data/corpus.hpp"
#include "support/sanitizer.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bench::gpt {

// The real program `gpt`, as a job script calls it.

namespace {

using steps::Outcome;
using testing::HasSubstr;

const std::string tiny_layers =
    "--hidden 32 --heads 4 --seq 32 --vocab-size 128 --threads 1 --device cpu "
    "--hidden-dropout 0 --attention-dropout 0 --lr-warmup-samples 0 ";
const std::string tiny_model = "--layers 2 " + tiny_layers;

Outcome run(const std::string& arguments, const std::string& before = "") {
  return steps::run_step(GPT_PROGRAM, arguments, before);
}

TEST(GptProgram, DescribesWhatItHasNoMemoryFor) {
  if (support::sanitized)
    GTEST_SKIP() << "sanitizers map more memory than that";
  const Outcome outcome = run("--describe --model 175B", "ulimit -d 3145728; ");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("trainable_parameters"), "174590681088");
  EXPECT_EQ(outcome.value("non_trainable_parameters"), "0");
  EXPECT_NEAR(outcome.number("flops_per_token_causal"), 1.062e12, 1e8);
  EXPECT_EQ(outcome.value("forward_macs_per_sample"), "362478059913216");
}

// OpenBLAS looks for memory without end where it finds none.
TEST(GptProgram, SaysThatMemoryRanOut) {
  if (support::sanitized)
    GTEST_SKIP() << "sanitizers map more memory than that";
  // The first leaves no room for OpenBLAS, the second none for what a step keeps.
  for (const char* kib : {"1000000", "1300000"}) {
    const std::string limit =
        fmt::format("export OMP_NUM_THREADS=1; ulimit -v {}; timeout 200", kib);
    if (run("--version", limit).exit_code != 0)
      GTEST_SKIP() << "this LibTorch does not even start";
    const Outcome outcome =
        run("--layers 2 --hidden 512 --heads 8 --seq 256 --vocab-size 8192 --micro-batch-size 8 "
            "--steps 2 --warmup 0 --threads 1 --device cpu",
            limit);
    EXPECT_EQ(outcome.exit_code, 3) << kib << outcome.err;
    EXPECT_EQ(outcome.value("result"), "oom") << kib;
  }
}

TEST(GptProgram, RefusesWhatIsKnownNotToFit) {
  if (support::sanitized)
    GTEST_SKIP() << "sanitizers map more memory than that";
  const Outcome outcome =
      run("--model 175B --steps 1 --device cpu --threads 1", "ulimit -v 16000000; ");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "oom");
  EXPECT_THAT(outcome.err, testing::ContainsRegex(
                               "a step needs [0-9.]+ GiB on each device, which has 15.3 GiB"));
}

TEST(GptProgram, PlansWhatItHasNoMemoryFor) {
  if (support::sanitized)
    GTEST_SKIP() << "sanitizers map more memory than that";
  const Outcome outcome =
      run("--plan --model 13B --precision bf16 --device-memory-gib 40 --attention-dropout 0",
          "ulimit -d 3145728; ");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("fits"), "yes");
  EXPECT_GT(outcome.number("devices"), 4);
  EXPECT_LT(outcome.number("per_device_total_gib"), 40);
  EXPECT_GT(outcome.number("one_device_total_gib"), 12.8 * 20 / 1.074);
}

TEST(GptProgram, PlansTheMemoryOfFp32ForTf32) {
  const std::string arguments = "--plan --model 800M --device-memory-gib 40 --precision ";
  const std::string total = "one_device_total_gib";
  EXPECT_FALSE(run(arguments + "tf32").value(total).empty());
  EXPECT_EQ(run(arguments + "tf32").value(total), run(arguments + "fp32").value(total));
  EXPECT_NE(run(arguments + "bf16").value(total), run(arguments + "fp32").value(total));
}

TEST(GptProgram, TrainsAndReports) {
  const Outcome outcome =
      run(tiny_model +
          "--micro-batch-size 2 --global-batch-size 6 --steps 7 --warmup 1 --peak-tflops 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_EQ(outcome.value("dataset"), "synthetic");
  EXPECT_EQ(outcome.value("dataset_samples"), "");
  EXPECT_EQ(outcome.value("micro_batches"), "3");
  EXPECT_EQ(outcome.value("measured_steps"), "7");
  EXPECT_NEAR(outcome.number("first_loss"), std::log(128.0), 0.1);
  EXPECT_NEAR(outcome.number("tokens_per_second"), 7 * 6 * 32 / outcome.number("epoch_s"), 0.1);
  EXPECT_NEAR(outcome.number("mfu_percent"), 50 * outcome.number("tflops_per_device"), 1e-6);
  EXPECT_GT(outcome.number("peak_memory_bytes"), 1e7);
  const double parts_s = 3 * (outcome.number("io_mean_s") + outcome.number("forward_mean_s") +
                              outcome.number("backward_mean_s")) +
                         outcome.number("comm_mean_s") + outcome.number("optimizer_mean_s") +
                         outcome.number("other_mean_s");
  EXPECT_NEAR(parts_s, outcome.number("time_per_step_mean_s"), 1e-6);
  EXPECT_THAT(outcome.out,
              HasSubstr(" iteration        5/       7 | consumed samples:           36 "));
  EXPECT_THAT(outcome.out,
              HasSubstr(" iteration        7/       7 | consumed samples:           48 "));
}

TEST(GptProgram, MicroBatchesDoNotChangeTheLoss) {
  const Outcome whole =
      run(tiny_model + "--micro-batch-size 4 --steps 4 --warmup 0 --log-interval 1");
  const Outcome parts =
      run(tiny_model + "--micro-batch-size 1 --global-batch-size 4 --steps 4 --warmup 0");
  ASSERT_EQ(parts.exit_code, 0) << parts.err;
  EXPECT_NEAR(parts.number("final_loss"), whole.number("final_loss"), 1e-5);
}

TEST(GptProgram, CallsASizeOfItsOwnCustom) {
  EXPECT_EQ(run("--describe").value("model"), "117M");
  EXPECT_EQ(run("--describe --layers 12 --seq 1024").value("model"), "117M");
  EXPECT_EQ(run("--describe --layers 3").value("model"), "custom");
  EXPECT_EQ(run("--describe --model 175B --positions learned").value("model"), "custom");
}

TEST(GptProgram, TakesGeluInBothForms) {
  const std::string arguments = tiny_model + "--steps 1 --warmup 0 --init-std 0.5 --gelu ";
  const Outcome erf = run(arguments + "erf");
  const Outcome tanh = run(arguments + "tanh");
  EXPECT_EQ(erf.value("gelu"), "erf");
  EXPECT_EQ(tanh.value("gelu"), "tanh");
  EXPECT_NE(erf.value("final_loss"), tanh.value("final_loss"));
  EXPECT_NEAR(erf.number("final_loss"), tanh.number("final_loss"), 1e-2);
}

// Megatron-LM takes the rate of the samples before the iteration, and logs that behind it.
TEST(GptProgram, BeginsWithTheRateOfNoSamples) {
  const Outcome outcome =
      run("--layers 1 --hidden 32 --heads 4 --seq 32 --vocab-size 128 --threads 1 --device cpu "
          "--hidden-dropout 0 --attention-dropout 0 --log-interval 1 --steps 2 --warmup 0 "
          "--lr 1e-2 --lr-warmup-samples 10");
  EXPECT_THAT(outcome.out, testing::ContainsRegex("/       2 .*learning rate: 1.000E-03"));
  // Nothing was learned at a rate of 0, so the weights are those of a run at a rate of 0 always.
  const Outcome still =
      run("--layers 1 --hidden 32 --heads 4 --seq 32 --vocab-size 128 --threads 1 --device cpu "
          "--hidden-dropout 0 --attention-dropout 0 --steps 2 --warmup 0 --lr 0 --min-lr 0");
  EXPECT_EQ(outcome.value("final_loss"), still.value("final_loss"));
}

TEST(GptProgram, TellsItsVersion) {
  const Outcome outcome = run("--version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, testing::ContainsRegex("^gpt [0-9.]+\nLibTorch [0-9.]+"));
}

TEST(GptProgram, SameSeedSameLosses) {
  const std::string arguments = tiny_model + "--micro-batch-size 2 --steps 3 --warmup 0 --seed ";
  const Outcome one = run(arguments + "4");
  EXPECT_EQ(one.value("final_loss"), run(arguments + "4").value("final_loss"));
  EXPECT_NE(one.value("final_loss"), run(arguments + "5").value("final_loss"));
}

TEST(GptProgram, CountsTheWarmUpWhereItsLossIsLost) {
  const std::string lost = tiny_model + "--lr 1e30 --min-lr 1e29 --clip-grad 0 ";
  const std::string first = run(lost + "--steps 50 --warmup 0").value("diverged_at_step");
  EXPECT_GT(std::stoi(first), 1);
  for (const char* warmup : {"1", "300"}) {
    const Outcome outcome = run(lost + "--steps 50 --warmup " + warmup);
    EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_EQ(outcome.value("result"), "diverged");
    EXPECT_EQ(outcome.value("diverged_at_step"), first) << warmup;
    EXPECT_EQ(outcome.value("tokens_per_second").empty(), warmup == std::string("300"));
  }
}

TEST(GptProgram, EndsWhenItsTimeIsOver) {
  const Outcome outcome = run(tiny_model + "--steps 1000000 --exit-duration-in-mins 0.01");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LT(outcome.number("measured_steps"), 1'000'000);
  EXPECT_GE(outcome.number("measured_steps"), 1);
}

TEST(GptCheckpoints, AreSavedAtIntervalsAndAtTheEnd) {
  const steps::Folder folder;
  const Outcome outcome =
      run(tiny_model + "--steps 5 --warmup 1 --save-interval 2 --save " + folder.file("saved"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("checkpoint_saves"), "3");
  EXPECT_EQ(steps::read_text(folder.file("saved/latest")), "iteration_00000006\n");
  EXPECT_EQ(outcome.number("checkpoint_bytes"),
            std::filesystem::file_size(folder.file("saved/iteration_00000006/rank_00000.pt")));
}

// The last one that is whole counts: a run that was killed leaves others.
TEST(GptCheckpoints, ThatAreNotWholeAreNotLoaded) {
  const steps::Folder folder;
  const std::string saved = folder.file("saved");
  run(tiny_model + "--steps 2 --warmup 0 --save " + saved);
  std::filesystem::create_directory(saved + "/iteration_00000004");
  std::ofstream(saved + "/iteration_00000004/rank_00000.pt") << "PK";
  const Outcome outcome = run(tiny_model + "--steps 1 --warmup 0 --load " + saved);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("checkpoint_iteration"), "2");
}

TEST(GptCheckpoints, ThatAreDamagedAreNamedWithAHint) {
  const steps::Folder folder;
  const std::string saved = folder.file("saved");
  run(tiny_model + "--steps 2 --warmup 0 --save " + saved);
  const std::string file = saved + "/iteration_00000002/rank_00000.pt";
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(static_cast<std::streamoff>(std::filesystem::file_size(file) / 2));
  bytes << "damaged!";
  bytes.close();
  const Outcome outcome = run(tiny_model + "--steps 1 --load " + saved);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(file + ": byte "));
  EXPECT_THAT(outcome.err, HasSubstr("wrong checksum"));
  EXPECT_THAT(outcome.err, HasSubstr("\nhint: go on from an older checkpoint"));
}

// An empty one was taken for that of a folder in which nothing is saved, and then overwritten.
TEST(GptCheckpoints, AreNotOverwrittenWhereNothingSaysWhichIsTheLast) {
  const steps::Folder folder;
  const std::string saved = folder.file("saved");
  const std::string chain =
      tiny_model + "--steps 1 --warmup 0 --load " + saved + " --save " + saved;
  run(chain);
  std::ofstream(saved + "/latest").close();
  for (const bool missing : {false, true}) {
    if (missing)
      std::filesystem::remove(saved + "/latest");
    const Outcome outcome = run(chain);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("saved/latest names none of the checkpoints beside it"));
    EXPECT_THAT(outcome.err, HasSubstr("\nhint: write the name of the last whole one"));
  }
}

TEST(GptCheckpoints, OfARunThatWasKilledBeforeItsFirstWholeOneAreMadeAnew) {
  const steps::Folder folder;
  const std::string saved = folder.file("saved");
  const std::string chain =
      tiny_model + "--steps 1 --warmup 0 --load " + saved + " --save " + saved;
  run(chain);
  std::ofstream(saved + "/latest") << "none\n";
  const Outcome outcome = run(chain);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("checkpoint_iteration"), "");
  EXPECT_EQ(steps::read_text(saved + "/latest"), "iteration_00000001\n");
}

TEST(GptCheckpoints, OfAnotherModelAreRefused) {
  const steps::Folder folder;
  run(tiny_model + "--steps 1 --warmup 0 --save " + folder.file("saved"));
  const Outcome outcome = run("--layers 3 " + tiny_layers + "--load " + folder.file("saved"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("has layers=2, this run layers=3"));
}

TEST(GptCheckpoints, OfOtherSamplesAreRefused) {
  const steps::Folder folder;
  run(tiny_model + "--steps 1 --warmup 0 --save " + folder.file("saved"));
  const std::string load = tiny_model + "--steps 1 --warmup 0 --load " + folder.file("saved");
  const std::pair<const char*, const char*> cases[] = {
      {" --seed 2", "has seed=1, this run seed=2"},
      {" --global-batch-size 2", "has global_batch=1, this run global_batch=2"}};
  for (const auto& [option, message] : cases) {
    const Outcome outcome = run(load + option);
    EXPECT_EQ(outcome.exit_code, 2) << option;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

TEST(GptCheckpoints, WarnOfWhatGoesOnInAnotherWay) {
  const steps::Folder folder;
  run(tiny_model + "--steps 1 --warmup 0 --save " + folder.file("saved"));
  const std::string load = tiny_model + "--steps 1 --warmup 0 --load " + folder.file("saved");
  EXPECT_THAT(run(load).err, testing::Not(HasSubstr("the checkpoint in")));
  const Outcome outcome = run(load + " --lr 0.5 --clip-grad 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("saved has lr=0.0001, this run lr=0.5: it does not go on"));
  EXPECT_THAT(outcome.err, HasSubstr("saved has clip_grad=1, this run clip_grad=2: "));
}

TEST(GptCheckpoints, OfAnotherRunAreNotOverwritten) {
  const steps::Folder folder;
  const std::string save = tiny_model + "--steps 1 --warmup 0 --save " + folder.file("saved");
  run(save);
  const Outcome outcome = run(save);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("saved has the checkpoints of another run"));
}

TEST(GptCheckpoints, ThatAreNotThereAreToldBeforeTheTraining) {
  const Outcome outcome = run(tiny_model + "--steps 1 --load /nowhere");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no checkpoint in /nowhere"));
  EXPECT_EQ(run(tiny_model + "--steps 1 --save /proc/nowhere").exit_code, 2);
}

// What the program `gpt` is trained and evaluated on.

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

}  // namespace
}  // namespace bench::gpt
