// What the programs refuse before they do anything.

#include "step_programs/linked_programs.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;

struct Refusal {
  std::string arguments;
  std::string message;
  bool after_settings = false;  ///< Told when what is to be measured is printed already.
};

/// Refused with a hint, which may be part of the message.
void expect_refused(const std::string& program, const std::vector<Refusal>& refusals) {
  for (const auto& [arguments, message, after_settings] : refusals) {
    SCOPED_TRACE(program_name(program) + " " + arguments);
    const Outcome outcome = run_step(program, arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out.empty(), !after_settings) << outcome.out;
    EXPECT_EQ(outcome.value("result"), "");
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.err, HasSubstr("\nhint: "));
  }
}

TEST(ProgramMistakes, OfGptAreTold) {
  expect_refused(
      GPT_PROGRAM,
      {{"--hidden 30 --heads 4", "4 heads cannot share a width of 30"},
       {"--model 800M --hidden 9 --heads 3", "an even head size, not 3"},
       {"--model 800M --tensor-parallel 2 --save-weights w.safetensors",
        "--load-weights and --save-weights are for models that are whole on each rank"},
       {"--global-batch-size 3 --micro-batch-size 2",
        "a global batch of 3 is not made of micro-batches of 2 for 1 ranks"},
       {"--lr-warmup-samples 10 --lr-decay-samples 10", "falls before it has risen"},
       {"--lr 1e-6", "the lowest learning rate, --min-lr 1e-05, is above the highest, --lr 1e-06"},
       {"--time-limit 1 --exit-duration-in-mins 1",
        "--time-limit excludes --exit-duration-in-mins"},
       {"--layers 1 --save-weights /nowhere/w.safetensors", "cannot write /nowhere/w.safetensors"},
       {"--layers 1 --profile /nowhere/t.json", "cannot write /nowhere/t.json"},
       {"--describe --layers 16777216 --hidden 16777216 --heads 16",
        "more operations than can be counted"},
       {"--attention blocked",
        "--attention: unknown value 'blocked'\nhint: known: auto, fused, plain"},
       {"--model 118M", "118M"},
       {"--model 117M --tensor-parallel 2 --vocab-size 50257",
        "50257 tokens of the vocabulary cannot be shared by 2 tensor-parallel ranks"},
       {"--layers 3 --pipeline-parallel 2", "3 layers cannot be shared by 2 pipeline stages"},
       {"--lr -1", "--lr: -1 is not a finite number from 0 on\n"},
       {"--lr nan", "--lr: nan is not a finite number from 0 on\n"},
       {"--lr 1e999", "--lr: 1e999 is not a finite number"},
       {"--peak-tflops inf", "--peak-tflops: inf is not a finite number"},
       {"--init-std 0", "--init-std: 0 is not a finite number above 0\n"},
       {"--exit-duration-in-mins -1",
        "--exit-duration-in-mins: -1 is not a finite number from 0 on\n"},
       {"--hidden-dropout nan", "--hidden-dropout: nan is not a number from 0 to 0.99\n"},
       {"--adam-beta2 1", "--adam-beta2: 1 is not a number from 0 to below 1"},
       {"--data-seed -1", "--data-seed: -1 is not a whole number"},
       {"--hiden 64 --batches 4", "unknown option '--hiden'\nhint: did you mean '--hidden'?"},
       {"--save-interval 2", "--save-interval requires --save"},
       {"--save c --profile t.json", "--profile excludes --save"},
       {"--layers 1 --device cpu --precision tf32", "precision tf32 does not work on the CPU"},
       {"--layers 1 --metrics /nowhere/m.json", "cannot write /nowhere/m.json"},
       {"--layers 1 --timings /nowhere/t.csv", "cannot write /nowhere/t.csv"},
       {"--data-path /nowhere/c", "cannot read /nowhere/c.idx"},
       {"--split 7:3", "'7:3' is not a split"},
       {"--eval-samples 3", "--eval-samples has no effect without evaluations"},
       {"--eval-epochs 1", "--eval-epochs requires --epochs"},
       {"--split 0,0", "'0,0' is not a split"}});
}

TEST(ProgramMistakes, OfInferenceAreTold) {
  expect_refused(GPT_PROGRAM,
                 {{"--inference --prompt-tokens 1000",
                   "a prompt of 1000 tokens and 128 new ones exceed the context of 1024\n"
                   "hint: reduce --prompt-tokens or --new-tokens, or increase --seq"},
                  {"--model 800M --inference --pipeline-parallel 2",
                   "inference does not divide a model into pipeline stages"},
                  {"--inference --new-tokens 1", "--new-tokens: "},
                  {"--batch-size 2", "--batch-size requires --inference"},
                  {"--inference --lr 0.1", "--lr excludes --inference"},
                  {"--inference --load c", "--load excludes --inference"},
                  {"--inference --plan", "--plan excludes --inference"}});
  expect_refused(AP5_PROGRAM,
                 {{"--inference --critic-updates 2", "--critic-updates excludes --inference"}});
}

TEST(ProgramMistakes, OfLlamaAreTold) {
  expect_refused(LLAMA_PROGRAM,
                 {{"--hidden 30 --heads 4",
                   "llama: error: 4 heads cannot share a width of 30\n"
                   "hint: --hidden must be a multiple of --heads\n"},
                  {"--hidden 64 --heads 4 --kv-heads 3",
                   "llama: error: 4 heads cannot share 3 key/value heads\n"
                   "hint: --heads must be a multiple of --kv-heads\n"},
                  {"--hidden 12 --heads 4 --kv-heads 2",
                   "llama: error: rotary positions need an even head size, not 3\n"
                   "hint: choose other --heads\n"},
                  {"--experts 2 --experts-per-token 3",
                   "llama: error: a token cannot use 3 of 2 experts\n"
                   "hint: --experts-per-token must be at most --experts\n"},
                  {"--balance-weight 5",
                   "llama: error: --balance-weight has no effect without experts\n"
                   "hint: add --experts, or remove --balance-weight\n"},
                  {"--experts 3 --tensor-parallel 2",
                   "llama: error: 3 experts cannot be shared by 2 tensor-parallel ranks\n"
                   "hint: --experts must be a multiple of --tensor-parallel\n"},
                  {"--model 8x7B --pipeline-parallel 2",
                   "llama: error: layers with experts cannot be divided into pipeline "
                   "stages\n"
                   "hint: leave out --pipeline-parallel; --tensor-parallel spreads the "
                   "experts over ranks\n"},
                  {"--experts 2 --recompute full",
                   "llama: error: layers with experts cannot be recomputed\n"
                   "hint: leave out --recompute full\n"}});
}

TEST(ProgramMistakes, OfVisionAreTold) {
  expect_refused(
      VISION_PROGRAM,
      {{"--data-path /nowhere/set", "cannot read /nowhere/set: No such file or directory"},
       {"--data-format hdf5 --data-path x",
        "--data-format: unknown value 'hdf5'\nhint: known: auto, tfrecord, lmdb, folder"},
       {"--synthetic host --data-path x", "--data-path excludes --synthetic"},
       {"--stage-to x", "--stage-to requires --data-path"}});
}

TEST(ProgramMistakes, OfMicroBatchesAreTold) {
  for (const auto& [program, after_settings] :
       {std::pair(AP1_PROGRAM, false), std::pair(AP3_PROGRAM, true),
        std::pair(VISION_PROGRAM, false)})
    expect_refused(program,
                   {{"--device cpu --batch-size 4 --micro-batches 3",
                     "a batch of 4 cannot be divided into 3 micro-batches", after_settings}});
}

TEST(ProgramMistakes, OfMaelstromsApplicationsAreTold) {
  expect_refused(AP1_PROGRAM, {{"--device cpu --profile t.json --save-weights w.safetensors",
                                "--profile excludes --save-weights"},
                               {"--device cpu --batch-size 2 --eval-samples 2",
                                "hint: add --eval-interval or --eval-epochs", true}});
  expect_refused(
      AP3_PROGRAM,
      {{"--device cpu --data-path /nowhere/columns", "/nowhere/columns does not exist", true},
       {"--device cpu --epochs 2",
        "an epoch of synthetic samples has no length\nhint: add --samples-per-epoch", true}});
  expect_refused(AP6_PROGRAM, {{"--device cpu --samples-per-epoch 8 --batch-size 4",
                                "an epoch of 8 samples is less than the 40 clusters of a head\n"
                                "hint: use --clusters 8 or less",
                                true}});
}

TEST(ProgramMistakes, OfMlperfsBenchmarksAreTold) {
  const std::string no_keys = "--mllog have no keys for this learning rate\nhint: use ";
  for (const auto& [program, target] :
       {std::pair(COSMOFLOW_PROGRAM, "10"), std::pair(DEEPCAM_PROGRAM, "0")})
    expect_refused(program,
                   {{std::string("--target ") + target, "--target requires --eval-samples"},
                    {std::string("--eval-samples 0 --target ") + target,
                     "error: there is no evaluation for --target"}});
  expect_refused(
      COSMOFLOW_PROGRAM,
      {{"--version v2", "v2"}, {"--describe --mllog --lr-schedule cosine --lr-decay 90", no_keys}});
  expect_refused(
      DEEPCAM_PROGRAM,
      {{"--describe --mllog --lr-schedule polynomial --lr-decay 1000", no_keys},
       {"--describe --mllog --lr-schedule step --lr-milestones 800,900 --lr-factor 0.1,0.5",
        no_keys},
       {"--eval-samples 2 --target 5", "--target: 5 is not a number from 0 to 1"},
       {"--height 16 --width 16 --batch-size 1 --device cpu",
        "one image of 16 x 16 leaves one value per channel"}});
}

}  // namespace
}  // namespace bench::steps
