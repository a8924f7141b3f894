#include "bench_program.hpp"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Of three workpackages of either step, those of odd n fail until the file `go` is there.
constexpr const char* failing = R"(name: f
outpath: runs
parameterset: {name: p, parameter: {n: [1, 2, 3]}}
step:
  - {name: a, use: p, do: ['echo a$n >> $jube_benchmark_home/witness', 'test $n = 2 -o -e $jube_benchmark_home/go']}
  - {name: b, use: p, do: ['echo b$n >> $jube_benchmark_home/witness', 'test $n = 2 -o -e $jube_benchmark_home/go']}
  - {name: c, depend: a, do: 'echo c$n >> $jube_benchmark_home/witness'}
)";

class FailedAgainTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto run = here_.run("f.yaml", failing, {"--hide-animation"}, 1);
    box_ = run.standard_output;
    here_.write("go", "");
    here_.write("witness", "");
  }

  std::vector<std::string> witness() const {
    std::vector<std::string> lines = split_names(here_.read("witness"), "\n");
    std::ranges::sort(lines);
    return lines;
  }

  Playground here_;
  std::string box_;
};

TEST_F(FailedAgainTest, ContinueMakesWhatFailedAgainAndNothingElse) {
  EXPECT_THAT(box_, HasSubstr(">>>>      why: bench why runs/000000 0\n"
                              ">>>>    again: bench continue runs --id 0 --failed\n"));
  EXPECT_EQ(here_.bench({"why", "runs/000000", "0"}).status.code, 0);
  const auto output = here_.bench({"continue", "runs", "--id", "0", "--failed"});
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_THAT(witness(), testing::ElementsAre("a1", "a3", "b1", "b3", "c1", "c3"));
  EXPECT_THAT(output.standard_error,
              HasSubstr("note: 4 workpackages of run 0 that failed are repeated\n"));
  EXPECT_THAT(output.standard_output, Not(HasSubstr("bench why")));
  here_.write("witness", "");
  EXPECT_EQ(here_.bench({"continue", "runs", "--failed"}).status.code, 0);
  EXPECT_THAT(witness(), testing::IsEmpty());
  const auto removed = here_.bench({"remove", "runs", "--failed", "--force"});
  EXPECT_EQ(removed.status.code, 0);
  EXPECT_THAT(removed.standard_error, HasSubstr("note: run 0 has no failed workpackages"));
}

TEST_F(FailedAgainTest, RemoveTakesTheFailedOnesOfAStep) {
  EXPECT_THAT(here_.text_of("remove", {"runs", "--failed", "-s", "bb", "--force"}, 1),
              HasSubstr("did you mean 'b'?"));
  const auto removed = here_.bench({"remove", "runs", "--failed", "-s", "b", "--force"});
  EXPECT_EQ(removed.status.code, 0) << removed.standard_error;
  EXPECT_THAT(removed.standard_output, HasSubstr("removed 2 workpackages of run 0"));
  EXPECT_EQ(here_.bench({"continue", "runs"}).status.code, 1) << "those of `a` failed";
  EXPECT_THAT(witness(), testing::ElementsAre("b1", "b3"));
}

}  // namespace
}  // namespace bench::end_to_end
