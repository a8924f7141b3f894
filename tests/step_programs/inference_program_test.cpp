#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"
#include "steps_data/corpus.hpp"
#include "support/case_name.hpp"
#include "support/sanitizer.hpp"

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bench::transformer {

// Inference with the real programs, as a job script calls it.

namespace {

using steps::Folder;
using steps::Outcome;
using steps::run_step;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two layers, four heads that share two key/value heads of 8.
std::string llama_of(int sequence, int vocabulary) {
  return fmt::format(
      "--layers 2 --hidden 32 --heads 4 --kv-heads 2 --mlp 64 --seq {} --vocab-size {} "
      "--device cpu --threads 1 ",
      sequence, vocabulary);
}
const std::string tiny_llama = llama_of(32, 128);
const std::string tiny_gpt =
    "--layers 2 --hidden 32 --heads 4 --seq 32 --vocab-size 128 --device cpu --threads 1 ";
const std::string short_run =
    "--inference --batch-size 3 --prompt-tokens 8 --new-tokens 5 --steps 4 --warmup 1 ";

/// The names of the regions that begin, in their order, without repetitions.
std::vector<std::string> regions_in(const std::string& marks) {
  std::vector<std::string> names;
  std::istringstream lines(marks);
  for (std::string mark, name; lines >> mark >> name;)
    if (mark.starts_with("begin") && (names.empty() || names.back() != name))
      names.push_back(name);
  return names;
}

struct ProgramCase {
  std::string name;
  std::string path;
  std::string model;
  int cache_bytes;  ///< 2 layers, keys and values of 3 sequences of 12 tokens, fp32.
};
class InferenceProgramTest : public testing::TestWithParam<ProgramCase> {};

TEST_P(InferenceProgramTest, ReportsLatenciesRatesAndTheCache) {
  const Folder folder;
  std::ofstream(folder.file("regions")).close();
  const Outcome outcome =
      run_step(GetParam().path,
               GetParam().model + short_run + "--peak-tflops 2 --timings " + folder.file("t.csv"),
               "BENCH_ENERGY_REGIONS=" + folder.file("regions"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_EQ(outcome.value("dataset"), "synthetic");
  EXPECT_EQ(outcome.number("kv_cache_bytes"), GetParam().cache_bytes);
  EXPECT_EQ(outcome.number("kv_cache_bytes_by_formula"), GetParam().cache_bytes);
  EXPECT_EQ(outcome.value("measured_prefills"), "4");
  EXPECT_EQ(outcome.value("measured_decodes"), "4");
  for (const char* latency : {"time_to_first_token", "inter_token_latency"}) {
    const auto value = [&](const char* kind) {
      return outcome.number(fmt::format("{}_{}_s", latency, kind));
    };
    EXPECT_GT(value("min"), 0);
    EXPECT_LE(value("min"), value("p50"));
    EXPECT_LE(value("p50"), value("p95"));
    EXPECT_LE(value("p95"), value("p99"));
    EXPECT_LE(value("p99"), value("max"));
  }
  const double batch = 3;
  EXPECT_NEAR(
      outcome.number("prefill_tokens_per_second") * outcome.number("time_to_first_token_mean_s"),
      batch * 8, 1e-4);
  // The time of a batch has a little more than its tokens.
  EXPECT_GT(outcome.number("decode_tokens_per_second"), 0);
  EXPECT_LT(
      outcome.number("decode_tokens_per_second") * outcome.number("inter_token_latency_mean_s"),
      batch * 1.0001);
  EXPECT_NEAR(outcome.number("prefill_mfu_percent"),
              50 * outcome.number("prefill_tflops_per_device"), 1e-6);
  EXPECT_GT(outcome.number("decode_gigabytes_per_second_per_device"), 0);
  EXPECT_GT(outcome.number("peak_memory_bytes"), 1e7);
  EXPECT_THAT(regions_in(steps::read_text(folder.file("regions"))),
              ElementsAre("warmup", "prefill", "decode"));
  const std::string timings = steps::read_text(folder.file("t.csv"));
  for (const char* line :
       {"\nwarmup,0,", "\nprefill,3,", "\ndecode,3,", "\ninter_token_latency,15,"})
    EXPECT_THAT(timings, HasSubstr(line));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, InferenceProgramTest,
    testing::Values(ProgramCase{"Gpt", GPT_PROGRAM, tiny_gpt, 2 * 2 * 32 * 3 * 12 * 4},
                    ProgramCase{"Llama", LLAMA_PROGRAM, tiny_llama, 2 * 2 * 16 * 3 * 12 * 4}),
    support::case_name);

TEST(InferenceProgram, DescribesItsCostsWithoutTheModel) {
  if (support::sanitized)
    GTEST_SKIP() << "sanitizers map more memory than that";
  const Outcome outcome = run_step(LLAMA_PROGRAM,
                                   "--model 8B --describe --precision bf16 --inference "
                                   "--batch-size 16 --prompt-tokens 4096 --new-tokens 1025",
                                   "ulimit -d 3145728; ");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("kv_cache_bytes_by_formula"), "10737418240");  // 10 GiB
  EXPECT_EQ(outcome.value("weight_bytes"), "16060522496");
}

TEST(InferenceProgram, TakesPromptsFromACorpus) {
  const Folder folder;
  steps::write_corpus(folder.file("c"), steps::TokenType::u8,
                      steps::Documents(20, {steps::Tokens(90, 77)}));
  const std::string options = short_run + "--data-path " + folder.file("c");
  const Outcome outcome = run_step(LLAMA_PROGRAM, tiny_llama + options);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("dataset"), folder.file("c"));
  EXPECT_EQ(outcome.value("dataset_samples"), "146");  // (13 documents of 90 tokens - 1) / 8
  const Outcome wrong = run_step(LLAMA_PROGRAM, llama_of(32, 64) + options);
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("is not in a vocabulary of 64"));
}

TEST(InferenceProgram, EndsEachPhaseWhenItsTimeIsOver) {
  const Outcome outcome =
      run_step(LLAMA_PROGRAM, tiny_llama +
                                  "--inference --prompt-tokens 8 --new-tokens 5 --warmup 0 "
                                  "--steps 1000000000 --time-limit 0.05");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* phase : {"measured_prefills", "measured_decodes"}) {
    EXPECT_GE(outcome.number(phase), 1);
    EXPECT_LT(outcome.number(phase), 1e9);
  }
}

TEST(InferenceProgram, RefusesWhatIsKnownNotToFit) {
  const Outcome outcome = run_step(
      LLAMA_PROGRAM, llama_of(8192, 128) +
                         "--inference --batch-size 1000000 --prompt-tokens 8000 --new-tokens 128");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "oom");
  EXPECT_THAT(outcome.err, HasSubstr("a key/value cache of 1937.6 GiB and "));
}

#ifdef BENCH_STEPS_GLOO
TEST(InferenceProgram, AddsTheRatesOfRanksThatHavePromptsOfTheirOwn) {
  const auto outcomes = steps::run_ranks(2, LLAMA_PROGRAM, tiny_llama + short_run);
  for (const Outcome& outcome : outcomes)
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Outcome& first = outcomes[0];
  for (const std::string phase : {"prefill", "decode"})
    EXPECT_NEAR(first.number(phase + "_tokens_per_second_per_device") /
                    first.number(phase + "_tokens_per_second"),
                0.5, 1e-6);
  EXPECT_EQ(outcomes[1].out.find("tokens_per_second"), std::string::npos);
}

// They share one copy of the model, its key/value heads and its prompts.
TEST(InferenceProgram, CountsTheTokensOfTensorParallelRanksOnce) {
  const auto outcomes =
      steps::run_ranks(2, LLAMA_PROGRAM, tiny_llama + short_run + "--tensor-parallel 2");
  for (const Outcome& outcome : outcomes)
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Outcome& first = outcomes[0];
  EXPECT_EQ(first.value("tensor_parallel"), "2");
  EXPECT_EQ(first.number("kv_cache_bytes"), 2 * 2 * 8 * 3 * 12 * 4);
  EXPECT_EQ(first.number("kv_cache_bytes_by_formula"), first.number("kv_cache_bytes"));
  // A batch ends with its slowest rank, so it takes a little longer than the mean.
  const double prefill = first.number("prefill_tokens_per_second");
  EXPECT_LT(prefill * first.number("time_to_first_token_mean_s"), 3 * 8 * 1.0001);
  EXPECT_NEAR(first.number("prefill_tokens_per_second_per_device") / prefill, 0.5, 1e-6);
}
#endif

}  // namespace
}  // namespace bench::transformer
