// Checkpoints that gpt does not go on from, since another program or version saved them, or at
// another step.

#include "harness/saved_state.hpp"
#include "step_programs/program_runner.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;

/// What gpt says of a checkpoint of that program, in the folder of one step.
Outcome loaded(const std::optional<std::string>& program, double steps = 1) {
  const Folder folder;
  const std::string checkpoint = folder.file("iteration_00000001");
  std::filesystem::create_directory(checkpoint);
  SavedState state;
  state.set_number("steps", steps);
  if (program)
    state.set_text("program", *program);
  state.write(checkpoint + "/rank_00000.pt");
  std::ofstream(folder.file("latest")) << "iteration_00000001\n";
  return run_in_shell(
      GPT_PROGRAM,
      "--layers 1 --hidden 16 --heads 1 --seq 8 --vocab-size 16 --steps 1 --device cpu "
      "--threads 1 --load " +
          std::filesystem::path(checkpoint).parent_path().string());
}

TEST(Checkpoints, OfAnEarlierVersionAreRefused) {
  const Outcome outcome = loaded(std::nullopt);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("is of an earlier version of this program\nhint: start from the beginning, "
                        "or continue with the version that saved it\n"));
}

TEST(Checkpoints, OfAnotherProgramAreRefused) {
  const Outcome outcome = loaded("llama");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("is of the program llama, not gpt\n"));
}

TEST(Checkpoints, OfOtherStepsThanTheirFolderAreRefused) {
  const Outcome outcome = loaded("gpt", 2);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/rank_00000.pt is of iteration_00000002\n"));
}

}  // namespace
}  // namespace bench::steps
