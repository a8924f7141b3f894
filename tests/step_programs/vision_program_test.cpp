// The real program `vision`, as a job script calls it.

#include "step_programs/linked_programs.hpp"
#include "support/sanitizer.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::vision {
namespace {

using steps::Folder;
using steps::Outcome;
using testing::ContainsRegex;
using testing::HasSubstr;

/// @param before shell words in front of the program, for example a limit
Outcome run_vision(const std::string& arguments, const std::string& before = "") {
  return steps::run_step(VISION_PROGRAM, arguments, before);
}

const std::string tiny =
    "--model resnet18 --image-size 32 --batch-size 2 --threads 1 --device cpu ";

// Holds LibTorch and a small model, but not the images of a large batch.
const std::string in_three_gib = "ulimit -d 3145728; ";

TEST(VisionProgram, DescribesItsModels) {
  const Outcome outcome = run_vision("--describe --model resnet50");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "model=resnet50\n"
            "trainable_parameters=25557032\n"
            "non_trainable_parameters=53120\n"
            "forward_macs_per_sample=4089184256\n"
            "training_flops_per_sample=24535105536\n"
            "input_bytes_per_sample=602112\n"
            "sample_shape=3x224x224\n"
            "classes=1000\n");
  EXPECT_EQ(run_vision("--describe --model resnet18").value("trainable_parameters"), "11689512");
  EXPECT_EQ(run_vision("--describe --model resnet34").value("trainable_parameters"), "21797672");
}

TEST(VisionProgram, DescribesWhatItHasNoMemoryFor) {
  if (support::sanitized)
    GTEST_SKIP() << "sanitizers map more memory than that";
  const std::string large =
      "--model resnet18 --batch-size 8192 --steps 1 --warmup 0 --threads 1 --device cpu ";
  EXPECT_EQ(run_vision(large + "--describe", in_three_gib).exit_code, 0);
  const Outcome outcome = run_vision(large, in_three_gib);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "oom");
  EXPECT_EQ(outcome.value("batch_size"), "8192");
  EXPECT_THAT(outcome.err, HasSubstr("a smaller batch needs less memory (--batch-size;"));
}

// OpenBLAS looks for memory without end where it finds none.
TEST(VisionProgram, SaysThatThereIsNoMemoryForProducts) {
  if (support::sanitized)
    GTEST_SKIP() << "sanitizers map more memory than that";
  const std::string limit = "export OMP_NUM_THREADS=1; ulimit -v 1100000; timeout 200";
  if (run_vision("--version", limit).exit_code != 0)
    GTEST_SKIP() << "this LibTorch does not even start";
  const Outcome outcome = run_vision(
      "--model resnet50 --image-size 224 --batch-size 2 --steps 1 --warmup 0 --threads 1 "
      "--device cpu",
      limit);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "oom");
}

TEST(VisionProgram, RunsOutOfMemoryOnAnyMachine) {
  for (const char* batch_size : {"1000000000", "1099511627776"}) {
    const Outcome outcome =
        run_vision(std::string("--model resnet18 --device cpu --batch-size ") + batch_size);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_EQ(outcome.value("result"), "oom");
  }
}

TEST(VisionProgram, TrainsAndReports) {
  const Outcome outcome = run_vision(tiny + "--steps 11 --warmup 1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_EQ(outcome.value("precision"), "fp32");
  EXPECT_EQ(outcome.value("threads"), "1");
  EXPECT_EQ(outcome.value("trainable_parameters"), "11689512");
  EXPECT_NEAR(outcome.number("first_loss"), std::log(1000.0), 1.5);
  EXPECT_LT(outcome.number("final_loss"), outcome.number("first_loss"));
  EXPECT_NEAR(outcome.number("images_per_second"), 22 / outcome.number("epoch_s"), 1e-3);
  EXPECT_GT(outcome.number("peak_memory_bytes"), 1e8);
  const double parts_s = outcome.number("io_mean_s") + outcome.number("forward_mean_s") +
                         outcome.number("backward_mean_s") + outcome.number("comm_mean_s") +
                         outcome.number("optimizer_mean_s") + outcome.number("other_mean_s");
  EXPECT_NEAR(parts_s, outcome.number("time_per_step_mean_s"), 1e-6);
  EXPECT_FALSE(outcome.value("blas").empty());
  EXPECT_FALSE(outcome.value("device_name").empty());
}

TEST(VisionProgram, TrainsNetworksWithDropoutAndWithBranches) {
  for (const char* network : {"alexnet --image-size 67", "inception3 --image-size 75",
                              "resnet50_v2 --image-size 32", "vgg16 --image-size 32"}) {
    const Outcome outcome =
        run_vision(std::string("--batch-size 2 --threads 1 --device cpu --steps 2 --warmup 0 "
                               "--classes 10 --memory-format channels_last --model ") +
                   network);
    EXPECT_EQ(outcome.exit_code, 0) << network << outcome.err;
    EXPECT_EQ(outcome.value("result"), "ok") << network;
    EXPECT_TRUE(std::isfinite(outcome.number("final_loss"))) << network;
  }
}

TEST(VisionProgram, PrintsTheLogOfTfCnnBenchmarks) {
  const Outcome outcome = run_vision(tiny + "--steps 3 --warmup 1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string line =
      "\timages/sec: [0-9]+[.][0-9] [+]/- [0-9]+[.][0-9] [(]jitter = [0-9]+[.][0-9][)]\t"
      "[0-9]+[.][0-9]{3}\n";
  EXPECT_THAT(outcome.out, ContainsRegex("(^|\n)Step\tImg/sec\ttotal_loss\n1" + line + "3" + line +
                                         "-{64}\ntotal images/sec: [0-9]+[.][0-9]{2}\n-{64}\n"));
}

TEST(VisionProgram, PrintsTheLogOfTheImageNetExample) {
  const Outcome outcome = run_vision(tiny + "--steps 11 --warmup 1 --log-format torch");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string seconds = "[ 0-9][0-9][.][0-9]{3} [(][ 0-9][0-9][.][0-9]{3}[)]\t";
  const std::string loss = "[0-9][.][0-9]{4}e[+-][0-9]{2}";
  const std::string percent = "[ 0-9]{3}[.][0-9]{2} [(][ 0-9]{3}[.][0-9]{2}[)]";
  const std::string rest = "/11\\]\tTime " + seconds + "Data " + seconds + "Loss " + loss + " [(]" +
                           loss + "[)]\tAcc@1 " + percent + "\tAcc@5 " + percent + "\n";
  EXPECT_THAT(outcome.out, ContainsRegex("(^|\n)Epoch: \\[0\\]\\[ 1" + rest +
                                         "Epoch: \\[0\\]\\[11" + rest + "measured_steps="));
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("images/sec")));
}

TEST(VisionProgram, TrainsOnMicroBatches) {
  const steps::Folder folder;
  const Outcome outcome = run_vision(
      "--model resnet18 --image-size 32 --batch-size 4 --micro-batches 2 --threads 1 --device cpu "
      "--steps 3 --warmup 0 --log-format torch --timings " +
      folder.file("t.csv"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("micro_batches"), "2");
  EXPECT_NEAR(outcome.number("images_per_second"), 12 / outcome.number("epoch_s"), 1e-3);
  EXPECT_THAT(outcome.out, HasSubstr("Epoch: [0][1/3]"));
  const std::string samples = steps::read_text(folder.file("t.csv"));
  EXPECT_THAT(samples, HasSubstr("\nForward,5,"));
  EXPECT_THAT(samples, HasSubstr("\nOptimizer,2,"));
}

TEST(VisionProgram, EvaluatesAfterTheTraining) {
  const Outcome outcome = run_vision(tiny + "--classes 4 --steps 1 --warmup 0 --eval-steps 3");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NEAR(outcome.number("evaluation_images_per_second"), 6 / outcome.number("evaluation_s"),
              1e-3);
  EXPECT_TRUE(std::isfinite(outcome.number("evaluation_loss")));
  EXPECT_GE(outcome.number("evaluation_top1_percent"), 0);
  EXPECT_EQ(outcome.number("evaluation_top5_percent"), 100);  // of four classes
  const Outcome without = run_vision(tiny + "--classes 4 --steps 1 --warmup 0");
  EXPECT_EQ(without.out.find("evaluation_"), std::string::npos);
  EXPECT_EQ(without.value("final_loss"), outcome.value("final_loss"));
}

TEST(VisionProgram, RepeatsItselfWithTheSameSeed) {
  const std::string arguments = tiny + "--steps 2 --warmup 1 --seed ";
  const Outcome first = run_vision(arguments + "11");
  const Outcome again = run_vision(arguments + "11");
  const Outcome other = run_vision(arguments + "12");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.value("final_loss"), again.value("final_loss"));
  EXPECT_NE(first.value("first_loss"), other.value("first_loss"));
}

TEST(VisionProgram, TrainsInBf16CloseToFp32) {
  const std::string arguments = tiny + "--steps 2 --warmup 0 --precision ";
  const Outcome bf16 = run_vision(arguments + "bf16");
  const Outcome fp32 = run_vision(arguments + "fp32");
  ASSERT_EQ(bf16.exit_code, 0) << bf16.err;
  EXPECT_EQ(bf16.value("precision"), "bf16");
  EXPECT_NE(bf16.value("first_loss"), fp32.value("first_loss"));
  EXPECT_NEAR(bf16.number("first_loss"), fp32.number("first_loss"), 0.5);
#if defined(__x86_64__)
  EXPECT_EQ(bf16.err.find("bf16 on a CPU without AVX-512") != std::string::npos,
            !__builtin_cpu_supports("avx512bw"));
#endif
  EXPECT_THAT(fp32.err, testing::Not(HasSubstr("bf16")));
}

TEST(VisionProgram, GivesTheSameLossWithChannelsLast) {
  // With one pixel left of each of two images, batch normalisation amplifies what kernels round.
  const std::string arguments =
      "--model resnet18 --image-size 64 --batch-size 4 --threads 1 --device cpu --steps 1 "
      "--warmup 0 --memory-format ";
  const Outcome last = run_vision(arguments + "channels_last");
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(last.value("memory_format"), "channels_last");
  EXPECT_NEAR(last.number("first_loss"), run_vision(arguments + "contiguous").number("first_loss"),
              1e-3);
}

TEST(VisionProgram, WritesEverySample) {
  const Folder folder;
  const Outcome outcome =
      run_vision(tiny + "--steps 2 --warmup 1 --timings " + folder.file("samples.csv"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string csv = steps::read_text(folder.file("samples.csv"));
  EXPECT_THAT(csv, testing::StartsWith("key,index,seconds\nEpoch,0,"));
  for (const char* key : {"Batch,1,", "Forward,1,", "Backward,1,", "Optimizer,1,", "IO,1,"})
    EXPECT_THAT(csv, HasSubstr(std::string("\n") + key));
  EXPECT_THAT(csv, testing::Not(HasSubstr("Batch,2,")));
}

TEST(VisionProgram, TellsTheMeterOfItsRegionsInTheOrderOfTime) {
  const Folder folder;
  const std::string file = folder.file("regions");
  std::ofstream(file).close();
  const Outcome outcome = run_vision(tiny + "--steps 2 --warmup 1 --eval-steps 1",
                                     "BENCH_ENERGY_REGIONS='" + file + "' ");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::string marks;
  std::istringstream lines(steps::read_text(file));
  long long last_ns = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find('@');
    const auto blank = line.find(' ');
    const long long time_ns = std::stoll(line.substr(at + 1, blank - at - 1));
    EXPECT_GE(time_ns, last_ns - 100000) << line;  // the warm-up ends a moment into the epoch
    last_ns = time_ns;
    marks += line.substr(0, at) + line.substr(blank) + "\n";
  }
  const std::string batch =
      "begin batch\nbegin io\nend io\nbegin forward\nend forward\nbegin backward\nend backward\n"
      "begin comm\nend comm\nbegin optimizer\nend optimizer\nend batch\n";
  EXPECT_EQ(marks, "begin warmup\nend warmup\nbegin epoch\n" + batch + batch +
                       "end epoch\nbegin evaluation\nend evaluation\n");
}

TEST(VisionProgram, SaysWhenItDiverges) {
  const Outcome outcome = run_vision(tiny + "--steps 3 --warmup 1 --base-learning-rate 1e30");
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "diverged");
  EXPECT_EQ(outcome.value("diverged_at_step"), "2");
  EXPECT_FALSE(outcome.value("images_per_second").empty());
}

TEST(VisionProgram, WritesItsResultsAlsoWhenItDiverges) {
  const steps::Folder folder;
  const Outcome outcome = steps::run_step(
      VISION_PROGRAM,
      "--model resnet18 --image-size 32 --batch-size 2 --classes 10 --threads 1 --device cpu "
      "--steps 3 --warmup 1 --base-learning-rate 1e30 --metrics " +
          folder.file("m.json"));
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  const std::string text = steps::read_text(folder.file("m.json"));
  EXPECT_THAT(
      text,
      HasSubstr("\n  \"trainable_parameters\": " + outcome.value("trainable_parameters") + ",\n"));
  EXPECT_THAT(text, HasSubstr("\n  \"images_per_second\": " + outcome.value("images_per_second")));
  EXPECT_THAT(text, HasSubstr("\n  \"final_loss\": null,\n"));
  EXPECT_THAT(text, testing::EndsWith("\n  \"result\": \"diverged\"\n}\n"));
}

TEST(VisionProgram, EndsWithTheStepWhoseLossIsLost) {
  const std::string lost = tiny + "--eval-steps 1 --base-learning-rate 1e30 ";
  for (const char* steps : {"--steps 100000 --warmup 1", "--steps 1 --warmup 100000"}) {
    const Outcome outcome = run_vision(lost + steps);
    EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_EQ(outcome.value("diverged_at_step"), "2") << steps;
    EXPECT_EQ(outcome.value("evaluation_s"), "") << steps;
  }
}

// Synthetic images count as those of ImageNet: a step of two is 1.6e-6 epochs.
TEST(VisionProgram, LearnsNothingAtTheBeginOfALongWarmUp) {
  const std::string lost = tiny + "--steps 3 --warmup 1 --learning-rate 1e30 ";
  EXPECT_EQ(run_vision(lost).value("result"), "diverged");
  const Outcome outcome = run_vision(lost + "--lr-warmup-epochs 1e30");
  EXPECT_EQ(outcome.value("result"), "ok") << outcome.err;
  EXPECT_EQ(outcome.value("learning_rate"), "1e+30");
  EXPECT_EQ(outcome.value("lr_warmup_epochs"), "1e+30");
}

TEST(VisionProgram, WarnsAboutTheReferenceBlas) {
  const std::string folder = "/usr/lib/x86_64-linux-gnu/blas";
  if (!std::filesystem::exists(folder + "/libblas.so.3"))
    GTEST_SKIP() << "no reference BLAS in " << folder;
  const Outcome outcome = run_vision(tiny + "--steps 1 --warmup 0",
                                     "env LD_LIBRARY_PATH=" + folder + ":$LD_LIBRARY_PATH");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("blas"), "reference");
  EXPECT_THAT(outcome.err, HasSubstr("warning: BLAS is reference (" + folder));
  EXPECT_THAT(outcome.err, HasSubstr("install OpenBLAS in its OpenMP flavour"));
}

/// With OpenBLAS, and on processors with AVX2.
class KernelsTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
      GTEST_SKIP() << "no AVX2";
#endif
    if (with_old_ones.value("blas_kernels") != "Prescott")
      GTEST_SKIP() << "the BLAS is " << with_old_ones.value("blas");
  }

  const std::string one_step = tiny + "--steps 1 --warmup 0";
  const Outcome with_old_ones = run_vision(one_step, "OPENBLAS_CORETYPE=Prescott ");
};

TEST_F(KernelsTest, OfAnOlderProcessorAreUsedWithAWarningThatNamesBetterOnes) {
  EXPECT_EQ(with_old_ones.exit_code, 0);
  EXPECT_THAT(with_old_ones.err, HasSubstr("takes this processor for Prescott"));
  EXPECT_THAT(with_old_ones.err, testing::ContainsRegex("OPENBLAS_CORETYPE=(SkylakeX|Haswell)"));
}

TEST_F(KernelsTest, OfThisProcessorAreUsedWithoutAWarning) {
  const Outcome outcome = run_vision(one_step, "OPENBLAS_CORETYPE=Haswell ");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("takes this processor for")));
  EXPECT_EQ(outcome.value("blas_kernels"), "Haswell");
}

TEST(VisionProgram, RefusesWrongArguments) {
  const Outcome outcome = run_vision("--stepz 3");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("not expected: --stepz 3\nhint: --steps may be meant"));
  EXPECT_EQ(outcome.out, "");
}

TEST(VisionProgram, ExplainsItsOptions) {
  const Outcome outcome = run_vision("--help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* option : {"--batch-size", "--precision", "--model", "--timings", "--describe"})
    EXPECT_THAT(outcome.out, HasSubstr(option));
}

TEST(VisionProgram, FailsWhereItsOutputIsLost) {
  // The words behind keep run_vision from redirecting the program's output again.
  const Outcome outcome = run_vision("--describe >/dev/full; exit $?; true");
  EXPECT_EQ(outcome.exit_code, 1);
}

}  // namespace
}  // namespace bench::vision
