// The loss of MAELSTROM's applications on samples that are not trained on.

#include "step_programs/ap3_columns.hpp"
#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

struct ValidationCase {
  std::string name;
  std::string program;
  std::string arguments;
};
void PrintTo(const ValidationCase& c, std::ostream* out) {
  *out << c.name;
}
class ApplicationValidationTest : public testing::TestWithParam<ValidationCase> {};

TEST_P(ApplicationValidationTest, DoesNotChangeTheTraining) {
  const std::string arguments =
      GetParam().arguments +
      " --device cpu --threads 1 --batch-size 2 --warmup 1 --steps 4 --learning-rate 0.003";
  const Outcome alone = run_step(GetParam().program, arguments);
  const Outcome evaluated =
      run_step(GetParam().program, arguments + " --eval-interval 2 --eval-samples 3");
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.value("final_loss"), alone.value("final_loss"));
  EXPECT_EQ(evaluated.value("evaluation_samples"), "3");
  const std::vector<double> found = evaluated.numbers("evaluation_loss");
  ASSERT_EQ(found.size(), 2U);
  for (const double loss : found)
    EXPECT_TRUE(std::isfinite(loss));
  EXPECT_NE(found[0], found[1]);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ApplicationValidationTest,
    testing::Values(
        ValidationCase{"Ap1", AP1_PROGRAM, "--patch 32"},
        ValidationCase{"Ap2", AP2_PROGRAM,
                       "--layers 1 --hidden 32 --heads 4 --vocab-size 100 --seq 12 --lr-warmup 0"},
        ValidationCase{"Ap3", AP3_PROGRAM, "--model cnn"},
        ValidationCase{"Ap4", AP4_PROGRAM, "--height 17 --width 16"},
        ValidationCase{"Ap5", AP5_PROGRAM, "--height 16 --width 16 --critic-updates 1"}),
    [](const auto& test) { return test.param.name; });

const std::string small_training =
    "--device cpu --threads 1 --batch-size 2 --patch 32 --warmup 0 --epochs 4 --samples-per-epoch "
    "4";

TEST(ApplicationValidation, ComesAfterSoManyEpochs) {
  const Outcome outcome = run_step(AP1_PROGRAM, small_training + " --eval-epochs 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.numbers("evaluation_loss"), testing::SizeIs(2));
}

TEST(ApplicationValidation, OfSamplesNeedsAnInterval) {
  const Outcome outcome = run_step(AP1_PROGRAM, small_training + " --eval-samples 2");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, testing::HasSubstr("hint: add --eval-interval or --eval-epochs"));
}

/// Twelve columns of the atmosphere.
class Ap3ValidationTest : public testing::Test {
 protected:
  Ap3ValidationTest() {
    const Outcome written = run_step(
        DATASET_PROGRAM, std::string("fields --samples 12 --output ") + set_ + ap3_columns);
    EXPECT_EQ(written.exit_code, 0) << written.err;
  }

  Folder folder_;
  std::string set_ = folder_.file("set");
  std::string arguments_ =
      "--device cpu --threads 1 --warmup 0 --steps 1 --learning-rate 0 --data-path " + set_;
};

TEST_F(Ap3ValidationTest, HasTheLossOfATrainingOnTheSameSamples) {
  const Outcome outcome =
      run_step(AP3_PROGRAM, arguments_ + " --batch-size 12 --eval-interval 1 --eval-path " + set_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("evaluation_dataset_samples"), "12");
  EXPECT_EQ(outcome.value("evaluation_samples"), "12");
  EXPECT_NEAR(outcome.number("evaluation_loss") / outcome.number("first_loss"), 1, 1e-5);
}

#ifdef BENCH_STEPS_GLOO
// Five samples, for two ranks with two at a time.
TEST_F(Ap3ValidationTest, IsSharedByRanks) {
  const std::string evaluation = " --eval-interval 1 --eval-samples 5 --eval-path " + set_;
  const Outcome alone = run_step(AP3_PROGRAM, arguments_ + " --batch-size 12" + evaluation);
  const auto ranks = run_ranks(2, AP3_PROGRAM, arguments_ + " --batch-size 2" + evaluation);
  ASSERT_EQ(ranks[0].exit_code, 0) << ranks[0].err;
  EXPECT_NEAR(ranks[0].number("evaluation_loss") / alone.number("evaluation_loss"), 1, 1e-5);
}
#endif

TEST_F(Ap3ValidationTest, NeedsSamples) {
  const Outcome none = run_step(AP3_PROGRAM, arguments_ + " --eval-interval 1");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, testing::HasSubstr("hint: name the files of the validation part with "
                                           "--eval-path"));
  const Outcome more = run_step(
      AP3_PROGRAM, arguments_ + " --eval-interval 1 --eval-samples 13 --eval-path " + set_);
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_THAT(more.err, testing::HasSubstr("has 12 samples, an evaluation has 13"));
}

}  // namespace
}  // namespace bench::steps
