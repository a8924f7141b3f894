// The real program `vision` with several ranks that share a data set.

#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"
#include "steps_data/image_files.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>

namespace bench::steps {
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

TEST(VisionRanks, EndTogetherWhereTheLossIsLost) {
  const auto outcomes =
      run_ranks(2, VISION_PROGRAM,
                "--model resnet18 --image-size 32 --batch-size 2 --threads 1 --device cpu "
                "--steps 2 --warmup 2 --base-learning-rate 1e30");
  EXPECT_EQ(outcomes[0].exit_code, 4) << outcomes[0].err;
  EXPECT_EQ(outcomes[1].exit_code, 4) << outcomes[1].err;
  EXPECT_EQ(outcomes[0].value("diverged_at_step"), "2");
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
