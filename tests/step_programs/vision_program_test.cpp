#include "data/tfrecord.hpp"
#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"
#include "steps_data/image_files.hpp"
#include "support/sanitizer.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::vision {

// The real program `vision`, as a job script calls it.

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
  EXPECT_THAT(outcome.out, HasSubstr("\ntotal images/sec: "));
}

TEST(VisionProgram, TrainsANetworkWithDropoutAndBranches) {
  const Outcome outcome = run_vision(
      "--model inception3 --image-size 75 --batch-size 2 --threads 1 --device cpu --steps 2 "
      "--warmup 0 --classes 10 --memory-format channels_last");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_EQ(outcome.value("memory_format"), "channels_last");
  EXPECT_TRUE(std::isfinite(outcome.number("final_loss")));
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
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("images/sec")));
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
  const std::string arguments = tiny + "--steps 2 --warmup 0 --seed ";
  const Outcome first = run_vision(arguments + "11");
  const Outcome again = run_vision(arguments + "11");
  const Outcome other = run_vision(arguments + "12");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.value("final_loss"), again.value("final_loss"));
  EXPECT_NE(first.value("first_loss"), other.value("first_loss"));
}

TEST(VisionProgram, TrainsInBf16CloseToFp32) {
  const std::string arguments = tiny + "--steps 1 --warmup 0 --precision ";
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

TEST(VisionProgram, WritesItsResultsAlsoWhenItDiverges) {
  const steps::Folder folder;
  const Outcome outcome = steps::run_step(
      VISION_PROGRAM,
      "--model resnet18 --image-size 32 --batch-size 2 --classes 10 --threads 1 --device cpu "
      "--steps 3 --warmup 1 --base-learning-rate 1e30 --metrics " +
          folder.file("m.json"));
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "diverged");
  EXPECT_EQ(outcome.value("diverged_at_step"), "2");
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

// With OpenBLAS, and on processors with AVX2.
TEST(VisionProgram, WarnsOfTheKernelsOfAnOlderProcessorAndNamesBetterOnes) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    GTEST_SKIP() << "no AVX2";
#endif
  const std::string one_step = tiny + "--steps 1 --warmup 0";
  const Outcome old_ones = run_vision(one_step, "OPENBLAS_CORETYPE=Prescott ");
  if (old_ones.value("blas_kernels") != "Prescott")
    GTEST_SKIP() << "the BLAS is " << old_ones.value("blas");
  EXPECT_EQ(old_ones.exit_code, 0);
  EXPECT_THAT(old_ones.err, HasSubstr("takes this processor for Prescott"));
  EXPECT_THAT(old_ones.err, testing::ContainsRegex("OPENBLAS_CORETYPE=(SkylakeX|Haswell)"));
  const Outcome own_ones = run_vision(one_step, "OPENBLAS_CORETYPE=Haswell ");
  EXPECT_EQ(own_ones.exit_code, 0);
  EXPECT_THAT(own_ones.err, testing::Not(HasSubstr("takes this processor for")));
  EXPECT_EQ(own_ones.value("blas_kernels"), "Haswell");
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

// The real program `vision` on images that lie on disk, and on those made on the host.

using steps::ImageFormat;
using steps::ImagePart;

/// @param before shell words in front of the program, for example a limit
Outcome train(const std::string& arguments, const std::string& before = "", int classes = 3) {
  return steps::run_step(VISION_PROGRAM,
                         "--model resnet18 --image-size 32 --batch-size 2 --threads 1 --device cpu "
                         "--warmup 0 --classes " +
                             std::to_string(classes) + " " + arguments,
                         before);
}

std::string all_losses(const Outcome& outcome) {
  return outcome.value("first_loss") + " " + outcome.value("final_loss") + " " +
         outcome.value("evaluation_loss");
}

TEST(VisionOnTheHost, DrawsNewImagesForEachStep) {
  const std::string arguments = "--synthetic host --steps 2 --eval-steps 1 --loader-threads ";
  const Outcome one = train(arguments + "1");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.value("dataset"), "synthetic_host");
  EXPECT_EQ(one.value("loader_threads"), "1");
  EXPECT_GT(one.number("loader_images_per_second_per_thread"), 0);
  EXPECT_EQ(all_losses(one), all_losses(train(arguments + "3 --prefetch 1")));
  const Outcome device = train("--steps 1");
  EXPECT_EQ(device.value("dataset"), "synthetic_device");
  EXPECT_EQ(device.value("loader_threads"), "");
}

#ifdef BENCH_STEPS_JPEG

std::uintmax_t bytes_below(const std::string& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "lock.mdb")
      bytes += entry.file_size();
  return bytes;
}

/// Overwrites what stands there.
void damage(const std::string& file, std::streamoff offset, const std::string& bytes) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(offset);
  stream << bytes;
}

class VisionDatasetTest : public testing::TestWithParam<ImageFormat> {};

TEST_P(VisionDatasetTest, TrainsAndEvaluatesAlikeInEveryFormat) {
  const Folder folder;
  steps::write_dataset(folder.file("set"), GetParam(), 12, 3);
  steps::write_dataset(folder.file("other"), ImageFormat::folder, 12, 3);
  const std::string arguments = "--steps 4 --eval-steps 3 --data-path " + folder.file("");
  const Outcome outcome = train(arguments + "set --loader-threads 3");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_EQ(outcome.value("dataset"), folder.file("set"));
  EXPECT_EQ(outcome.value("dataset_format"), steps::image_format_name(GetParam()));
  EXPECT_EQ(outcome.value("dataset_images"), "12");
  EXPECT_EQ(outcome.value("evaluation_dataset_images"), "6");
  EXPECT_EQ(outcome.value("first_label"), "0");
  EXPECT_NEAR(outcome.number("dataset_epochs"), 8 / 12.0, 1e-6);
  EXPECT_EQ(all_losses(outcome),
            all_losses(train(arguments + "other --loader-threads 1 --prefetch 1")));
}

INSTANTIATE_TEST_SUITE_P(Formats, VisionDatasetTest, testing::ValuesIn(steps::built_formats()),
                         [](const auto& instance) {
                           return steps::image_format_name(instance.param);
                         });

TEST(VisionDataset, IsTrainedOnForEpochs) {
  const Folder folder;
  steps::write_dataset(folder.file("set"), ImageFormat::folder, 3, 3);
  const Outcome outcome =
      train("--epochs 3 --eval-epochs 2 --eval-steps 1 --data-path " + folder.file("set"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("steps_per_epoch"), "2");
  EXPECT_EQ(outcome.value("measured_steps"), "6");
  EXPECT_EQ(outcome.value("epochs"), "3");
  EXPECT_EQ(outcome.numbers("evaluation_loss").size(), 1U);
}

TEST(VisionDataset, RefusesWhatCannotBeTrainedOn) {
  const Folder folder;
  std::filesystem::create_directories(folder.file("empty"));
  steps::write_part(folder.file("set/"), ImageFormat::folder, ImagePart::train,
                    steps::small_images(4, 4));
  struct Case {
    std::string arguments;
    std::string message;
  };
  const Case cases[] = {
      {"--data-path " + folder.file("empty"), "empty holds no images in a known order"},
      {"--data-format lmdb --data-path " + folder.file("set"), "no images in the order of lmdb"},
      {"--eval-steps 1 --data-path " + folder.file("set"), "set has no images to evaluate on"},
      {"--data-path " + folder.file("set"), "has 4 classes, of which 3 have a place\nhint: use "},
  };
  for (const Case& c : cases) {
    const Outcome outcome = train("--steps 1 " + c.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr(c.message)) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr("\nhint: ")) << c.arguments;
  }
}

TEST(VisionDataset, EndsAtADamagedRecordWithFileAndOffset) {
  const Folder folder;
  steps::write_part(folder.file(""), ImageFormat::tfrecord, ImagePart::train,
                    steps::small_images(4, 2));
  const std::string file = folder.file("train-00000-of-00001");
  const std::uint64_t second = steps::TfRecordFile(file).record_offsets()[1];
  damage(file, static_cast<std::streamoff>(second) + 100, "damage");
  const Outcome outcome = train("--steps 10 --data-path " + folder.file(""));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.value("result"), "failed");
  EXPECT_THAT(outcome.err, HasSubstr("vision: error: " + file + ": byte " + std::to_string(second) +
                                     ": record has a wrong checksum of its content\n"));
}

TEST(VisionStaging, CopiesOnceAndUsesTheCopyAgain) {
  const Folder folder;
  steps::write_dataset(folder.file("set"), ImageFormat::folder, 6, 3);
  const std::string arguments =
      "--steps 1 --data-path " + folder.file("set") + " --stage-to " + folder.file("disk");
  const Outcome first = train(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.value("staged_bytes"), std::to_string(bytes_below(folder.file("set"))));
  EXPECT_GT(first.number("staging_s"), 0);
  EXPECT_EQ(first.value("dataset"), folder.file("set"));
  const std::string copy = first.value("staged_folder");
  EXPECT_THAT(copy, testing::StartsWith(folder.file("disk/set-")));
  EXPECT_EQ(bytes_below(copy), bytes_below(folder.file("set")));
  const Outcome second = train(arguments);
  EXPECT_EQ(second.value("staged_folder"), copy);
  EXPECT_EQ(second.value("staged_bytes"), "0");
  EXPECT_EQ(all_losses(second), all_losses(first));
}

TEST(VisionStaging, IsReadInPlaceOfTheOriginal) {
  const Folder folder;
  steps::write_dataset(folder.file("set"), ImageFormat::folder, 6, 3);
  const std::string arguments =
      "--steps 3 --data-path " + folder.file("set") + " --stage-to " + folder.file("disk");
  const std::string copy = train(arguments).value("staged_folder");
  damage(copy + "/train/00001/00000002.jpg", 0, "damage");  // of the same length
  EXPECT_THAT(train(arguments).err, HasSubstr(copy + "/train/00001/00000002.jpg: "));
}

TEST(VisionStaging, LeavesNothingHalfWrittenBehind) {
  const Folder folder;
  std::filesystem::create_directories(folder.file("set"));
  steps::write_part(folder.file("set"), ImageFormat::tfrecord, ImagePart::train,
                    steps::small_images(100, 3));
  ASSERT_GT(bytes_below(folder.file("set")), 60'000U);
  const Outcome outcome =
      train("--steps 1 --data-path " + folder.file("set") + " --stage-to " + folder.file("disk"),
            "trap '' XFSZ; ulimit -f 100; ");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.value("result"), "failed");
  EXPECT_THAT(outcome.err, HasSubstr("error: cannot copy " + folder.file("set")));
  EXPECT_THAT(outcome.err, HasSubstr("File too large"));
  EXPECT_EQ(bytes_below(folder.file("disk")), 0U);
}

#endif

}  // namespace
}  // namespace bench::vision

namespace bench::steps {

// The real program `vision` with several ranks that share a data set.

namespace {

#if defined(BENCH_STEPS_JPEG) && defined(BENCH_STEPS_GLOO)

TEST(VisionRanks, SharesADataSetThatIsCopiedOnce) {
  const Folder folder;
  write_dataset(folder.file("set"), ImageFormat::tfrecord, 12, 3);
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("set")))
    bytes += entry.file_size();
  const auto outcomes =
      run_ranks(2, VISION_PROGRAM,
                "--model resnet18 --image-size 32 --batch-size 2 --threads 1 --device cpu "
                "--classes 3 --steps 2 --warmup 0 --eval-steps 1 --data-path " +
                    folder.file("set") + " --stage-to " + folder.file("disk"));
  ASSERT_EQ(outcomes[0].exit_code, 0) << outcomes[0].err;
  EXPECT_EQ(outcomes[1].exit_code, 0) << outcomes[1].err;
  EXPECT_EQ(outcomes[0].value("staged_bytes"), std::to_string(bytes));
  EXPECT_NEAR(outcomes[0].number("dataset_epochs"), 8 / 12.0, 1e-6);
}

TEST(VisionRanks, EndsWhereOneRankHasADamagedImage) {
  const Folder folder;
  write_part(folder.file("set/"), ImageFormat::folder, ImagePart::train, small_images(2, 1));
  std::ofstream(folder.file("set/train/00000/00000001.jpg")) << "no image";
  const auto outcomes =
      run_ranks(2, VISION_PROGRAM,
                "--model resnet18 --image-size 33 --batch-size 1 --threads 1 --device cpu "
                "--classes 1 --steps 2 --warmup 0 --data-path " +
                    folder.file("set"));
  EXPECT_EQ(outcomes[0].exit_code, 1);
  EXPECT_EQ(outcomes[1].exit_code, 1);
  EXPECT_THAT(outcomes[0].err + outcomes[1].err,
              testing::HasSubstr("set/train/00000/00000001.jpg: Not a JPEG file"));
}

#endif

#ifdef BENCH_STEPS_GLOO

// An evaluation averages them as well; each rank has collected its own.
TEST(VisionRanks, SaveTheMeanOfTheirRunningStatistics) {
  const Folder folder;
  const std::string training =
      "--model resnet18 --image-size 32 --batch-size 2 --threads 1 --device cpu --classes 3 "
      "--steps 1 --warmup 0 --save-weights ";
  const auto alone = run_ranks(2, VISION_PROGRAM, training + folder.file("alone"));
  ASSERT_EQ(alone[0].exit_code, 0) << alone[0].err;
  const auto evaluated =
      run_ranks(2, VISION_PROGRAM, training + folder.file("evaluated") + " --eval-steps 1");
  ASSERT_EQ(evaluated[0].exit_code, 0) << evaluated[0].err;
  EXPECT_EQ(read_text(folder.file("alone")), read_text(folder.file("evaluated")));
}

TEST(VisionRanks, EndWithTheStepWhoseLossIsLost) {
  const std::string lost =
      "--model resnet18 --image-size 32 --batch-size 2 --threads 1 --device cpu --eval-steps 1 "
      "--base-learning-rate 1e30 ";
  for (const char* steps : {"--steps 100000 --warmup 1", "--steps 1 --warmup 100000"}) {
    const auto outcomes = run_ranks(2, VISION_PROGRAM, lost + steps);
    EXPECT_EQ(outcomes[0].exit_code, 4) << outcomes[0].err;
    EXPECT_EQ(outcomes[1].exit_code, 4) << outcomes[1].err;
    EXPECT_EQ(outcomes[0].value("diverged_at_step"), "2") << steps;
    EXPECT_EQ(outcomes[0].value("evaluation_s"), "") << steps;
  }
}

#endif

}  // namespace
}  // namespace bench::steps
