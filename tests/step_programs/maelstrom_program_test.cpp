// The programs of MAELSTROM's applications.

#include "step_programs/program_runner.hpp"

#include <string>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

struct Application {
  std::string name;
  std::string program;
  std::string arguments;
  std::string trainable_parameters;
  std::string non_trainable_parameters;
};
void PrintTo(const Application& application, std::ostream* out) {
  *out << application.name;
}

class ApplicationTest : public testing::TestWithParam<Application> {
 protected:
  static Outcome run(const std::string& more) {
    return run_step(GetParam().program, GetParam().arguments + " --device cpu --threads 1 " + more);
  }
};

TEST_P(ApplicationTest, DescribesItsNetwork) {
  const Outcome outcome = run("--describe");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("trainable_parameters"), GetParam().trainable_parameters);
  EXPECT_EQ(outcome.value("non_trainable_parameters"), GetParam().non_trainable_parameters);
}

TEST_P(ApplicationTest, LearnsABatch) {
  const Outcome outcome =
      run("--synthetic device --steps 20 --warmup 0 --learning-rate 0.003 --batch-size 4");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_LT(outcome.number("final_loss"), 0.9 * outcome.number("first_loss"));
}

TEST_P(ApplicationTest, SeesOtherSamplesInEachStep) {
  const std::string two_steps = "--steps 2 --warmup 0 --batch-size 4 --learning-rate 0 ";
  const Outcome host = run(two_steps + "--synthetic host");
  ASSERT_EQ(host.exit_code, 0) << host.err;
  EXPECT_NE(host.value("final_loss"), host.value("first_loss"));
  EXPECT_EQ(host.value("first_loss"), run(two_steps + "--synthetic device").value("first_loss"));
}

TEST_P(ApplicationTest, StartsFromTheWeightsThatAnotherRunSaved) {
  const Folder folder;
  const std::string file = "'" + folder.file("weights.safetensors") + "'";
  const std::string training = "--synthetic device --warmup 0 --batch-size 4 ";
  const Outcome whole = run(training + "--steps 2");
  const Outcome saved = run(training + "--steps 1 --save-weights " + file);
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  const Outcome loaded = run(training + "--steps 1 --load-weights " + file);
  ASSERT_EQ(loaded.exit_code, 0) << loaded.err;
  EXPECT_EQ(loaded.value("first_loss"), whole.value("final_loss"));
}

TEST(BuildInfo, NamesLibrariesAndDevices) {
  const Outcome outcome = run_step(AP1_PROGRAM, "--build-info");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* name : {"torch_version", "compiler", "blas", "gloo", "nccl", "cpu", "gpus"})
    EXPECT_NE(outcome.value(name), "") << name;
  EXPECT_NE(outcome.out.find("PyTorch built with:"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ApplicationTest,
    testing::Values(Application{"Ap1", AP1_PROGRAM, "--patch 32", "1314019", "6016"},
                    Application{"Ap3Cnn", AP3_PROGRAM, "--model cnn", "261515", "0"},
                    Application{"Ap3Lstm", AP3_PROGRAM, "--model lstm", "124930", "0"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::steps
