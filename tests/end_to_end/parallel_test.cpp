#include "bench_program.hpp"

#include <string>

#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;

/// Fails where another one of its kind runs at the same time.
const std::string alone = "mkdir ../../../lock && sleep 0.02 && rmdir ../../../lock";

/// Ends once three of its kind run at the same time; gives up after a minute.
const std::string together =
    "touch ../../../here_$jube_wp_id; for k in $$(seq 6000); do "
    "test $$(ls -d ../../../here_* | wc -l) -ge 3 && exit 0; sleep 0.01; done; exit 1";

std::string three_points(const std::string& steps) {
  return "name: p\noutpath: runs\n"
         "parameterset: {name: p, parameter: {n: [1, 2, 3]}}\n"
         "step:\n" +
         steps;
}

std::string step(const std::string& name, const std::string& command) {
  return "  - {name: " + name + ", use: p, do: '" + command + "'}\n";
}

class ParallelTest : public testing::Test {
 protected:
  Playground here_;
};

TEST_F(ParallelTest, WorkpackagesRunOneAtATimeAcrossSteps) {
  here_.run("p.yaml", three_points(step("a", alone) + step("b", alone)));
}

TEST_F(ParallelTest, TheOptionIsTheNumberForAllSteps) {
  here_.run("p.yaml", three_points(step("a", together)), {"-j", "3"});
}

TEST_F(ParallelTest, TheOptionIsKeptForContinue) {
  here_.run("p.yaml", three_points(step("a", "test -e ../../../go || exit 1; " + together)),
            {"-j", "3"}, 1);
  here_.write("runs/go", "");
  EXPECT_EQ(here_.bench({"remove", "runs", "-w", "0", "1", "2", "--force"}).status.code, 0);
  const auto output = here_.bench({"continue", "runs"});
  EXPECT_EQ(output.status.code, 0) << output.standard_output << output.standard_error;
  EXPECT_THAT(here_.bench({"info", "runs", "-i", "last"}).standard_output,
              HasSubstr("parallel: 3\n"));
}

TEST_F(ParallelTest, ContinueTakesAnotherNumber) {
  here_.run("p.yaml", three_points(step("a", "test -e ../../../go || exit 1; " + together)), {}, 1);
  here_.write("runs/go", "");
  EXPECT_EQ(here_.bench({"remove", "runs", "-w", "0", "1", "2", "--force"}).status.code, 0);
  const auto output = here_.bench({"continue", "runs", "-j", "3"});
  EXPECT_EQ(output.status.code, 0) << output.standard_output << output.standard_error;
}

}  // namespace
}  // namespace bench::end_to_end
