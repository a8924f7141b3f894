#include "bench_program.hpp"
#include "support/eventually.hpp"

#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The second of three combinations fails; its child is never made.
constexpr const char* with_a_failure = R"(name: failing
outpath: runs
parameterset: {name: sweep, parameter: {n: [1, 2, 3]}}
step:
  - {name: compute, use: sweep, do: ['echo "value=$n"', 'echo "no luck with $n" >&2; test $n != 2']}
  - {name: after, depend: compute, do: echo fine}
patternset: {name: found, pattern: [{name: value, type: int, _: value=$jube_pat_int}, {name: never, _: 'never=(.*)'}]}
analyser: {name: output, use: found, analyse: {step: compute, file: stdout}}
result: {use: output, table: {name: t, style: pretty, sort: n, column: [n, value, never, jube_wp_status]}}
)";

TEST(FailureTest, AFailedWorkpackageIsReportedAndTheOthersGoOn) {
  const Playground here;
  const auto run = here.run("f.yaml", with_a_failure, {}, 1);
  EXPECT_EQ(run.standard_error,
            "workpackage 1 (compute) failed: command 2 of 2: exit code 1: no luck with 2\n");
  EXPECT_THAT(run.standard_output, AllOf(HasSubstr("| compute |   3 |    2 |      1 |"),
                                         HasSubstr("|   after |   2 |    2 |      0 |")));
  EXPECT_EQ(here.bench({"status", "runs"}).standard_output, "failed\n");
}

TEST(FailureTest, AFailedWorkpackageStaysInTheTableWithItsReason) {
  const Playground here;
  here.write("f.yaml", with_a_failure);
  here.bench({"run", "f.yaml"});
  EXPECT_EQ(here.bench({"result", "runs"}).standard_output,
            "t:\n"
            "| n | value | never | jube_wp_status |\n"
            "|---|-------|-------|----------------|\n"
            "| 1 |     1 |   n/a |           DONE |\n"
            "| 2 |     2 |   n/a |          ERROR |\n"
            "| 3 |     3 |   n/a |           DONE |\n"
            "n/a in never: no match in stdout\n"
            "n/a in never: 1 row, workpackage 1: command 2 of 2: exit code 1: no luck with 2\n\n");
}

TEST(FailureTest, AMistakeInTheInputIsShownAndMakesNothing) {
  const Playground here;
  here.write("typo.yaml",
             "name: typo\n"
             "outpath: runs\n"
             "parameterset: {name: sweep, parameter: {n: [1, 2]}}\n"
             "step: {name: s, use: swep, do: echo $n}\n");
  for (const char* command : {"check", "run"}) {
    const auto output = here.bench({command, "typo.yaml"});
    EXPECT_EQ(output.status.code, 1) << command;
    EXPECT_EQ(output.standard_error,
              "typo.yaml:4:22: error: unknown parameter, file or substitute set 'swep'\n"
              "  step: {name: s, use: swep, do: echo $n}\n"
              "                       ^\n"
              "hint: did you mean 'sweep'?\n")
        << command;
    EXPECT_EQ(output.standard_output, "") << command;
    EXPECT_FALSE(here.has("runs")) << command;
  }
}

TEST(FailureTest, StrictMindsWarningsOfTheAnalysisAfterTheTables) {
  const Playground here;
  here.run("w.yaml",
           "name: w\n"
           "outpath: runs\n"
           "step: {name: s, do: echo}\n"
           "patternset: {name: p, pattern: {name: bad, mode: python, _: 1 / 0}}\n"
           "analyser: {name: a, use: p, analyse: {step: s, file: stdout}}\n"
           "result: {use: a, table: {name: t, column: bad}}\n",
           {"-r"});
  const auto strict = here.bench({"continue", "runs", "-r", "--strict"});
  EXPECT_EQ(strict.status.code, 1);
  EXPECT_THAT(strict.standard_error, HasSubstr("warning: cannot evaluate derived pattern 'bad'"));
  EXPECT_THAT(strict.standard_output, HasSubstr("\nbad\n"));
}

TEST(FailureTest, AChildWithoutParametersFailsAndTheOthersGoOn) {
  const Playground here;
  here.write(
      "late.yaml",
      "name: late\n"
      "outpath: runs\n"
      "parameterset:\n"
      "  - {name: p, parameter: {name: n, _: '1,2,3,4,5'}}\n"
      // With `os`, its value may depend on what the parents leave.
      "  - {name: q, parameter: {name: m, mode: python, _: 1 // ($n - 2) + 0 * len(os.sep)}}\n"
      "step: [{name: a, use: p, do: echo}, {name: b, depend: a, use: q, do: echo $m}]\n");
  const auto run = here.bench({"run", "late.yaml"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_output, AllOf(HasSubstr("a |   5 |    5 |      0 |"),
                                         HasSubstr("b |   5 |    4 |      1 |")));
  EXPECT_THAT(run.standard_error,
              AllOf(HasSubstr("workpackage 6 (b) failed: late.yaml:5:53: error: parameter 'm': "
                              "ZeroDivisionError"),
                    HasSubstr("hint: evaluated expression: 1 // (2 - 2)")));
  EXPECT_EQ(here.read("runs/000000/000009_b/work/stdout"), "0\n");

  const auto alone = here.bench({"remove", "runs", "-w", "6", "-f"});
  EXPECT_EQ(alone.status.code, 1);
  EXPECT_THAT(alone.standard_error, HasSubstr("hint: remove its parent, workpackage 1,"));
  EXPECT_EQ(here.bench({"remove", "runs", "-w", "1", "-f"}).status.code, 0);
  EXPECT_THAT(here.bench({"continue", "runs"}).standard_output,
              HasSubstr("b |   5 |    4 |      1 |"));
}

TEST(FailureTest, ABenchmarkWithoutAResultSaysSo) {
  const Playground here;
  here.run("b.yaml", "name: b\noutpath: runs\nstep: {name: s, do: echo}\n");
  const auto result = here.bench({"result", "runs"});
  EXPECT_EQ(result.status.code, 0);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_EQ(result.standard_error,
            "note: the benchmark has no table, syslog or database; see `bench help result`; --tidy "
            "needs none\n");
}

TEST(FailureTest, AnInterruptedRunEndsItsCommandsAndCanBeContinued) {
  const Playground here;
  here.write("slow.yaml",
             "name: slow\noutpath: runs\n"
             "step: {name: s, do: 'touch ../../../started; test -e ../../../go || sleep 300'}\n");
  const UniqueFd said(::open((here.path() / "said").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ProcessSpec spec = here.spec({"run", "slow.yaml"});
  spec.stderr_fd = said.get();
  Process run(spec);
  ASSERT_TRUE(support::eventually([&] { return here.has("runs/started"); }));
  run.signal_group(SIGTERM);
  EXPECT_EQ(run.wait(), (ExitStatus{.signal = SIGTERM}));
  EXPECT_THAT(here.read("said"), HasSubstr("resume with `bench continue runs --id 0`"));
  here.write("runs/go", "");
  const auto again = here.bench({"continue", "runs"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_THAT(again.standard_output, HasSubstr("|    s |   1 |    1 |      0 |"));
}

}  // namespace
}  // namespace bench::end_to_end
