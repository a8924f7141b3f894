#include "bench_program.hpp"
#include "support/patience.hpp"
#include "support/sanitizer.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
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
  std::string smaller = read_file(QUICKSTART_FILE);
  for (const auto& [text, replacement] : std::vector<std::pair<std::string, std::string>>{
           {"[2, 4, 8]", "[2, 4]"}, {"[1, 2, 4, 8]", "[1]"}, {"iterations: 3", "iterations: 2"}}) {
    ASSERT_THAT(smaller, HasSubstr(text));
    smaller = replace_all(std::move(smaller), text, replacement);
  }
  const auto run = here.run(
      "quickstart.yaml", smaller,
      {"--strict", "--outpath", "runs", "--result", "--power-source", "model:cpu=5W..65W"});
  EXPECT_THAT(run.standard_output, Not(HasSubstr("n/a")));
  EXPECT_THAT(run.standard_output, HasSubstr("energy[Wh] (estimated)"));
  const std::string table = run.standard_output.substr(run.standard_output.find("\ntraining:\n"));
  for (const std::string& line : split(table.substr(0, table.find("\n(estimated)")), "\n"))
    EXPECT_LE(line.size(), 100U) << line;
  const auto csv = here.bench({"result", "runs", "-s", "csv"});
  const auto lines = split_names(csv.standard_output, "\n");
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[1], testing::StartsWith("1,2,"));
  EXPECT_THAT(lines[2], testing::StartsWith("1,4,"));
  for (const std::string& line : lines)
    EXPECT_THAT(split(line, ","), AllOf(SizeIs(6), Not(testing::Contains("")))) << line;
  EXPECT_THAT(here.bench({"result", "runs", "--tidy", "-s", "csv", "--select", "parameters"})
                  .standard_output,
              HasSubstr("11689512"));
  EXPECT_THAT(here.read("runs/000000/000004_summary/work/summary.txt"),
              AllOf(HasSubstr("images_per_second="), HasSubstr("result=ok")));
}

/// scripts/quickstart in a tree of its own, in which nothing has to be installed or built: the real
/// bench, a meter that lists what a test wants, and a training that takes no time.
class QuickstartScriptTest : public testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    const fs::path source = fs::path(QUICKSTART_FILE).parent_path().parent_path();
    program("scripts/quickstart", read_file(source / "scripts/quickstart"));
    for (const char* name : {"scripts/install-dependencies", "scripts/build"})
      program(name, "#!/bin/sh\n");
    program("build/release/bench",
            "#!/bin/sh\necho \"$*\" >> calls\nexec " + shell_quote(BENCH_PROGRAM) + " \"$@\"\n");
    here_.write("examples/quickstart.yaml",
                "name: quickstart\noutpath: quickstart_run\n"
                "step: {name: train, batch: true, energy: true, do: sleep 1}\n"
                "analyser: {name: a, analyse: {step: train}}\n"
                "result: {use: a, table: {name: t, style: pretty, column: [energy_wh]}}\n");
    here_.write("build/release/build.ninja", "");
  }
  void program(const std::string& name, const std::string& text) const {
    here_.write(name, text);
    std::filesystem::permissions(here_.path() / name, std::filesystem::perms::owner_all);
  }
  void meter_lists(const std::string& list) const {
    program("build/release/bench-energy", "#!/bin/sh\necho '" + list + "'\n");
  }
  std::string quickstart(const std::vector<std::string>& options = {},
                         const Environment& variables = {}) const {
    ProcessSpec spec = here_.spec({}, variables);
    spec.arguments = {"bash", "scripts/quickstart"};
    spec.arguments.insert(spec.arguments.end(), options.begin(), options.end());
    const auto output = run_command(std::move(spec), support::far_too_long_s);
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    return output.standard_output;
  }
  Playground here_;
  std::string footer_ =
      "\nenergy is estimated: utilisation x 4 W per core; to measure it, run this "
      "where `bench-energy --list` shows a sensor\n";
};

TEST_F(QuickstartScriptTest, WithoutASensorEnergyIsEstimated) {
  meter_lists("no power source on this node");
  const std::string shown = quickstart();
  EXPECT_THAT(here_.read("calls"), HasSubstr("--result --power-source model:cpu="));
  EXPECT_THAT(shown, AllOf(HasSubstr("estimated"), testing::EndsWith(footer_),
                           Not(HasSubstr("energy_wh: no power source"))));
  // The second call shows the same run again.
  EXPECT_THAT(quickstart(), AllOf(HasSubstr("holds a finished run"), testing::EndsWith(footer_)));
}

TEST_F(QuickstartScriptTest, TheEstimateIsOfTheCoresThatTheProgramMayUse) {
  meter_lists("no power source on this node");
  // Two CPUs of each core, and half of them for this process.
  program("bin/lscpu",
          "#!/bin/sh\necho '# of a machine with 64 cores'\n"
          "for cpu in $(seq 0 127); do\n"
          "  [ \"$1\" = -p=cpu ] && echo $cpu || echo $((cpu % 64)),0\ndone\n");
  program("bin/nproc", "#!/bin/sh\necho ${OMP_NUM_THREADS:-64}\n");
  quickstart({}, {{"PATH", (here_.path() / "bin").string() + ":" + std::getenv("PATH")},
                  {"OMP_NUM_THREADS", "1"}});
  EXPECT_THAT(here_.read("calls"), HasSubstr("--power-source model:cpu=128W\n"));
}

TEST_F(QuickstartScriptTest, ARunThatIsShownAgainWasNotEstimatedBecauseThisOneWouldBe) {
  meter_lists("no power source on this node");
  quickstart({"--power-source", "mock:constant=100W"});
  EXPECT_THAT(quickstart(),
              AllOf(HasSubstr("holds a finished run"), Not(HasSubstr("energy is estimated"))));
}

TEST_F(QuickstartScriptTest, WithASensorOrAnotherSourceItIsNot) {
  meter_lists("channel     added  part of  what");
  EXPECT_THAT(quickstart(), Not(HasSubstr("energy is estimated")));
  meter_lists("no power source on this node");
  EXPECT_THAT(quickstart({"--power-source", "mock:constant=100W"}),
              Not(HasSubstr("energy is estimated")));
  EXPECT_THAT(here_.read("calls"), Not(HasSubstr("model:cpu=")));
}

}  // namespace
}  // namespace bench::end_to_end
