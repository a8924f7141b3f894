// The real programs with several ranks on this machine.
#include "steps/program_runner.hpp"
#include "steps/rank_processes.hpp"
#include "steps_data/image_files.hpp"
#include "support/free_port.hpp"

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::chrono::seconds patience_with_training(120);

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// What each rank came to.
std::vector<Outcome> run_ranks(int size, const std::string& program, const std::string& arguments) {
  const Folder place;
  const support::FreePort port;
  std::vector<std::string> command{program};
  for (const std::string& word : words(arguments))
    command.push_back(word);
  std::vector<RankProcess> ranks;
  for (int rank = 0; rank < size; ++rank) {
    const std::string number = std::to_string(rank);
    ranks.emplace_back(
        command,
        std::vector<std::string>{"RANK=" + number, "WORLD_SIZE=" + std::to_string(size),
                                 "LOCAL_RANK=" + number, "MASTER_ADDR=127.0.0.1",
                                 "LOCAL_WORLD_SIZE=" + std::to_string(size),
                                 "MASTER_PORT=" + std::to_string(port.number())},
        place.file("out" + number), place.file("err" + number));
  }
  std::vector<Outcome> outcomes;
  for (int rank = 0; rank < size; ++rank) {
    const std::string number = std::to_string(rank);
    const int code = ranks[static_cast<std::size_t>(rank)].wait(patience_with_training);
    outcomes.push_back(
        {code, read_text(place.file("out" + number)), read_text(place.file("err" + number))});
  }
  return outcomes;
}

const std::string tiny_gpt =
    "--layers 2 --hidden 32 --heads 4 --seq 16 --vocab-size 128 --threads 1 --device cpu "
    "--hidden-dropout 0 --attention-dropout 0 --lr-warmup-samples 0 --lr 1e-2 --warmup 0 "
    "--steps 8 --log-interval 1 --micro-batch-size 1 --global-batch-size 4 ";

/// The losses of the log's lines.
std::vector<double> losses(const Outcome& outcome) {
  std::vector<double> found;
  const std::string key = "lm loss: ";
  for (auto at = outcome.out.find(key); at != std::string::npos; at = outcome.out.find(key, at + 1))
    found.push_back(std::stod(outcome.out.substr(at + key.size(), 12)));
  return found;
}

struct ParallelCase {
  std::string name;
  int ranks;
  std::string options;
};
class GptDataParallelTest : public testing::TestWithParam<ParallelCase> {};

TEST_P(GptDataParallelTest, LosesAsOneRankDoes) {
  const auto alone = losses(run_ranks(1, GPT_PROGRAM, tiny_gpt)[0]);
  const auto outcomes = run_ranks(GetParam().ranks, GPT_PROGRAM, tiny_gpt + GetParam().options);
  ASSERT_EQ(outcomes[0].exit_code, 0) << outcomes[0].err;
  EXPECT_EQ(outcomes[0].number("data_parallel"), GetParam().ranks);
  const auto together = losses(outcomes[0]);
  ASSERT_EQ(alone.size(), 8U);
  ASSERT_EQ(together.size(), 8U);
  for (std::size_t i = 0; i < alone.size(); ++i)
    EXPECT_NEAR(together[i], alone[i], 2e-5) << "iteration " << i;
}

INSTANTIATE_TEST_SUITE_P(Ranks, GptDataParallelTest,
                         testing::Values(ParallelCase{"TwoWithSharesOfTheOptimizer", 2, ""},
                                         ParallelCase{"FourWithSharesOfTheOptimizer", 4, ""},
                                         ParallelCase{"TwoWithTheWholeOptimizer", 2,
                                                      "--no-distributed-optimizer"}),
                         [](const auto& instance) { return instance.param.name; });

TEST(GptDataParallel, OnlyRank0Speaks) {
  const auto outcomes = run_ranks(2, GPT_PROGRAM, tiny_gpt);
  EXPECT_THAT(outcomes[0].out, HasSubstr("result=ok\n"));
  EXPECT_EQ(outcomes[1].exit_code, 0) << outcomes[1].err;
  EXPECT_THAT(outcomes[1].out, IsEmpty());
}

TEST(GptDataParallel, AGlobalBatchIsSharedOrRefused) {
  for (const Outcome& outcome :
       run_ranks(2, GPT_PROGRAM, "--micro-batch-size 2 --global-batch-size 6 --layers 1")) {
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("not made of micro-batches of 2 for 2 ranks"));
  }
}

TEST(GptDataParallel, AllRanksEndWhenTheTimeIsOver) {
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

#ifdef BENCH_STEPS_JPEG

TEST(VisionDataParallel, SharesADataSetThatIsCopiedOnce) {
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

TEST(VisionDataParallel, EndsWhereOneRankHasADamagedImage) {
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
              HasSubstr("set/train/00000/00000001.jpg: Not a JPEG file"));
}

#endif

}  // namespace
}  // namespace bench::steps
