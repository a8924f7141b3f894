// What the real programs leave behind where a signal ends them.
#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"

#include <csignal>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string gpt =
    "--layers 2 --hidden 32 --heads 4 --seq 32 --vocab-size 128 --threads 1 --device cpu "
    "--hidden-dropout 0 --attention-dropout 0 --log-interval 1 ";
const std::string vision =
    "--model resnet18 --image-size 32 --batch-size 2 --threads 1 --device cpu ";

/// A program that trains without end, as one or several ranks.
class Endless : public RankGroup {
 public:
  Endless(const std::string& program, const std::string& arguments, int size = 1,
          const std::vector<std::string>& settings = {}) {
    std::vector<std::string> words = words_of(arguments);
    words.insert(words.begin(), program);
    for (int rank = 0; rank < size; ++rank) {
      std::vector<std::string> all = settings;
      if (size > 1) {
        all = rank_settings(rank, size, port_.number());
        all.push_back("MASTER_ADDR=127.0.0.1");
        all.insert(all.end(), settings.begin(), settings.end());
      }
      start(rank, words, all);
    }
  }

 private:
  support::FreePort port_;
};

TEST(InterruptedGpt, ReportsSavesAndEndsWithTheSignal) {
  const Folder folder;
  Endless program(GPT_PROGRAM, gpt + "--steps 1000000 --warmup 0 --timings " +
                                   folder.file("t.csv") + " --metrics " + folder.file("m.json") +
                                   " --save " + folder.file("saved"));
  program.process(0).wait_for_text(program.file("out", 0), " iteration        2/ 1000000 ");
  program.process(0).signal(SIGTERM);
  const Outcome outcome = program.outcome(0);
  EXPECT_EQ(outcome.exit_code, -SIGTERM) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "interrupted");
  const int iterations = std::stoi(outcome.value("measured_steps"));
  EXPECT_GE(iterations, 2);
  EXPECT_NEAR(outcome.number("tokens_per_second"), iterations * 32 / outcome.number("epoch_s"),
              0.1);
  EXPECT_THAT(read_text(folder.file("t.csv")),
              HasSubstr("\nBatch," + std::to_string(iterations - 1) + ","));
  EXPECT_THAT(read_text(folder.file("m.json")), HasSubstr("\"result\": \"interrupted\""));
  const Outcome next = run_step(GPT_PROGRAM, gpt + "--steps 1 --load " + folder.file("saved"));
  EXPECT_EQ(next.number("checkpoint_iteration"), iterations) << next.err;
}

TEST(InterruptedGpt, SavesAlsoWhatTheWarmUpTrained) {
  const Folder folder;
  const std::string marks = folder.file("marks");
  std::ofstream(marks).close();
  Endless program(GPT_PROGRAM, gpt + "--steps 1 --warmup 1000000 --save " + folder.file("saved"), 1,
                  {"BENCH_ENERGY_REGIONS=" + marks});
  program.process(0).wait_for_text(marks, "warmup");
  program.process(0).signal(SIGINT);
  const Outcome outcome = program.outcome(0);
  EXPECT_EQ(outcome.exit_code, -SIGINT) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "interrupted");
  EXPECT_EQ(outcome.value("tokens_per_second"), "");
  EXPECT_THAT(read_text(folder.file("saved/latest")), HasSubstr("iteration_"));
}

TEST(InterruptedVision, ReportsWhatItHasAndEvaluatesNothing) {
  const Folder folder;
  Endless program(VISION_PROGRAM, vision + "--steps 1000000 --warmup 1 --eval-steps 1 --timings " +
                                      folder.file("t.csv") + " --metrics " + folder.file("m.json"));
  program.process(0).wait_for_text(program.file("out", 0), "\n1\timages/sec: ");  // while it runs
  program.process(0).signal(SIGTERM);
  const Outcome outcome = program.outcome(0);
  EXPECT_EQ(outcome.exit_code, -SIGTERM) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "interrupted");
  const int steps = std::stoi(outcome.value("measured_steps"));
  EXPECT_NEAR(outcome.number("images_per_second"), 2 * steps / outcome.number("epoch_s"), 1e-3);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\ntotal images/sec: "), Not(HasSubstr("evaluation_"))));
  EXPECT_THAT(read_text(folder.file("t.csv")),
              HasSubstr("\nBatch," + std::to_string(steps - 1) + ","));
  EXPECT_THAT(read_text(folder.file("m.json")), HasSubstr("\"result\": \"interrupted\""));
}

#ifdef BENCH_STEPS_GLOO

TEST(InterruptedRanks, EndTogetherWhereOneGetsTheSignal) {
  const std::pair<const char*, std::string> programs[] = {
      {GPT_PROGRAM, gpt + "--steps 1000000 --warmup 0"},
      {VISION_PROGRAM, vision + "--steps 1000000 --warmup 0"}};
  for (const auto& [program_file, arguments] : programs) {
    Endless program(program_file, arguments, 2);
    program.process(0).wait_for_text(program.file("out", 0), program_file == programs[0].first
                                                                 ? " iteration        1/"
                                                                 : "\n1\timages/sec: ");
    program.process(1).signal(SIGTERM);
    const Outcome first = program.outcome(0);
    EXPECT_EQ(first.exit_code, -SIGTERM) << first.err;
    EXPECT_EQ(first.value("result"), "interrupted");
    EXPECT_EQ(program.outcome(1).exit_code, -SIGTERM);
  }
}

TEST(InterruptedRanks, EndTogetherInAnInference) {
  const Folder folder;
  const std::string marks = folder.file("marks");
  std::ofstream(marks).close();
  Endless program(GPT_PROGRAM,
                  "--layers 2 --hidden 32 --heads 4 --seq 32 --vocab-size 128 --threads 1 --device "
                  "cpu --inference --prompt-tokens 8 --new-tokens 4 --warmup 0 --steps 1000000",
                  2, {"BENCH_ENERGY_REGIONS=" + marks});
  program.process(0).wait_for_text(marks, "prefill");
  program.process(1).signal(SIGTERM);
  const Outcome first = program.outcome(0);
  EXPECT_EQ(first.exit_code, -SIGTERM) << first.err;
  EXPECT_EQ(first.value("result"), "interrupted");
  EXPECT_GE(first.number("measured_prefills"), 1);
  EXPECT_GT(first.number("prefill_tokens_per_second"), 0);
  EXPECT_EQ(first.value("measured_decodes"), "0");
  EXPECT_EQ(first.value("decode_tokens_per_second"), "");
  EXPECT_EQ(program.outcome(1).exit_code, -SIGTERM);
}

TEST(InterruptedRanks, EndTogetherInAnEvaluation) {
  Endless program(GPT_PROGRAM,
                  gpt +
                      "--steps 2 --warmup 0 --pipeline-parallel 2 --mllog --eval-interval 1 "
                      "--eval-samples 100000000",
                  2);
  program.process(0).wait_for_text(program.file("out", 0), "\"key\": \"eval_start\"");
  program.process(0).signal(SIGTERM);
  const Outcome first = program.outcome(0);
  EXPECT_EQ(first.exit_code, -SIGTERM) << first.err;
  EXPECT_EQ(first.value("result"), "interrupted");
  EXPECT_EQ(first.value("measured_steps"), "1");
  EXPECT_EQ(first.value("evaluation_loss"), "");
  EXPECT_EQ(program.outcome(1).exit_code, -SIGTERM);
}

TEST(StoppedRank, EndsTheOthersAfterTheTimeThatAnOptionSets) {
  Endless program(GPT_PROGRAM, gpt + "--steps 1000000 --warmup 0 --rank-timeout 5", 2);
  program.process(0).wait_for_text(program.file("out", 0), " iteration        1/");
  program.process(1).signal(SIGSTOP);
  const Outcome outcome = program.outcome(0);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.value("result"), "failed");
  EXPECT_THAT(outcome.err, HasSubstr("may hang, or need longer than --rank-timeout"));
}

#endif

}  // namespace
}  // namespace bench::steps
