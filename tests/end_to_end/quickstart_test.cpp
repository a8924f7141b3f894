#include "bench_program.hpp"
#include "support/sanitizer.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// The example that a newcomer sees first, with the real training program, but fewer trainings.
TEST(QuickstartTest, TheExampleFillsEveryRowOfItsTable) {
  if (!std::filesystem::exists(std::filesystem::path(BENCH_PROGRAM).parent_path() / "steps/vision"))
    GTEST_SKIP() << "built without the step programs";
  if (support::hides_openmp)
    GTEST_SKIP() << "ThreadSanitizer does not see OpenMP's threads, which this needs";
  const Playground here;
  std::string smaller = replace_all(read_file(QUICKSTART_FILE), "[2, 4, 8]", "[2, 4]");
  smaller = replace_all(std::move(smaller), "iterations: 3", "iterations: 2");
  here.write("quickstart.yaml", smaller);
  const auto run = here.bench({"run", "quickstart.yaml", "--strict", "--outpath", "runs",
                               "--result", "--power-source", "model:cpu=5W..65W"});
  ASSERT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_output, Not(HasSubstr("n/a")));
  const auto csv = here.bench({"result", "runs", "-s", "csv"});
  const auto lines = split_names(csv.standard_output, "\n");
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_THAT(lines[1], HasSubstr("resnet18,2,bf16,"));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("resnet18,4,fp32,"), HasSubstr(",11689512,")));
  for (const std::string& line : lines)
    EXPECT_THAT(split(line, ","), AllOf(SizeIs(14), Not(testing::Contains("")))) << line;
  EXPECT_THAT(here.read("runs/000000/000008_summary/work/summary.txt"),
              AllOf(HasSubstr("images_per_second="), HasSubstr("result=ok")));
}

}  // namespace
}  // namespace bench::end_to_end
